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

export class KnownRuns {
  private readonly byId = new Map<string, KnownRun>();

  /** Takes a run in. Returns whether it was not known. What is older than what is known changes nothing. */
  take(run: KnownRun): boolean {
    const known = this.byId.get(run.id);
    if (known && known.at >= run.at) return false;
    this.byId.set(run.id, run);
    const [oldest] = this.byId.keys();
    if (this.byId.size > MAX_KNOWN && oldest !== undefined) this.byId.delete(oldest);
    return !known;
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
