// The values of cells: as the API has them, as a person types them, and as they are sent.
//
// A cell is text or null, whatever the column's type. Integers and documents are read as text (`n::text`), since a number of 64 bits
// does not survive JavaScript's.

import type { Schemas } from '#api/types';
import { comparableJson } from '#ui/json-text';

export type ColumnType = Schemas['ColumnType'];
export type Column = Pick<Schemas['Column'], 'name' | 'type' | 'nullable' | 'system'>;
export type Cell = string | null;
export type Cells = Readonly<Record<string, Cell>>;

export interface Row {
  readonly id: string;
  readonly cells: Cells;
}

/** Why a text is no value of its column. */
export type CellProblem = 'integer' | 'real' | 'boolean' | 'timestamp' | 'json' | 'required';

const INTEGER = /^[+-]?\d{1,19}$/;
const REAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const TIMESTAMP = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?( ?(Z|[+-]\d\d:?\d\d))?)?$/i;
const MIN_INTEGER = -(2n ** 63n);
const MAX_INTEGER = 2n ** 63n - 1n;
const TRUE = ['true', 't', 'yes', '1'];
const FALSE = ['false', 'f', 'no', '0'];

/** Returns the `select` that reads the columns without loss. */
export function selectOf(columns: readonly Column[]): string {
  return columns.map(({ name, type }) => (type === 'integer' || type === 'json' ? `${name}::text` : name)).join(',');
}

/** Returns a row from a response to `selectOf`. */
export function rowOf(columns: readonly Column[], value: Readonly<Record<string, unknown>>): Row {
  const cells = columns.map(({ name }) => [name, cellOf(value[name])] as const);
  return { id: String(value['id']), cells: Object.fromEntries(cells) };
}

function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export type Parsed = { readonly cell: Cell } | { readonly problem: CellProblem };

/** Reads what somebody typed or pasted. Empty text is null, save in a column of text. */
export function parseCell({ type, nullable }: Pick<Column, 'type' | 'nullable'>, input: Cell): Parsed {
  const isNothing = input === null || (type !== 'text' && input.trim() === '');
  if (isNothing) return nullable ? { cell: null } : { problem: 'required' };
  const text = input.trim();
  switch (type) {
    case 'text': return { cell: input };
    case 'integer': return isInteger(text) ? { cell: BigInt(text.replace(/^\+/, '')).toString() } : { problem: 'integer' };
    case 'real': return REAL.test(text) && Number.isFinite(Number(text)) ? { cell: String(Number(text)) } : { problem: 'real' };
    case 'boolean': return parseBoolean(text);
    case 'timestamp': return parseTimestamp(text);
    case 'json': return isJson(text) ? { cell: text } : { problem: 'json' };
  }
}

function isInteger(text: string): boolean {
  if (!INTEGER.test(text)) return false;
  const value = BigInt(text.replace(/^\+/, ''));
  return value >= MIN_INTEGER && value <= MAX_INTEGER;
}

function parseBoolean(text: string): Parsed {
  const word = text.toLowerCase();
  if (TRUE.includes(word)) return { cell: 'true' };
  return FALSE.includes(word) ? { cell: 'false' } : { problem: 'boolean' };
}

/** A time without seconds or an offset is one in UTC; the API wants the seconds. */
function parseTimestamp(text: string): Parsed {
  if (!TIMESTAMP.test(text)) return { problem: 'timestamp' };
  const full = text.replace(' ', 'T').replace(/(T\d\d:\d\d)(?!:|\d)/, '$1:00').replace(/ (?=[Z+-])/i, '').replace(/([+-]\d\d)(\d\d)$/, '$1:$2');
  const date = new Date(full.includes('T') ? full : `${full}T00:00:00Z`);
  // 31 February would become a day of March.
  const isDay = new Date(`${full.slice(0, 10)}T00:00:00Z`).toISOString().slice(0, 10) === full.slice(0, 10);
  return Number.isNaN(date.getTime()) || !isDay ? { problem: 'timestamp' } : { cell: full };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns a cell in JSON, digits and documents as they are. */
function literalOf(type: ColumnType, cell: Cell): string {
  if (cell === null) return 'null';
  return type === 'text' || type === 'timestamp' ? JSON.stringify(cell) : cell;
}

/** Returns the body of a request that writes these cells. */
export function bodyOf(columns: readonly Column[], cells: Cells): string {
  const members = columns.flatMap(({ name, type }) => {
    const cell = cells[name];
    return cell === undefined ? [] : [`${JSON.stringify(name)}:${literalOf(type, cell)}`];
  });
  return `{${members.join(',')}}`;
}

/** Whether two cells of a column have the same value, however it is written. */
export function isSame(type: ColumnType, a: Cell, b: Cell): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  switch (type) {
    case 'real': return Number(a) === Number(b);
    case 'timestamp': return instantOf(a) === instantOf(b);
    case 'json': return canonical(a) === canonical(b);
    default: return false;
  }
}

/** Returns a time in microseconds, which a `Date` does not have. */
function instantOf(text: string): string {
  const [, fraction = ''] = /\.(\d+)/.exec(text) ?? [];
  const date = new Date(text.includes('T') ? (/(Z|[+-]\d\d:\d\d)$/i.test(text) ? text : `${text}Z`) : `${text}T00:00:00Z`);
  return `${Math.floor(date.getTime() / 1_000)}.${fraction.slice(0, 6).padEnd(6, '0')}`;
}

function canonical(text: string): string {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member)]));
  };
  try {
    return JSON.stringify(sorted(comparableJson(text)));
  } catch {
    return text;
  }
}
