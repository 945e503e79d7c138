// What of a file goes into which column, and which of its rows do not fit.

import { parseCell, type Cell, type CellProblem, type Column } from '../grid/cells';
import { countLineBreaks, toDelimited } from '../grid/delimited';

export interface Sheet {
  readonly headers: readonly string[];
  readonly records: readonly (readonly Cell[])[];
  /** Line of the file on which each record begins. */
  readonly lines: readonly number[];
  /** Lines that were left out because nothing is on them. */
  readonly blankLines: number;
  /** Columns that were left out because they have neither a name nor a value. */
  readonly blankColumns: number;
}

/** A record of a file, and where it begins. */
export interface Placed {
  readonly cells: readonly Cell[];
  readonly line: number;
}

/** Makes a sheet of the records of a file. Columns without a name and a value, as spreadsheets leave them, are left out. */
export function sheetOf([head, ...rows]: readonly Placed[], blankLines: number): Sheet | null {
  if (!head) return null;
  const names = head.cells.map((cell) => cell?.trim() ?? '');
  const isUsed = names.map((name, index) => name !== '' || rows.some(({ cells }) => cells[index] != null));
  const width = isUsed.findLastIndex((used) => used) + 1;
  const within = (cells: readonly Cell[]) => {
    // Delimiters after the last column are no cells.
    const end = Math.max(width, cells.findLastIndex((cell) => cell !== null) + 1);
    return (cells.length > end ? cells.slice(0, end) : cells).filter((_, index) => isUsed[index] ?? true);
  };
  return {
    headers: head.cells.filter((_, index) => isUsed[index]).map((header) => header ?? ''),
    records: rows.map(({ cells }) => within(cells)), lines: rows.map(({ line }) => line), blankLines,
    blankColumns: isUsed.filter((used) => !used).length,
  };
}

/** Most rows of an import. */
export const MAX_ROWS = 250_000;
const SAMPLES = 3;

/** Returns the first values of a column; those with letters beyond ASCII, if there are any, where only these show whether the text reads right. */
export function samplesOf(records: Sheet['records'], index: number, isGuessed: boolean): readonly Cell[] {
  const telling: Cell[] = [];
  for (const record of isGuessed ? records : []) {
    const cell = record[index] ?? null;
    if (cell !== null && /[\u0080-\uffff]/.test(cell)) telling.push(cell);
    if (telling.length === SAMPLES) break;
  }
  return telling.length > 0 ? telling : records.slice(0, SAMPLES).map((record) => record[index] ?? null);
}

/** Column of the table for each column of the file; `null` leaves it out. */
export type Mapping = readonly (string | null)[];

export interface RefusedRow {
  /** Index of the row among the records. */
  readonly index: number;
  /** Line of the file on which it begins. */
  readonly line: number;
  readonly column: string;
  readonly text: string;
  readonly problem: CellProblem | 'width';
}

/** Returns a name as the server takes it: lower case, and underscores for the rest. */
export function plainName(name: string): string {
  return name.trim().toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^_+|_+$/g, '');
}

/** Returns the columns that a file can fill. */
export function fillable<C extends Column>(columns: readonly C[]): C[] {
  return columns.filter(({ name, system }) => !system || name === 'id');
}

/** Returns the letters and digits of a name: `E-mail` and `email` are one. */
function letters(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** Maps columns of the same name, whatever its case and signs, and no column twice. */
export function guessMapping(headers: readonly string[], columns: readonly Column[]): Mapping {
  const free = new Set(fillable(columns).map(({ name }) => name));
  // A name that is the same to the letter is no other column's.
  const exact = new Set(headers.filter((header) => free.has(header)));
  return headers.map((header) => {
    const name = [header, plainName(header)].find((one) => free.has(one)) ?? [...free].find((one) => !exact.has(one) && letters(one) === letters(header) && letters(header) !== '');
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
export function checkRecord({ headers, records, lines }: Sheet, index: number, mapping: Mapping, columns: ReadonlyMap<string, Column>): RefusedRow | null {
  const record = records[index] ?? [];
  const place = { index, line: lines[index] ?? 0 };
  if (record.length !== headers.length) return { ...place, column: '', text: String(record.length), problem: 'width' };
  for (const [position, name] of mapping.entries()) {
    const column = name === null ? undefined : columns.get(name);
    if (!column || column.name === 'id') continue;
    const parsed = parseCell(column, record[position] ?? null);
    if ('problem' in parsed) return { ...place, column: column.name, text: record[position] ?? '', problem: parsed.problem };
  }
  return null;
}

/** Returns the rows that do not fit. */
export function checkRecords(sheet: Sheet, mapping: Mapping, columns: ReadonlyMap<string, Column>): readonly RefusedRow[] {
  return sheet.records.flatMap((_, index) => checkRecord(sheet, index, mapping, columns) ?? []);
}

/**
 * Returns the rows that fit as CSV with the names of the table's columns.
 *
 * Each row begins on the line on which it begins in the file: empty lines stand for what is left out, and the server skips those. So
 * the line that the server names in a refusal is one of the person's file, and nobody has to find a number in its sentence.
 */
export function toCsv({ records, lines }: Sheet, mapping: Mapping, columns: ReadonlyMap<string, Column>, left: ReadonlySet<number>): string {
  const positions = mapping.flatMap((name, position) => (name === null ? [] : [{ name, position }]));
  const parts = [rowText(positions.map(({ name }) => name))];
  /** Line on which the next part begins. */
  let next = 2;
  for (const [index, record] of records.entries()) {
    if (left.has(index)) continue;
    const text = rowText(positions.map(({ name, position }) => {
      const cell = record[position] ?? null;
      const column = columns.get(name);
      const parsed = column && name !== 'id' ? parseCell(column, cell) : { cell };
      return 'cell' in parsed ? parsed.cell : cell;
    }));
    // A row has no more lines here than in the file, so there is always room for the next one.
    const gap = Math.max(0, (lines[index] ?? 0) - next);
    parts.push('\n'.repeat(gap) + text);
    next += gap + 1 + countLineBreaks(text);
  }
  return parts.join('\n');
}

/** Returns a row as CSV. Of nothing but nulls one is named: the server skips a line of delimiters only. */
function rowText(cells: readonly Cell[]): string {
  const text = toDelimited([cells], ',');
  return cells.every((cell) => cell === null) ? `NULL${text}` : text;
}
