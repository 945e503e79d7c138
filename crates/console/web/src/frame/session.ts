// Who is signed in, in which workspace, and what they may do there.

import { computed, signal } from '@preact/signals';
import { api, viewAs } from '#api/client';
import { invalidate, onInvalidate } from '#api/resource';
import type { Problem } from '#api/problem';
import type { Schemas } from '#api/types';
import { forgetAll, keepFor } from './kept';
import { view } from './router';
import { serverMain } from './server-page';
import { mayLeave } from './unsaved';

export type Session = Schemas['Session'];
export type WorkspaceItem = Schemas['WorkspaceItem'];
export type Role = Schemas['Role'];

/** The session: `undefined` until it was read, `null` for a visitor. */
export const session = signal<Session | null | undefined>(undefined);

/** Workspaces of the person. */
export const workspaces = signal<readonly WorkspaceItem[]>([]);

/** Id of the workspace in the address. */
export const workspaceId = computed(() => {
  const shown = view.value;
  return shown !== null && typeof shown === 'object' && 'route' in shown ? (shown.params['ws'] ?? null) : null;
});

/** The workspace in the address, else the one in which the person was last. */
export const workspace = computed(() => {
  const id = workspaceId.value ?? session.value?.workspaceId;
  return workspaces.value.find((item) => item.id === id) ?? null;
});

const ROLES: readonly Role[] = ['viewer', 'member', 'builder', 'admin', 'owner'];

/** The person's own role in the workspace. */
export const ownRole = computed(() => workspace.value?.role ?? null);

/** The role as which the person looks at the workspace. */
export const role = computed(() => viewAs.value ?? ownRole.value);

/** Whether the person, as they look at the workspace, has at least this role. The server decides; this is for what is shown. */
export function hasRole(least: Role): boolean {
  return role.value !== null && ROLES.indexOf(role.value) >= ROLES.indexOf(least);
}

/** Whether writes are refused, because the person looks at the workspace as somebody else. */
export const isReadOnly = computed(() => viewAs.value !== null);

/** Whether the server's page says that nobody is signed in, so that there is nothing to read. */
function isVisitorsPage(): boolean {
  return serverMain?.querySelector('form[action="/sign-in/start"], form[action="/sign-in/email"]') != null;
}

/** Reads the session and the workspaces of the person. */
export async function loadSession(): Promise<void> {
  if (isVisitorsPage() && session.peek() === undefined) {
    session.value = null;
    return;
  }
  try {
    const [current, list] = await Promise.all([api.get('/v1/session', {}), api.get('/v1/workspaces', { query: { limit: 200 } })]);
    keepFor(current.user.id);
    session.value = current;
    workspaces.value = list.items;
  } catch (error) {
    if ((error as Problem).status !== 401) throw error;
    session.value = null;
  }
}

/** Reads the workspaces again, after one was created, renamed or left. */
export async function loadWorkspaces(): Promise<void> {
  workspaces.value = (await api.get('/v1/workspaces', { query: { limit: 200 } })).items;
}

/** Reads again what the frame shows, when the workspace or the person's role in it changes. Returns what ends that. */
export function followMembership(): () => void {
  return onInvalidate((topics) => {
    if (topics === 'all') return;
    const isOwn = topics.includes(`member:${session.peek()?.user.id ?? ''}`);
    if (!isOwn && !topics.includes('workspace')) return;
    void loadWorkspaces().then(() => {
      // With another role, everything may look different.
      if (isOwn) invalidate('all');
    }, () => undefined);
  });
}

/** Remembers on the server that the person is in this workspace, so that the next sign-in leads here. */
export function rememberWorkspace(ws: string): void {
  if (session.peek()?.workspaceId === ws || isReadOnly.peek()) return;
  void api.post('/v1/workspaces/{ws}/switch', { path: { ws } }).then((next) => { session.value = next; }, () => undefined);
}

/** Whether the server no longer knows the session of this page. */
export const isSessionOver = signal(false);

/** Whether the person is signing out: what the server refuses from now on is expected. */
export const isSigningOut = signal(false);

/** Ends the session and goes to the sign-in page. Nothing that the person typed stays in the browser. */
export async function signOut(to = '/sign-in'): Promise<void> {
  if (!(await mayLeave())) return;
  isSigningOut.value = true;
  try {
    await api.delete('/v1/session', {});
  } catch (error) {
    // One that has ended already is what was wanted.
    if ((error as Problem).status !== 401) {
      isSigningOut.value = false;
      throw error;
    }
  }
  forgetAll();
  location.assign(to);
}

/** Path of the sign-in page, from which the person comes back here. */
export function signInPath(): string {
  const here = location.pathname + location.search;
  return here === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(here)}`;
}
