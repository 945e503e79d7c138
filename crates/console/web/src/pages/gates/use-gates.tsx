// The gates of a workspace, the apps that use them, and what an admin does with them.

import { useAll } from '#api/all';
import { api, urlOf, type CallOptions } from '#api/client';
import { useList, type List } from '#api/list';
import { ofItem } from '#api/listed';
import { invalidate } from '#api/resource';
import type { Schemas } from '#api/types';
import { closePanel, hasRole, isReadOnly, toast, useAction, type Action } from '#frame';
import { confirm } from '#ui';
import { t } from './messages';

export type Gate = Schemas['Gate'];

export function useGates(ws: string): List<Gate> {
  return useList('/v1/workspaces/{ws}/gates', { path: { ws }, query: { limit: 200 } }, { on: ['gate', 'app', 'refusal'] });
}

/** Names of the apps that the person sees, by their ids. */
export function useAppNames(ws: string): { readonly apps: readonly Schemas['App'][]; readonly nameOf: (id: string) => string | undefined } {
  const apps = useAll<Schemas['App']>(urlOf('/v1/workspaces/{ws}/apps', { path: { ws } }), ['app']).items ?? [];
  return { apps, nameOf: (id) => apps.find((app) => app.id === id)?.name };
}

/** Returns why the person may not open or close gates, or `null`. */
export function mayNotSet(): string | null {
  if (isReadOnly.value) return t('readOnly');
  return hasRole('admin') ? null : t('adminsOnly');
}

/** Returns why the person may not create or delete gates, or `null`. */
export function mayNotCreate(): string | null {
  if (isReadOnly.value) return t('readOnly');
  return hasRole('admin') ? null : t('mayNotCreate');
}

/** Deletes a gate after a question. Taking it back creates the gate again, closed if it was. */
export function useDelete(ws: string, list: Pick<List<Gate>, 'remove' | 'refresh'>): Action<[Gate]> {
  const restore = useAction(async ({ host, name, methods, status }: Gate) => {
    const { id } = await api.post('/v1/workspaces/{ws}/gates', { path: { ws }, body: { host, name, methods } });
    if (status === 'closed') await api.patch('/v1/gates/{id}', { path: { id }, body: { status } });
    invalidate(['gate']);
    list.refresh();
  });
  return useAction(async (gate: Gate) => {
    const { id, host, appIds } = gate;
    const body = <p>{appIds.length === 0 ? t('deleteUnused') : t('deleteBody', { count: appIds.length })}</p>;
    if (!(await confirm({ title: t('deleteTitle', { host }), body, action: t('delete'), tone: 'bad' }))) return;
    await api.delete('/v1/gates/{id}', { path: { id } }, precondition(ws, gate));
    closePanel();
    list.remove([id]);
    invalidate(['gate', `gate:${id}`]);
    toast(t('deleted', { host }), { action: { label: t('undo'), run: () => void restore.run(gate) } });
  });
}

/** Returns the options of a change of the gate that the person has seen. */
function precondition(ws: string, gate: Gate): CallOptions {
  const url = urlOf('/v1/workspaces/{ws}/gates', { path: { ws }, query: { limit: 200 } });
  return ofItem<Schemas['GateList']>(gate, url, ({ items }) => items.find(({ id }) => id === gate.id));
}

/** Opens and closes gates. Opening is asked about first, and both can be taken back. */
export function useSetStatus(ws: string, list: Pick<List<Gate>, 'patch'>) {
  const set = async (before: Gate, status: Gate['status']) => {
    const { id } = before;
    const gate = await api.patch('/v1/gates/{id}', { path: { id }, body: { status } }, precondition(ws, before));
    list.patch(id, gate);
    invalidate(['gate', `gate:${id}`]);
  };
  const change = useAction(async (gate: Gate) => {
    const next = gate.status === 'open' ? 'closed' as const : 'open' as const;
    if (next === 'open' && !(await confirm({ title: t('openTitle', { host: gate.host }), body: <p>{t('openBody', { methods: gate.methods.join(', '), count: gate.appIds.length })}</p>, action: t('open') }))) return;
    await set(gate, next);
    const undo = { label: t('undo'), run: () => void back.run(gate) };
    toast(t(next === 'open' ? 'opened' : 'closed', { host: gate.host }), { action: undo });
  });
  const back = useAction(async (gate: Gate) => { await set(gate, gate.status); });
  return change;
}
