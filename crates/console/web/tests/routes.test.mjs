// Every operation that a session may call is used by the console, or is listed here with the reason why not.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';

const ROOT = new URL('../', import.meta.url);
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Operations that are used with a URL which is put together, and the piece of source that does. */
const BUILT = {
  delete_project_row: ['pages/data/grid/table-rows.ts', "method: 'DELETE', url: this.rowUrl(id)"],
  export_project_rows: ['pages/data/grid/export.ts', '/export?format='],
  follow_events: ['api/events.ts', 'new EventSource(`/v1/workspaces/${this.workspace}/events'],
  follow_log_lines: ['pages/apps/logs/stream.ts', '/logs/stream`'],
  import_project_rows: ['pages/data/table/import.tsx', '/import`'],
  insert_project_rows: ['pages/data/grid/table-rows.ts', "method: 'POST', url: this.url"],
  list_project_rows: ['pages/data/grid/table-rows.ts', '/tables/${table}/rows`'],
  list_templates: ['pages/apps/templates/use-templates.ts', "useTranslated<Schemas['TemplateList']>('/v1/templates')"],
  read_connector_catalog: ['pages/connections/catalogue.tsx', "useTranslated<Schemas['ConnectorCatalog']>('/v1/connector-catalog')"],
  read_project_row: ['pages/data/grid/table-rows.ts', "method: 'GET', url: this.rowUrl(id)"],
  update_project_row: ['pages/data/grid/table-rows.ts', "method: 'PATCH', url: this.rowUrl(id)"],
};

/** Operations that the console does not use. */
const UNUSED = {
  compare_versions: 'the page shows whole files side by side, so that it reads both versions',
  finish_connection_authorization: 'a document for the browser: services redirect to it',
  explain_run: 'the rules\' answer of `read_run_answer` contains the explanation',
  start_agent_tool: 'agents call tools; a person tries out the automation itself with `start_automation`',
  list_agent_events: 'a feed for programs that cannot hold a stream open; pages follow the stream',
};

const source = (path) => readFileSync(new URL(`src/${path}`, ROOT), 'utf8');
const sources = readdirSync(new URL('src', ROOT), { recursive: true }).filter((path) => /\.tsx?$/.test(path)).map(source).join('\n');
const { paths } = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', ROOT), 'utf8'));

/** Whether a source calls the operation by its path in the description. */
function isCalled(method, path) {
  const callers = method === 'get' ? ['useResource', 'useList', 'api.get', 'urlOf'] : [`api.${method}`];
  return callers.some((caller) => sources.includes(`${caller}('${path}'`));
}

const operations = Object.entries(paths).flatMap(([path, item]) => METHODS
  .filter((method) => item[method]?.['x-qala-callers']?.includes('C'))
  .map((method) => ({ method, path, id: item[method].operationId })));

test('every operation of a session is used or has a reason', () => {
  assert.ok(operations.length > 100, `only ${operations.length} operations`);
  const unused = operations.filter(({ method, path, id }) => !isCalled(method, path) && !(id in BUILT) && !(id in UNUSED));
  assert.deepEqual(unused, []);
});

test('what is listed exists, and is as listed', () => {
  const ids = new Set(operations.map(({ id }) => id));
  for (const id of [...Object.keys(BUILT), ...Object.keys(UNUSED)]) assert.ok(ids.has(id), `${id} is no operation of a session`);
  for (const [id, [path, piece]] of Object.entries(BUILT)) assert.ok(source(path).includes(piece), `${path} does not call ${id}`);
  for (const { method, path, id } of operations) assert.ok(!(id in UNUSED && isCalled(method, path)), `${id} is used`);
});
