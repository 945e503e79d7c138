// Members of the workspace by their ids.

import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';

export type User = Schemas['User'];

/** Returns the members, and who has an id among them. */
export function useMembers(ws: string): { readonly members: readonly Schemas['Member'][]; readonly find: (id: string) => User | undefined } {
  const list = useResource('/v1/workspaces/{ws}/members', { path: { ws }, query: { limit: 200 } }, { on: ['member'] });
  const members = list.data?.items ?? [];
  return { members, find: (id) => members.find(({ user }) => user.id === id)?.user };
}
