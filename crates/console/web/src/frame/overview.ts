// What the apps of a workspace are doing: one answer for the rail, the town and the lists.

import { useResource, type Resource } from '#api/resource';
import type { Schemas } from '#api/types';

/** Reads the overview of a workspace, and again at most once a second after what changes it. Whoever shows it shares what was read. */
export function useOverview(ws: string | null): Resource<Schemas['Overview']> {
  return useResource('/v1/workspaces/{ws}/overview', ws === null ? null : { path: { ws } }, { on: ['run', 'app', 'version', 'alert', 'dead_letter', 'health'], every: 60_000 });
}
