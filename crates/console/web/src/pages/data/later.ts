// Operations that the API's description does not have yet.

import { send } from '#api/client';
import { asProblem } from '#api/problem';

const projectUrl = (project: string) => `/v1/backend/projects/${encodeURIComponent(project)}`;
const columnUrl = (project: string, table: string, column: string) => `${projectUrl(project)}/tables/${table}/columns/${column}`;

export async function renameColumn(project: string, table: string, column: string, name: string): Promise<void> {
  await send({ method: 'PATCH', url: columnUrl(project, table, column), body: { name } });
}

export async function dropColumn(project: string, table: string, column: string): Promise<void> {
  await send({ method: 'DELETE', url: columnUrl(project, table, column) });
}

/** Reads a row by its id, so that the client has its tag for the next write. A server without tags answers 405. */
export async function readTag(rowUrl: string): Promise<void> {
  try {
    await send({ method: 'GET', url: rowUrl });
  } catch (error) {
    if (asProblem(error).status !== 405) throw error;
  }
}
