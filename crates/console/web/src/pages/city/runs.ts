// The latest state of runs: what was read, brought up to date by events.

import type { Schemas } from '#api/types';

export interface KnownRun {
  readonly id: string;
  readonly appId: string;
  readonly status: Schemas['RunStatus'];
  readonly trigger: Schemas['TriggerKind'];
  /** Time since which it has this status. */
  readonly at: string;
}

/** Runs that are kept; the ones that were heard of first go first. */
const MAX_KNOWN = 1_000;
/** A run is not said to go on for longer than this without an event or a read that says so. */
const MAX_UNHEARD = 60_000;
/** An event may be this much ahead of a read. */
const AHEAD = 2_000;

export class KnownRuns {
  private readonly byId = new Map<string, KnownRun>();
  /** When each run that goes on was heard of last. */
  private readonly heard = new Map<string, number>();

  /** Takes a run in. Returns whether it was not known. What is older than what is known changes nothing. */
  take(run: KnownRun, now = Date.now()): boolean {
    const known = this.byId.get(run.id);
    if (known && known.at > run.at) return false;
    if (run.status === 'running') this.heard.set(run.id, now);
    else this.heard.delete(run.id);
    if (known && known.at === run.at && known.status === run.status) return false;
    this.byId.set(run.id, run);
    const [oldest] = this.byId.keys();
    if (this.byId.size > MAX_KNOWN && oldest !== undefined) this.forget(oldest);
    return !known;
  }

  /**
   * Forgets runs that are said to go on and do not: those that a whole list of the running ones, read just now, does not have, and
   * those of which nothing was heard for a minute. Returns whether one is in doubt, so that it has to be read again.
   */
  settle(running: ReadonlySet<string> | null, now = Date.now()): boolean {
    let isInDoubt = false;
    for (const [id, at] of [...this.heard]) {
      const isMissing = running !== null && !running.has(id);
      if (now - at > MAX_UNHEARD || (isMissing && now - at > AHEAD)) this.forget(id);
      else if (isMissing) isInDoubt = true;
    }
    return isInDoubt;
  }

  private forget(id: string): void {
    this.byId.delete(id);
    this.heard.delete(id);
  }

  [Symbol.iterator](): Iterator<KnownRun> {
    return this.byId.values();
  }
}

/** Returns what a run of a list says. */
export function runOf({ id, appId, status, trigger, startedAt, finishedAt }: Schemas['RunSummary']): KnownRun {
  return { id, appId, status, trigger, at: finishedAt ?? startedAt };
}

/** Returns what a `run` event says, or `null` if a member is missing. */
export function runOfEvent(data: Readonly<Record<string, unknown>>): KnownRun | null {
  const { runId, appId, status, trigger, at } = data as Readonly<Record<string, string | undefined>>;
  if (!runId || !appId || !status || !at) return null;
  return { id: runId, appId, at, status: status as KnownRun['status'], trigger: (trigger ?? 'manual') as KnownRun['trigger'] };
}
