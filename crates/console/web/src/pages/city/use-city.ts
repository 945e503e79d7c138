// Everything that the page shows, in seven requests, and events after that.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useAll } from '#api/all';
import { useEvents, type WorkspaceEvent } from '#api/events';
import type { Problem } from '#api/problem';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { useOverview } from '#frame';
import { factsOf, totalsOf, type CityFacts, type Totals } from './facts';
import { KnownRuns, runOf, runOfEvent, type KnownRun } from './runs';

/** Events of runs are shown this often; the town of a busy workspace is not drawn for each of them. */
const REDRAW = 250;
/** A run that has ended stays lit this long, so that one sees it. */
const AFTERGLOW = 1_500;
/** What events and a read disagree about is read again after this long. */
const DOUBT = 3_000;
/** Runs are read again this long after an event, for the minutes that they saved. */
const REREAD = 20_000;

export type RunListener = (run: KnownRun) => void;

export interface City {
  readonly facts: CityFacts | null;
  readonly error: Problem | undefined;
  readonly retry: () => void;
  readonly totals: Totals | null;
  /** Numbers of the workspace; undefined until they are read. */
  readonly overview: Schemas['Overview'] | undefined;
  /** Apps whose windows are lit. */
  readonly lit: ReadonlySet<string>;
  /** Calls a listener with each run that begins. */
  readonly onRun: (listener: RunListener) => () => void;
  readonly apps: readonly Schemas['App'][];
  readonly automations: readonly Schemas['Automation'][];
  /** The latest runs. */
  readonly runs: Schemas['RunList'] | undefined;
}

interface LiveRuns {
  readonly known: KnownRuns;
  readonly endedAt: Map<string, number>;
  readonly listeners: Set<RunListener>;
}

const ENDED: readonly Schemas['RunStatus'][] = ['succeeded', 'failed', 'blocked'];

export function useCity(ws: string): City {
  const base = `/v1/workspaces/${ws}`;
  const apps = useAll<Schemas['App']>(`${base}/apps`, ['app', 'version', 'alert']);
  const automations = useAll<Schemas['Automation']>(`${base}/automations`, ['automation']);
  const projects = useAll<Schemas['Project']>(`${base}/backend/projects`, ['project']);
  const gates = useAll<Schemas['Gate']>(`${base}/gates`, ['gate', 'refusal', 'version']);
  const members = useResource('/v1/workspaces/{ws}/members', { path: { ws }, query: { limit: 200 } }, { on: ['member'] });
  const runs = useResource('/v1/workspaces/{ws}/runs', { path: { ws }, query: { limit: 200 } });
  // Events may be lost, and what runs for long is not among the latest two hundred of a busy workspace.
  const running = useResource('/v1/workspaces/{ws}/runs', { path: { ws }, query: { limit: 200, status: 'running' } }, { on: ['run'], every: 30_000 });
  const overview = useOverview(ws);
  // The queue counts the last hour of a workspace that is too busy to read the day.
  const isBusy = runs.data != null && runs.data.nextCursor !== null;
  const health = useResource('/v1/workspaces/{ws}/queue-health', isBusy ? { path: { ws } } : null, { on: ['health'] });

  const live = useMemo<LiveRuns>(() => ({ known: new KnownRuns(), endedAt: new Map(), listeners: new Set() }), [ws]);
  const drawn = useRedraw(live, { onEnded: () => { runs.refresh(); apps.refresh(); } });
  useMemo(() => {
    for (const run of [...(runs.data?.items ?? [])].reverse()) live.known.take(runOf(run));
  }, [live, runs.data]);
  const isInDoubt = useMemo(() => {
    const items = running.data?.items ?? [];
    for (const run of items) live.known.take(runOf(run));
    return live.known.settle(running.data?.nextCursor === null ? new Set(items.map(({ id }) => id)) : null);
  }, [live, running.data]);
  useEffect(() => {
    if (!isInDoubt) return undefined;
    const timer = setTimeout(() => running.refresh(), DOUBT);
    return () => clearTimeout(timer);
  }, [isInDoubt, running.data]);

  const facts = useMemo(() => {
    // Without the projects, apps would take their plots.
    if (!apps.items || !automations.items || !(projects.items ?? projects.error)) return null;
    return factsOf({
      apps: apps.items, automations: automations.items, projects: projects.items ?? [], gates: gates.items ?? [], members: members.data?.items ?? [],
      overview: overview.data, runs: live.known, hasAllRuns: runs.data?.nextCursor === null,
    });
  }, [apps.items, automations.items, projects.items, projects.error, gates.items, members.data, overview.data, runs.data, running.data, live, drawn]);
  const totals = useMemo(() => totalsOf(runs.data, health.data, Date.now()), [runs.data, health.data]);
  const lit = useMemo(() => {
    const now = Date.now();
    const glowing = [...live.endedAt].filter(([, at]) => now - at < AFTERGLOW).map(([id]) => id);
    return new Set([...glowing, ...(facts?.apps ?? []).filter((app) => app.running > 0).map(({ id }) => id)]);
  }, [facts, live, drawn]);
  const onRun = useMemo(() => (listener: RunListener) => {
    live.listeners.add(listener);
    return () => void live.listeners.delete(listener);
  }, [live]);

  return {
    facts, totals, lit, onRun, overview: overview.data, apps: apps.items ?? [], automations: automations.items ?? [], runs: runs.data,
    error: apps.items ? automations.error : apps.error,
    retry: () => { apps.refresh(); automations.refresh(); },
  };
}

/** Takes events of runs in, and returns a number that changes when the town is to be drawn again. */
function useRedraw(live: LiveRuns, { onEnded }: { onEnded: () => void }): number {
  const [drawn, setDrawn] = useState(0);
  const timers = useRef<{ draw: Timer | null; dim: Timer | null; reread: Timer | null }>({ draw: null, dim: null, reread: null });
  const latest = useRef(onEnded);
  latest.current = onEnded;
  const listener = useMemo(() => (event: WorkspaceEvent) => {
    const run = event.type === 'run' ? runOfEvent(event.data) : null;
    if (!run) return;
    if (live.known.take(run)) for (const listen of live.listeners) listen(run);
    const pending = timers.current;
    const draw = () => {
      pending.draw = null;
      setDrawn((count) => count + 1);
    };
    pending.draw ??= setTimeout(draw, REDRAW);
    if (!ENDED.includes(run.status)) return;
    live.endedAt.set(run.appId, Date.now());
    if (pending.dim !== null) clearTimeout(pending.dim);
    pending.dim = setTimeout(draw, AFTERGLOW + REDRAW);
    pending.reread ??= setTimeout(() => {
      pending.reread = null;
      latest.current();
    }, REREAD);
  }, [live]);
  useEvents(listener);
  useEffect(() => () => {
    for (const timer of Object.values(timers.current)) if (timer !== null) clearTimeout(timer);
  }, []);
  return drawn;
}

type Timer = ReturnType<typeof setTimeout>;
