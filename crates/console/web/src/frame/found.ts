// Objects of a workspace that the palette finds, and those that the person looked at last.

import { signal } from '@preact/signals';
import { send, urlOf } from '#api/client';
import type { Schemas } from '#api/types';

type Found = Schemas['SearchResult'];
export type FoundKind = Found['kind'];

/** Something that the palette leads to. */
export interface Place {
  readonly kind: FoundKind;
  readonly name: string;
  readonly detail: string | null;
  readonly href: string;
}

const FOLDERS: Readonly<Partial<Record<FoundKind, string>>> = {
  app: 'apps', automation: 'automations', project: 'data', connection: 'connections', gate: 'gates', agent_tool: 'tools', run: 'runs', dead_letter: 'dead-letters', import: 'imports',
};

function hrefOf(ws: string, { kind, id, appId, projectId }: Found): string {
  if (kind === 'table') return `/w/${ws}/data/${projectId}/${encodeURIComponent(id)}`;
  if (kind === 'change') return `/w/${ws}/apps/${appId}/changes/${id}`;
  if (kind === 'member') return `/w/${ws}/people/members/${id}`;
  return `/w/${ws}/${FOLDERS[kind]}/${encodeURIComponent(id)}`;
}

const MAX_TYPED = 100;

/** Asks the server for objects that match, over all that the person may see. */
export async function findObjects(ws: string, typed: string, signal: AbortSignal): Promise<readonly Place[]> {
  const q = typed.trim().slice(0, MAX_TYPED);
  const { data } = await send<Schemas['SearchResults']>({ method: 'GET', url: urlOf('/v1/workspaces/{ws}/search', { path: { ws }, query: { q } }), signal, isBackground: true });
  return data.items.map((item) => ({ kind: item.kind, name: item.name, detail: item.detail, href: hrefOf(ws, item) }));
}

const STORED = 'qala.recent';
const MAX_RECENT = 8;
const OBJECT = /^\/w\/[^/]+\/(apps|automations|connections|gates|tools|runs|dead-letters|imports|data)\/([a-z]+_[0-9a-z]{26})(?:\/([a-z][a-z0-9_]*))?/;
const KINDS: Readonly<Record<string, FoundKind>> = Object.fromEntries(Object.entries(FOLDERS).map(([kind, folder]) => [folder, kind as FoundKind]));

function stored(): readonly Place[] {
  try {
    return JSON.parse(sessionStorage.getItem(STORED) ?? '[]') as Place[];
  } catch {
    return [];
  }
}

/** Objects that the person looked at in this tab, the last one first. */
export const recent = signal<readonly Place[]>(stored());

/** Notes that the page of an object is shown, under its title. */
export function noteVisit(path: string, name: string): void {
  const [, folder = '', id = '', part] = OBJECT.exec(path) ?? [];
  const kind = KINDS[folder];
  if (kind === undefined) return;
  const isTable = folder === 'data' && part !== undefined;
  const base = `${path.split('/').slice(0, 4).join('/')}/${id}${isTable ? `/${part}` : ''}`;
  recent.value = [{ kind: isTable ? 'table' as const : kind, name, detail: null, href: base }, ...recent.peek().filter(({ href }) => href !== base)].slice(0, MAX_RECENT);
  try {
    sessionStorage.setItem(STORED, JSON.stringify(recent.peek()));
  } catch {
    // They then last as long as the page.
  }
}
