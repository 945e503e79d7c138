// What is known of how many rows a table or a project has.

import type { Schemas } from '#api/types';

const MINUTE = 60_000;

/** Returns the time of a count if it is so old that it has to be said with it, else `null`. */
export function oldCountAt(rowCountAt: string | null, now: number): string | null {
  return rowCountAt !== null && now - Date.parse(rowCountAt) > MINUTE ? rowCountAt : null;
}

/** Returns `false` only for a table that was counted and is empty: one that was not counted has to be treated as having rows. */
export function mayHaveRows({ rowCount }: Pick<Schemas['Table'], 'rowCount'>): boolean {
  return rowCount !== 0;
}
