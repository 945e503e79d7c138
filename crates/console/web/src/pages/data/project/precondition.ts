// Changes of tables and columns that somebody else may change meanwhile.

import { urlOf, type CallOptions } from '#api/client';
import { ofItem } from '#api/listed';
import type { Project, Table } from './frame';

/** Returns the options of a change of the table that the person has seen; `etag` is another one if the change began from it. */
export function tablePrecondition(project: Project, table: Table, etag: string | null = table.etag ?? null): CallOptions {
  const url = urlOf('/v1/backend/projects/{projectId}', { path: { projectId: project.id } });
  const seen = etag === null ? {} : { etag };
  return ofItem<Project>(seen, url, ({ tables }) => tables.find(({ name }) => name === table.name));
}

/** Returns the options of a change of the column that the person has seen. */
export function columnPrecondition(project: Project, table: Table, column: Table['columns'][number]): CallOptions {
  const url = urlOf('/v1/backend/projects/{projectId}', { path: { projectId: project.id } });
  const find = ({ tables }: Project) => tables.find(({ name }) => name === table.name)?.columns.find(({ name }) => name === column.name);
  return ofItem<Project>(column, url, find);
}
