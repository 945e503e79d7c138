// Deleted workspaces, which the API's description does not have yet.

import { send } from '#api/client';
import type { Schemas } from '#api/types';

export interface DeletedWorkspace extends Pick<Schemas['WorkspaceItem'], 'id' | 'name' | 'role' | 'memberCount'> {
  readonly deletedAt: string | null;
  readonly restorableUntil: string | null;
}

export const DELETED_URL = '/v1/workspaces?deleted=true';

/** Returns those that are deleted: a server without deletion lists the others here. */
export function deletedOf(items: readonly DeletedWorkspace[]): readonly DeletedWorkspace[] {
  return items.filter(({ deletedAt }) => deletedAt !== null && deletedAt !== undefined);
}

export async function restoreWorkspace(id: string): Promise<void> {
  await send({ method: 'POST', url: `/v1/workspaces/${encodeURIComponent(id)}/restore` });
}
