// What the page says about each app, project and gate. The town, the street of phones and the tables all show these.

import type { Schemas } from '#api/types';
import type { AppHealth } from '#ui/app-state';
import type { KnownRun } from './runs';

type App = Schemas['App'];
export type RunSummary = Schemas['RunSummary'];

type AppState = Schemas['AppStatus'];

/** The automations of an app that one kind of trigger starts. */
export interface TriggerFact {
  readonly kind: Schemas['TriggerKind'];
  readonly names: readonly string[];
  /** Whether none of them is active. */
  readonly isOff: boolean;
}

export interface AppFact {
  readonly type: 'app';
  readonly id: string;
  readonly name: string;
  readonly archetype: string;
  readonly createdAt: string;
  readonly color: Schemas['Color'] | null;
  readonly state: AppState;
  /** What its state is said with. */
  readonly health: AppHealth;
  readonly running: number;
  readonly deadLetters: number;
  /** Questions of its runs that wait for somebody. */
  readonly questions: number;
  readonly lastRun: KnownRun | null;
  /** Whether every run of it that is kept was read, so that one without a last run has none. */
  readonly hasAllRuns: boolean;
  readonly triggers: readonly TriggerFact[];
  readonly gates: readonly GateFact[];
}

export interface ProjectFact {
  readonly type: 'project';
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly color: Schemas['Color'] | null;
  readonly tables: number;
  readonly requestsPerMin: number;
}

export interface GateFact {
  readonly id: string;
  readonly host: string;
  readonly isClosed: boolean;
  readonly refused: number;
  readonly apps: number;
}

export type Fact = AppFact | ProjectFact;

export interface CityFacts {
  readonly apps: readonly AppFact[];
  readonly projects: readonly ProjectFact[];
  readonly gates: readonly GateFact[];
}

export interface Sources {
  readonly apps: readonly App[];
  readonly automations: readonly Schemas['Automation'][];
  readonly projects: readonly Schemas['Project'][];
  readonly gates: readonly Schemas['Gate'][];
  readonly members: readonly Schemas['Member'][];
  readonly overview: Schemas['Overview'] | undefined;
  readonly runs: Iterable<KnownRun>;
  /** Whether `runs` has every run of the workspace that is kept. */
  readonly hasAllRuns: boolean;
}

/** Projects with at least this many tables are libraries, others are wells. */
export const LIBRARY_TABLES = 4;

const TRIGGER_ORDER: readonly Schemas['TriggerKind'][] = ['webhook', 'schedule', 'form', 'manual', 'event'];

/** Groups items by a key, in their order. */
export function groupBy<T>(items: Iterable<T>, key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const name = key(item);
    const group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, [item]);
  }
  return groups;
}

function triggersOf(automations: readonly Schemas['Automation'][]): TriggerFact[] {
  const byKind = groupBy(automations, ({ trigger }) => trigger.type);
  return TRIGGER_ORDER.flatMap((kind) => {
    const group = byKind.get(kind);
    return group ? [{ kind, names: group.map(({ name }) => name), isOff: group.every(({ status }) => status !== 'active') }] : [];
  });
}

/** Open dead letters of an app: as the overview counts them, else as its state does. */
function lettersOf({ statusReasons }: App, item: Schemas['OverviewApp'] | undefined): number {
  return item?.deadLetters ?? statusReasons.find(({ code }) => code === 'dead_letters')?.count ?? 0;
}

