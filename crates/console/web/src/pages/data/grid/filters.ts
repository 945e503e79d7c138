// Filters and the order of a table. The query of the address is that of the data API, so that either can be pasted into the other.

import type { Column, ColumnType } from './cells';

export const OPERATORS = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'contains', 'starts', 'imatch', 'in', 'null', 'notnull', 'true', 'false', 'cs'] as const;
export type Operator = (typeof OPERATORS)[number];

export interface Filter {
  readonly column: string;
  readonly operator: Operator;
  readonly value: string;
}

/** A condition as the address has it: one that the builder knows, or any other of the API's. */
export interface Condition {
  readonly name: string;
  readonly text: string;
  readonly filter: Filter | null;
}

export interface Order {
  readonly column: string;
  readonly isDescending: boolean;
}

const COMPARISONS: readonly Operator[] = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'in', 'null', 'notnull'];

/** Returns the operators that make sense for a type, the most usual one first. */
export function operatorsOf(type: ColumnType): readonly Operator[] {
  switch (type) {
    case 'text': return ['eq', 'contains', 'starts', 'neq', 'imatch', 'in', 'null', 'notnull'];
    case 'boolean': return ['true', 'false', 'null', 'notnull'];
    case 'json': return ['cs', 'null', 'notnull'];
    default: return COMPARISONS;
  }
}

export function needsValue(operator: Operator): boolean {
  return !['null', 'notnull', 'true', 'false'].includes(operator);
}

/** Writes the value of an `in` as the API reads it. */
function listOf(value: string): string {
  const items = value.split(',').map((item) => item.trim()).filter((item) => item !== '');
  return `(${items.map((item) => (/[(),"\\]/.test(item) ? `"${item.replace(/["\\]/g, '\\$&')}"` : item)).join(',')})`;
}

/** `*` and `%` stand for any text in a pattern; there they stand for themselves. */
function literalPattern(value: string): string {
  return value.replace(/[\\%_]/g, '\\$&');
}

/** Returns a filter as the API writes it: `gt.3`. */
export function filterText({ operator, value }: Filter): string {
  switch (operator) {
    case 'contains': return `ilike.*${literalPattern(value)}*`;
    case 'starts': return `ilike.${literalPattern(value)}*`;
    case 'in': return `in.${listOf(value)}`;
    case 'null': return 'is.null';
    case 'notnull': return 'not.is.null';
    case 'true': return 'is.true';
    case 'false': return 'is.false';
    default: return `${operator}.${value}`;
  }
}

const PATTERN = /^ilike\.(\*?)((?:[^*%_\\]|\\[%_\\])*)\*$/s;
const LIST = /^in\.\(((?:[^()",\\]+(?:,|(?=\))))*)\)$/s;
const PLAIN = /^(eq|neq|gt|gte|lt|lte|imatch|cs)\.(.*)$/s;
const FIXED: Readonly<Record<string, Operator>> = { 'is.null': 'null', 'not.is.null': 'notnull', 'is.true': 'true', 'is.false': 'false' };

/** Reads a filter, if it is one that the builder can show. */
export function parseFilter(column: string, text: string): Filter | null {
  const fixed = FIXED[text];
  if (fixed !== undefined) return { column, operator: fixed, value: '' };
  const pattern = PATTERN.exec(text);
  if (pattern) return { column, operator: pattern[1] === '*' ? 'contains' : 'starts', value: (pattern[2] ?? '').replace(/\\([%_\\])/g, '$1') };
  const list = LIST.exec(text);
  if (list) return { column, operator: 'in', value: (list[1] ?? '').split(',').join(', ') };
  const [, operator, value] = PLAIN.exec(text) ?? [];
  return operator === undefined ? null : { column, operator: operator as Operator, value: value ?? '' };
}

/** Parameters of the query that are no conditions. */
const OTHERS = ['order', 'select', 'limit', 'offset', 'cursor', 'columns', 'on_conflict'];

export function conditionsOf(query: URLSearchParams): Condition[] {
  return [...query].filter(([name]) => !OTHERS.includes(name)).map(([name, text]) => ({ name, text, filter: parseFilter(name, text) }));
}

/** Returns the first term of the order, which the headers show. */
export function orderOf(query: URLSearchParams): Order | null {
  const [column, ...rest] = (query.get('order')?.split(',')[0] ?? '').split('.');
  return column === undefined || column === '' ? null : { column, isDescending: rest.includes('desc') };
}

/** Returns the query with these conditions and this order. */
export function queryOf(conditions: readonly Pick<Condition, 'name' | 'text'>[], order: string | null): string {
  const query = new URLSearchParams();
  for (const { name, text } of conditions) query.append(name, text);
  if (order !== null && order !== '') query.set('order', order);
  return query.toString();
}

/** Returns the value with which a filter on this cell begins. */
export function filterOfCell({ name, type }: Pick<Column, 'name' | 'type'>, cell: string | null): Filter {
  if (cell === null) return { column: name, operator: 'null', value: '' };
  if (type === 'boolean') return { column: name, operator: cell === 'true' ? 'true' : 'false', value: '' };
  return { column: name, operator: type === 'json' ? 'cs' : 'eq', value: cell };
}
