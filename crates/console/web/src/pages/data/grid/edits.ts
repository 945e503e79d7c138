// Cells that were changed here and are not written yet, by row and column.

import type { Problem } from '#api/problem';
import type { Cell } from './cells';

export interface Edit {
  /** What the person saw when they began. */
  readonly base: Cell;
  readonly mine: Cell;
  readonly state: 'saving' | 'refused' | 'conflict';
  readonly problem?: Problem;
  /** What somebody else wrote meanwhile. */
  readonly theirs?: Cell;
}

export type RowEdits = ReadonlyMap<string, Edit>;
export type Edits = ReadonlyMap<string, RowEdits>;

/** Returns the edits with one of them set, or taken away. Rows that it is not about keep their maps. */
export function withEdit(edits: Edits, row: string, column: string, edit: Edit | null): Edits {
  const ofRow = new Map(edits.get(row));
  if (edit === null) ofRow.delete(column);
  else ofRow.set(column, edit);
  const next = new Map(edits);
  if (ofRow.size === 0) next.delete(row);
  else next.set(row, ofRow);
  return next;
}

/** Returns how many cells are in each state. */
export function countEdits(edits: Edits): Readonly<Record<Edit['state'], number>> {
  const counts = { saving: 0, refused: 0, conflict: 0 };
  for (const ofRow of edits.values()) for (const { state } of ofRow.values()) counts[state] += 1;
  return counts;
}