export function factsOf({ apps, automations, projects, gates, members, overview, runs, hasAllRuns }: Sources): CityFacts {
  const colors = new Map(members.map(({ user }) => [user.id, user.color]));
  const automationsOf = groupBy(automations, ({ appId }) => appId);
  const runsOf = groupBy(runs, ({ appId }) => appId);
  const items = new Map((overview?.items ?? []).map((item) => [item.id, item]));
  const gateFacts = [...gates].sort((a, b) => (a.id < b.id ? -1 : 1)).map((gate) => ({
    fact: { id: gate.id, host: gate.host, isClosed: gate.status === 'closed', refused: gate.blocked24h, apps: gate.appIds.length }, appIds: gate.appIds,
  }));
  return {
    gates: gateFacts.map(({ fact }) => fact),
    projects: projects.map(({ id, name, createdAt, createdBy, tableCount, requestsPerMin }) => ({ type: 'project', id, name, createdAt, color: colors.get(createdBy) ?? null, tables: tableCount, requestsPerMin })),
    apps: apps.map((app) => {
      const own = runsOf.get(app.id) ?? [];
      const item = items.get(app.id);
      const running = own.filter(({ status }) => status === 'running').length;
      // Both are computed; the overview is read more often.
      const health = { ...(item ?? app), running };
      return {
        type: 'app', id: app.id, name: app.name, archetype: app.archetype, createdAt: app.createdAt, color: colors.get(app.createdBy) ?? null,
        state: health.status, health, running, deadLetters: lettersOf(app, item), questions: health.waitingApprovals,
        lastRun: own.reduce<KnownRun | null>((latest, run) => (latest === null || run.at > latest.at ? run : latest), null), hasAllRuns,
        triggers: triggersOf(automationsOf.get(app.id) ?? []), gates: gateFacts.filter(({ appIds }) => appIds.includes(app.id)).map(({ fact }) => fact),
      };
    }),
  };
}

/** What hangs at a building: red for what failed, with the number of open dead letters; violet for questions; amber for a warning. */
export interface Lamp {
  readonly tone: 'bad' | 'warn' | 'ask';
  readonly text: string;
}

/** Higher counts have a plus. */
export const MAX_COUNT = 99;

export function lampOf({ state, deadLetters, questions }: Pick<AppFact, 'state' | 'deadLetters' | 'questions'>): Lamp | null {
  if (deadLetters > 0) return { tone: 'bad', text: deadLetters > MAX_COUNT ? `${MAX_COUNT}+` : String(deadLetters) };
  if (state === 'failing') return { tone: 'bad', text: '!' };
  if (questions > 0) return { tone: 'ask', text: `${Math.min(questions, MAX_COUNT)}?` };
  return state === 'warning' ? { tone: 'warn', text: '!' } : null;
}

const DAY = 86_400_000;

/** Numbers over a time that is known completely. */
export interface Totals {
  readonly over: 'day' | 'hour';
  readonly runs: number;
  /** Share of the runs that succeeded; null without runs. */
  readonly succeeded: number | null;
  /** Minutes of a person's work; null if not every run of the time was read. */
  readonly minutesSaved: number | null;
}

/** Sums up the last day if every run of it was read, else the last hour as the queue counted it. */
export function totalsOf(runs: { readonly items: readonly RunSummary[]; readonly nextCursor: string | null } | undefined, health: Schemas['QueueHealthView'] | undefined, now: number): Totals | null {
  const since = now - DAY;
  const oldest = runs?.items.at(-1);
  const isWhole = runs !== undefined && (runs.nextCursor === null || (oldest !== undefined && Date.parse(oldest.acceptedAt) < since));
  if (isWhole) {
    const ended = runs.items.filter(({ finishedAt, status }) => finishedAt !== null && Date.parse(finishedAt) >= since && ENDED.includes(status));
    const succeeded = ended.filter(({ status }) => status === 'succeeded').length;
    return { over: 'day', runs: ended.length, succeeded: share(succeeded, ended.length), minutesSaved: ended.reduce((sum, { minutesSaved }) => sum + minutesSaved, 0) };
  }
  if (!health) return null;
  const { succeeded, failed, blocked } = health.finishedLastHour;
  const all = succeeded + failed + blocked;
  return { over: 'hour', runs: all, succeeded: share(succeeded, all), minutesSaved: null };
}

const ENDED: readonly Schemas['RunStatus'][] = ['succeeded', 'failed', 'blocked'];

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
