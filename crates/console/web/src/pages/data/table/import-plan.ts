// What of a file goes into which column, and which of its rows do not fit.

import { parseCell, type Cell, type CellProblem, type Column } from '../grid/cells';
import { toDelimited } from '../grid/delimited';

export interface Sheet {
  readonly headers: readonly string[];
  readonly records: readonly (readonly Cell[])[];
}

/** Column of the table for each column of the file; `null` leaves it out. */
export type Mapping = readonly (string | null)[];

export interface RefusedRow {
  /** Number of the row in the file, without the header: from 1. */
  readonly row: number;
  readonly column: string;
  readonly text: string;
  readonly problem: CellProblem | 'width';
}

function plain(name: string): string {
  return name.trim().toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^_+|_+$/g, '');
}

/** Returns the columns that a file can fill. */
export function fillable<C extends Column>(columns: readonly C[]): C[] {
  return columns.filter(({ name, system }) => !system || name === 'id');
}

/** Maps columns of the same name, whatever its case, and no column twice. */
export function guessMapping(headers: readonly string[], columns: readonly Column[]): Mapping {
  const free = new Set(fillable(columns).map(({ name }) => name));
  return headers.map((header) => {
    const name = [header, plain(header)].find((one) => free.has(one));
    if (name === undefined) return null;
    free.delete(name);
    return name;
  });
}

/** Returns columns of the table that two columns of the file go into. */
export function mappedTwice(mapping: Mapping): string[] {
  const names = mapping.filter((name) => name !== null);
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

/** Returns columns that need a value and get none. */
export function unfilled(mapping: Mapping, columns: readonly (Column & { readonly default?: unknown })[]): string[] {
  return columns.filter(({ name, system, nullable, default: byDefault }) => !system && !nullable && byDefault === undefined && !mapping.includes(name)).map(({ name }) => name);
}

/** Returns why a row does not fit, or `null` if it does. */
export function checkRecord(record: readonly Cell[], index: number, width: number, mapping: Mapping, columns: ReadonlyMap<string, Column>): RefusedRow | null {
  if (record.length !== width) return { row: index + 1, column: '', text: String(record.length), problem: 'width' };
  for (const [position, name] of mapping.entries()) {
    const column = name === null ? undefined : columns.get(name);
    if (!column || column.name === 'id') continue;
    const parsed = parseCell(column, record[position] ?? null);
    if ('problem' in parsed) return { row: index + 1, column: column.name, text: record[position] ?? '', problem: parsed.problem };
  }
  return null;
}

/** Returns the rows that fit as CSV with the names of the table's columns. */
export function toCsv({ records }: Sheet, mapping: Mapping, columns: ReadonlyMap<string, Column>, left: ReadonlySet<number>): string {
  const positions = mapping.flatMap((name, position) => (name === null ? [] : [{ name, position }]));
  const rows = records.filter((_, index) => !left.has(index)).map((record) => positions.map(({ name, position }) => {
    const cell = record[position] ?? null;
    const column = columns.get(name);
    const parsed = column && name !== 'id' ? parseCell(column, cell) : { cell };
    return 'cell' in parsed ? parsed.cell : cell;
  }));
  return toDelimited([positions.map(({ name }) => name), ...rows], ',');
}
