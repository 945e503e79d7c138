// Names of tables and columns, by the rules of the server.

export type NameProblem = 'form' | 'reserved' | 'taken';

const NAME = /^[a-z][a-z0-9_]*$/;
const RESERVED_COLUMNS = [
  'select', 'order', 'limit', 'offset', 'columns', 'on_conflict', 'and', 'or', 'not', 'cursor', 'apikey', 'rowid', 'oid', 'tableoid', 'ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'id', 'created_at',
];

export function tableNameProblem(name: string, taken: readonly string[]): NameProblem | null {
  if (!NAME.test(name) || name.length > 48) return 'form';
  if (name === 'v1' || name === 'rpc' || name.startsWith('sqlite_') || name.startsWith('pg_')) return 'reserved';
  return taken.includes(name) ? 'taken' : null;
}

export function columnNameProblem(name: string, taken: readonly string[]): NameProblem | null {
  if (!NAME.test(name) || name.length > 63) return 'form';
  if (RESERVED_COLUMNS.includes(name)) return 'reserved';
  return taken.includes(name) ? 'taken' : null;
}
