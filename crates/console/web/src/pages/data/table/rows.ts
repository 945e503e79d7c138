// What is known of how many rows a table has.

import type { Schemas } from '#api/types';

/** Returns `false` only for a table that was counted and is empty: one that was not counted has to be treated as having rows. */
export function mayHaveRows({ rowCount }: Pick<Schemas['Table'], 'rowCount'>): boolean {
  return rowCount !== 0;
}
