// The workspace as an object, which the API's description does not have yet.

import { send } from '#api/client';
import type { Schemas } from '#api/types';

export type Workspace = Schemas['Workspace'];
export type WorkspaceChange = Partial<Pick<Workspace, 'name' | 'locale' | 'timezone' | 'currency' | 'hourlyCostMinor'>>;

/** Returns the URL of a workspace. */
export function workspaceUrl(ws: string): string {
  return `/v1/workspaces/${encodeURIComponent(ws)}`;
}

export async function changeWorkspace(ws: string, body: WorkspaceChange): Promise<Workspace> {
  return (await send<Workspace>({ method: 'PATCH', url: workspaceUrl(ws), body })).data;
}

/** Deletes a workspace. Its owners can restore it for a week. */
export async function deleteWorkspace(ws: string, confirmName: string): Promise<void> {
  await send({ method: 'DELETE', url: workspaceUrl(ws), body: { confirmName } });
}

export async function restoreWorkspace(ws: string): Promise<void> {
  await send({ method: 'POST', url: `${workspaceUrl(ws)}/restore` });
}
