// The connections of a workspace, and who may change them.

import { urlOf } from '#api/client';
import { useList, type List } from '#api/list';
import { invalidate, useResource, type Resource } from '#api/resource';
import type { Schemas } from '#api/types';
import { hasRole, isReadOnly } from '#frame';
import { t } from './messages';

export type Connection = Schemas['Connection'];

export function useConnections(ws: string): List<Connection> {
  return useList('/v1/workspaces/{ws}/connections', { path: { ws }, query: { limit: 200 } }, { on: ['connection', 'gate', 'app'] });
}

export function useConnection(ws: string, id: string): Resource<Connection> {
  return useResource('/v1/workspaces/{ws}/connections/{id}', { path: { ws, id } }, { on: [`connection:${id}`, 'gate', 'app'] });
}

export function connectionUrl(ws: string, id: string): string {
  return urlOf('/v1/workspaces/{ws}/connections/{id}', { path: { ws, id } });
}

/** Marks what shows connections as old, before the server's event does. */
export function connectionsChanged(id: string): void {
  invalidate(['connection', `connection:${id}`, 'gate']);
}

/** Returns why the person may not connect, change and disconnect services, or `null`. */
export function mayNotWrite(): string | null {
  if (isReadOnly.value) return t('readOnly');
  return hasRole('admin') ? null : t('adminsOnly');
}
