// The notifications of a workspace, as the rail counts them.

import { useResource, type Resource } from '#api/resource';
import type { Schemas } from '#api/types';

/** Reads the newest notification of a workspace, and how many the person has not read. The rail and the list share what was read. */
export function useNewestNotification(ws: string | null): Resource<Schemas['Notifications']> {
  return useResource('/v1/workspaces/{ws}/notifications', ws === null ? null : { path: { ws }, query: { limit: 1 } }, { on: ['alert', 'notification'], every: 60_000 });
}
