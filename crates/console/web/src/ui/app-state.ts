// What is shown of an app's state: that it works only if it was seen to work within a week.

import type { Schemas } from '#api/types';

/** What a page knows of an app's state. */
export interface AppHealth extends Pick<Schemas['App'], 'status' | 'statusReasons' | 'observedAt' | 'waitingApprovals'> {
  /** Runs of it that go on, where the page follows them. */
  readonly running?: number;
}

const DAY = 86_400_000;
/** What worked longer ago than this says nothing of today. */
const FRESH = 7 * DAY;

/** `unseen` and `stale` are healthy ones of which nothing, or nothing recent, is known: runs may have failed meanwhile. */
export type ShownState = Schemas['AppStatus'] | 'running' | 'unseen' | 'stale';

/** Returns the state that is shown at a time. */
export function shownState({ status, observedAt, running = 0 }: Pick<AppHealth, 'status' | 'observedAt' | 'running'>, at: number): ShownState {
  if (running > 0 && (status === 'healthy' || status === 'draft')) return 'running';
  if (status !== 'healthy') return status;
  if (observedAt === null) return 'unseen';
  return at - Date.parse(observedAt) < FRESH ? 'healthy' : 'stale';
}

/** `unobserved` are healthy ones that were not seen to work within a week, as the overview counts them. */
export type KnownState = Schemas['AppStatus'] | 'unobserved';

/** Returns the state by which apps are filtered, whether or not they are executing a run. */
export function knownState({ status, observedAt }: Pick<AppHealth, 'status' | 'observedAt'>, at: number): KnownState {
  const shown = shownState({ status, observedAt }, at);
  return shown === 'unseen' || shown === 'stale' ? 'unobserved' : status;
}

/** Returns the whole days since an app was last seen to work. */
export function daysSince(observedAt: string, at: number): number {
  return Math.floor((at - Date.parse(observedAt)) / DAY);
}
