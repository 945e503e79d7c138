// An edit of one row in its form, below which others may change the row.

import { isSame, parseCell, type Cell, type CellProblem, type Cells, type Column } from './cells';

/** What a person has put into the fields; a column that is missing is left out. */
export type Draft = Readonly<Record<string, Cell>>;

/** Returns the cells of a draft, and what is wrong with those that are no values. */
export function readDraft(columns: readonly Column[], draft: Draft): { readonly cells: Cells; readonly problems: Readonly<Record<string, CellProblem>> } {
  const cells: Record<string, Cell> = {};
  const problems: Record<string, CellProblem> = {};
  for (const column of columns) {
    const input = draft[column.name];
    if (input === undefined) continue;
    const parsed = parseCell(column, input);
    if ('problem' in parsed) problems[column.name] = parsed.problem;
    else cells[column.name] = parsed.cell;
  }
  return { cells, problems };
}

export interface RowEdit {
  /** The columns that the person has changed. All others show what is saved. */
  readonly draft: Draft;
  /** What each of these columns held when its edit began. */
  readonly base: Cells;
}

export const NO_EDIT: RowEdit = { draft: {}, base: {} };

interface Outcome {
  readonly edit: RowEdit;
  /** The cells to write: those that the person has changed. */
  readonly changes: Cells;
  readonly problems: Readonly<Record<string, CellProblem>>;
  /** Columns that both the person and somebody else have changed, each to another value. */
  readonly conflicts: readonly string[];
}

/** Reads an edit over the row as it is saved now. */
export function readEdit(columns: readonly Column[], { draft, base }: RowEdit, saved: Cells): Outcome {
  const { cells, problems } = readDraft(columns, draft);
  const isSameIn = ({ type }: Column, a: Cell | undefined, b: Cell | undefined) => isSame(type, a ?? null, b ?? null);
  const changed = columns.filter((column) => cells[column.name] !== undefined && !isSameIn(column, cells[column.name], base[column.name]));
  const changes: Cells = Object.fromEntries(changed.map(({ name }) => [name, cells[name] ?? null]));
  // What was put back to its old value is no change, and gives way to what somebody else has saved since.
  const kept = Object.keys(draft).filter((name) => name in changes || name in problems || base[name] === saved[name]);
  const of = (all: Cells): Cells => Object.fromEntries(kept.map((name) => [name, all[name] ?? null]));
  const conflicts = changed.filter((column) => !isSameIn(column, saved[column.name], base[column.name]) && !isSameIn(column, saved[column.name], cells[column.name]));
  return { edit: { draft: of(draft), base: of(base) }, changes, problems, conflicts: conflicts.map(({ name }) => name) };
}

/** Returns the edit with another draft. A column that was not in it began from what is saved now. */
export function withDraft({ draft, base }: RowEdit, next: Draft, saved: Cells): RowEdit {
  return { draft: next, base: Object.fromEntries(Object.keys(next).map((name) => [name, (name in draft ? base : saved)[name] ?? null])) };
}

/** Returns the edit without a change of the column, which shows what is saved again. */
export function withoutColumn({ draft, base }: RowEdit, column: string): RowEdit {
  const without = (all: Cells): Cells => Object.fromEntries(Object.entries(all).filter(([name]) => name !== column));
  return { draft: without(draft), base: without(base) };
}
