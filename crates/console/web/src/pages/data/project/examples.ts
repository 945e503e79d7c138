// Examples of the data API in several languages.

import type { Schemas } from '#api/types';

type Table = Pick<Schemas['Table'], 'name' | 'columns'>;

export type Language = 'curl' | 'javascript' | 'supabase' | 'postgrest' | 'python';
export type Task = 'read' | 'filter' | 'insert' | 'update' | 'delete';

export const LANGUAGES: readonly { readonly id: Language; readonly label: string }[] = [
  { id: 'curl', label: 'curl' }, { id: 'javascript', label: 'JavaScript (fetch)' }, { id: 'supabase', label: 'supabase-js' }, { id: 'postgrest', label: 'postgrest-js' }, { id: 'python', label: 'Python' },
];
export const TASKS: readonly Task[] = ['read', 'filter', 'insert', 'update', 'delete'];

export interface Subject {
  /** Address of the data API, up to `/rest`. */
  readonly url: string;
  readonly table: Table;
}

type Value = string | number | boolean | object;

const SAMPLES: Readonly<Record<Schemas['ColumnType'], Value>> = { text: 'text', integer: 1, real: 1.5, boolean: true, timestamp: '2026-11-24T13:30:00Z', json: { any: 'json' } };
const MAX_COLUMNS = 4;

/** Returns a row to send: the first columns with sample values. */
function rowOf({ columns }: Table): Readonly<Record<string, Value>> {
  const own = columns.filter(({ system, nullable }) => !system && !nullable).concat(columns.filter(({ system, nullable }) => !system && nullable)).slice(0, MAX_COLUMNS);
  return Object.fromEntries(own.map(({ name, type }) => [name, SAMPLES[type]]));
}

/** A condition that suits the table: its first column that compares, or the time of creation. */
interface Condition {
  readonly column: string;
  readonly operator: 'eq' | 'gte' | 'is';
  readonly value: Value;
}

function conditionOf({ columns }: Table): Condition {
  const found = columns.find(({ system, type }) => !system && type !== 'json');
  if (!found) return { column: 'created_at', operator: 'gte', value: '2026-01-01' };
  if (found.type === 'boolean') return { column: found.name, operator: 'is', value: true };
  return { column: found.name, operator: found.type === 'text' ? 'eq' : 'gte', value: SAMPLES[found.type] };
}

function changeOf(table: Table): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(rowOf(table)).slice(0, 1));
}

export function exampleOf(language: Language, task: Task, subject: Subject): string {
  return WRITERS[language](task, subject);
}

const WRITERS: Readonly<Record<Language, (task: Task, subject: Subject) => string>> = { curl, javascript, supabase, postgrest, python };

/** Query strings of the tasks, as the data API reads them. */
function queryOf(task: Task, table: Table): string {
  const { column, operator, value } = conditionOf(table);
  switch (task) {
    case 'read': return '?order=created_at.desc&limit=20';
    case 'filter': return `?${column}=${operator}.${encodeURIComponent(String(value))}&select=id,${column}`;
    case 'insert': return '';
    case 'update':
    case 'delete': return '?id=eq.ROW_ID';
  }
}

const METHODS: Readonly<Record<Task, string>> = { read: 'GET', filter: 'GET', insert: 'POST', update: 'PATCH', delete: 'DELETE' };

function bodyOf(task: Task, table: Table): Readonly<Record<string, Value>> | null {
  return task === 'insert' ? rowOf(table) : task === 'update' ? changeOf(table) : null;
}

function curl(task: Task, { url, table }: Subject): string {
  const body = bodyOf(task, table);
  const lines = [`curl ${METHODS[task] === 'GET' ? '' : `-X ${METHODS[task]} `}'${url}/${table.name}${queryOf(task, table)}'`, '  -H "apikey: $QALA_KEY"'];
  if (body !== null) lines.push("  -H 'Content-Type: application/json'", `  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`);
  return lines.join(' \\\n');
}

function javascript(task: Task, { url, table }: Subject): string {
  const body = bodyOf(task, table);
  const options = [
    ...(METHODS[task] === 'GET' ? [] : [`  method: '${METHODS[task]}',`]),
    body === null ? '  headers: { apikey: KEY },' : "  headers: { apikey: KEY, 'Content-Type': 'application/json' },",
    ...(body === null ? [] : [`  body: JSON.stringify(${JSON.stringify(body)}),`]),
  ];
  return [
    `const response = await fetch('${url}/${table.name}${queryOf(task, table)}', {`, ...options, '});',
    'if (!response.ok) throw new Error((await response.json()).message);', 'const rows = await response.json();',
  ].join('\n');
}

/** The calls of supabase-js and postgrest-js, which are the same from `from` on. */
function chain(task: Task, table: Table): string {
  const { column, operator, value } = conditionOf(table);
  const literal = JSON.stringify;
  switch (task) {
    case 'read': return "  .select()\n  .order('created_at', { ascending: false })\n  .limit(20);";
    case 'filter': return `  .select('id, ${column}')\n  .${operator}('${column}', ${literal(value)});`;
    case 'insert': return `  .insert(${literal(rowOf(table))})\n  .select();`;
    case 'update': return `  .update(${literal(changeOf(table))})\n  .eq('id', 'ROW_ID')\n  .select();`;
    case 'delete': return "  .delete()\n  .eq('id', 'ROW_ID');";
  }
}

function supabase(task: Task, { url, table }: Subject): string {
  const client = task === 'read' ? `import { createClient } from '@supabase/supabase-js';\n\nconst client = createClient('${url.replace(/\/rest$/, '')}', KEY);\n` : '';
  return `${client}const { data, error } = await client\n  .from('${table.name}')\n${chain(task, table)}`;
}

function postgrest(task: Task, { url, table }: Subject): string {
  const client = task === 'read' ? `import { PostgrestClient } from '@supabase/postgrest-js';\n\nconst client = new PostgrestClient('${url}', { headers: { apikey: KEY } });\n` : '';
  return `${client}const { data, error } = await client\n  .from('${table.name}')\n${chain(task, table)}`;
}

function pythonValue(value: unknown): string {
  return JSON.stringify(value).replace(/\btrue\b/g, 'True').replace(/\bfalse\b/g, 'False').replace(/\bnull\b/g, 'None');
}

function python(task: Task, { url, table }: Subject): string {
  const body = bodyOf(task, table);
  const lines = ['import json, os, urllib.request', ''];
  if (body !== null) lines.push(`body = json.dumps(${pythonValue(body)}).encode()`);
  lines.push(
    'request = urllib.request.Request(', `    '${url}/${table.name}${queryOf(task, table)}',`, `    method='${METHODS[task]}',`,
    body === null ? "    headers={'apikey': os.environ['QALA_KEY']}," : "    headers={'apikey': os.environ['QALA_KEY'], 'Content-Type': 'application/json'},",
    ...(body === null ? [] : ['    data=body,']), ')', 'rows = json.load(urllib.request.urlopen(request))',
  );
  return lines.join('\n');
}
