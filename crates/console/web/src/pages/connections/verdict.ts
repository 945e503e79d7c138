// What is known of whether a connection works, from its last test and its calls.

import type { Schemas } from '#api/types';

type Check = Schemas['ConnectionCheck'];
type Known = Pick<Schemas['Connection'], 'lastCheck' | 'health' | 'updatedAt'>;

/** A successful test that is older than this says nothing of today. */
const FRESH = 7 * 86_400_000;

export type Verdict =
  /** Nothing was asked since the connection was last changed. */
  | { readonly kind: 'untried' }
  /** `worked` is a success of which nothing is known since, too long ago to speak of today. */
  | { readonly kind: 'works' | 'worked' | 'failed' | 'unreached'; readonly check: Check }
  /** Calls of the last 24 hours, the last of them after the last test. */
  | { readonly kind: 'calls'; readonly failed: number; readonly all: number };

/**
 * Judges by the newer of the last test and the last call. Only a test says that something succeeded: a call that its code aborted
 * counts as sent and not as failed, so that calls without failures may all be of that kind.
 */
export function verdictOf({ lastCheck, health, updatedAt }: Known, now: number): Verdict {
  // A secret of the right form has not been tried.
  const check = lastCheck?.checked === 'format' && lastCheck.ok === true ? null : lastCheck;
  const { calls24h, errors24h, lastCallAt } = health;
  // Calls before a change were of what the connection was then, as tests are.
  const calledAt = lastCallAt === null || calls24h === 0 || Date.parse(lastCallAt) < Date.parse(updatedAt) ? null : Date.parse(lastCallAt);
  const succeededLately = check?.ok === true && now - Date.parse(check.at) < FRESH;
  if (calledAt !== null && (check === null || calledAt > Date.parse(check.at))) {
    if (check !== null && succeededLately && errors24h === 0) return { kind: 'works', check };
    return { kind: 'calls', failed: errors24h, all: calls24h };
  }
  if (check === null) return { kind: 'untried' };
  if (check.ok !== true) return { kind: check.ok === null ? 'unreached' : 'failed', check };
  return { kind: succeededLately ? 'works' : 'worked', check };
}
