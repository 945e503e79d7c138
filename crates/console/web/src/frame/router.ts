// Navigation: which page is shown, and how one gets to another.

import { batch, computed, signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { asProblem, type Problem } from '#api/problem';
import { fill, match, routeAt, type KnownRoute, type Match } from './match';
import { keepUnsaved, mayLeave } from './unsaved';

type Component = ComponentType<{ readonly params: Readonly<Record<string, string>> }>;

export interface View {
  readonly path: string;
  readonly route: KnownRoute;
  readonly params: Readonly<Record<string, string>>;
  readonly Component: Component;
  /** What is shown in the panel above it. */
  readonly panel: { readonly path: string; readonly Component: Component; readonly params: Readonly<Record<string, string>> } | null;
}

/** What is shown: `null` before the first page, `missing` where there is none, or the problem that kept one from loading. */
export const view = signal<View | 'missing' | Problem | null>(null);

/** Whether the next page is being loaded. */
export const navigating = signal(false);

const search = signal(location.search);

/** The query of the address. Filters of lists live in it. */
export const query = computed(() => new URLSearchParams(search.value));

/** The path of the address, as far as it was navigated to. */
export const path = signal(location.pathname);

interface HistoryState {
  readonly index: number;
  readonly scroll?: number;
}

let index = (history.state as HistoryState | null)?.index ?? 0;
let latest = 0;

/** Pages that the server renders, to which a browser has to go. */
const SERVER_PAGES = /^\/(sign-in|device|oauth|invite|docs|openapi\.json|pages|v1|a)(\/|$)/;

export function isServerPage(to: string): boolean {
  return SERVER_PAGES.test(to);
}

async function loadStyle(href: string | null): Promise<void> {
  if (href === null || document.querySelector(`link[rel="stylesheet"][href="${href}"]`)) return;
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = href;
  await new Promise<void>((resolve) => {
    link.onload = link.onerror = () => resolve();
    document.head.append(link);
  });
}

async function loadRoute(route: KnownRoute): Promise<Component> {
  const [module] = await Promise.all([route.load(), loadStyle(route.stylesheet)]);
  return module.default as unknown as Component;
}

async function loadView(to: string, { route, params }: Match): Promise<View> {
  const below = route.over === undefined ? null : routeAt(route.over);
  if (below === null) return { path: to, route, params, Component: await loadRoute(route), panel: null };
  const [Component, Panel] = await Promise.all([loadRoute(below), loadRoute(route)]);
  return { path: fill(below.path, params), route: below, params, Component, panel: { path: to, Component: Panel, params } };
}

/** Shows the page of the address. Keeps the current one until the next is there. */
async function show(restore: number | null): Promise<void> {
  const to = location.pathname;
  const number = ++latest;
  const found = match(to);
  const before = view.peek();
  navigating.value = true;
  const next = found === null ? 'missing' as const : await loadView(to, found).catch(asProblem);
  // Somebody went on before the page was there.
  if (number !== latest) return;
  batch(() => {
    navigating.value = false;
    path.value = to;
    search.value = location.search;
    view.value = next;
  });
  const isSamePage = isView(before) && isView(next) && before.path === next.path;
  if (!isSamePage) scrollTo(restore ?? 0);
  if (!isSamePage && before !== null) takeFocus(restore === null ? null : isView(before) ? before.path : null);
}

/** Whether nothing on the page has the focus: the browser gave it to nobody, or a new page to its content. */
export function isFocusLost(): boolean {
  const { activeElement } = document;
  return activeElement === null || activeElement === document.body || activeElement.id === 'main';
}

/** Gives the focus of what is gone to the link that led there, after going back, else to the content. */
function takeFocus(from: string | null): void {
  const until = performance.now() + SCROLL_PATIENCE;
  const attempt = () => {
    if (!isFocusLost()) return;
    const content = document.getElementById('main');
    const link = from === null ? null : content?.querySelector<HTMLElement>(`a[href="${CSS.escape(from)}"]`) ?? null;
    const row = link?.closest<HTMLElement>('tr[tabindex]') ?? link;
    (row ?? content)?.focus({ preventScroll: true });
    // The list that has the link may have to be read first.
    if (row === null && from !== null && performance.now() < until) requestAnimationFrame(attempt);
  };
  requestAnimationFrame(attempt);
}

function isView(value: View | 'missing' | Problem | null): value is View {
  return value !== null && typeof value === 'object' && 'route' in value;
}

const SCROLL_PATIENCE = 1_000;

/** Scrolls once the page is long enough for it. */
function scrollTo(top: number): void {
  const until = performance.now() + SCROLL_PATIENCE;
  const attempt = () => {
    window.scrollTo(0, top);
    if (top > 0 && Math.abs(window.scrollY - top) > 1 && performance.now() < until) requestAnimationFrame(attempt);
  };
  requestAnimationFrame(attempt);
}

function rememberScroll(): void {
  history.replaceState({ index, scroll: window.scrollY } satisfies HistoryState, '');
}

export interface NavigateOptions {
  /** Replaces the entry of the history instead of adding one. */
  readonly replace?: boolean;
  /** Leaves without a question if this browser can keep what was typed: it is there when the person comes back. */
  readonly keepsUnsaved?: boolean;
}

/** Goes to a path of this server. */
export async function navigate(to: string, { replace = false, keepsUnsaved = false }: NavigateOptions = {}): Promise<void> {
  const url = new URL(to, location.href);
  if (isServerPage(url.pathname)) return location.assign(url);
  const mayGo = (keepsUnsaved && keepUnsaved()) || (await mayLeave());
  if (!mayGo) return undefined;
  if (replace) {
    history.replaceState({ index } satisfies HistoryState, '', url);
  } else {
    rememberScroll();
    index += 1;
    history.pushState({ index } satisfies HistoryState, '', url);
  }
  return show(null);
}

/** Changes the query and stays on the page. `null` takes a parameter away. */
export function setQuery(changes: Readonly<Record<string, string | null>>, { replace = true }: Pick<NavigateOptions, 'replace'> = {}): void {
  const next = new URLSearchParams(query.peek());
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  const url = text === '' ? location.pathname : `${location.pathname}?${text}`;
  if (replace) {
    history.replaceState(history.state, '', url);
  } else {
    rememberScroll();
    index += 1;
    history.pushState({ index } satisfies HistoryState, '', url);
  }
  search.value = location.search;
}

/** Closes the panel: goes back if the page below was there before, and to it otherwise. */
export function closePanel(): void {
  const shown = view.peek();
  if (!isView(shown) || shown.panel === null) return;
  void navigate(shown.path + location.search);
}

function onClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (!link || !link.href || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
  if (link.pathname === location.pathname && link.search === location.search && link.hash) return;
  if (isServerPage(link.pathname) || match(link.pathname) === null) return;
  event.preventDefault();
  void navigate(link.href);
}

let isGoingBack = false;

async function onPopState({ state }: PopStateEvent): Promise<void> {
  if (isGoingBack) {
    isGoingBack = false;
    return;
  }
  const target = state as HistoryState | null;
  const nextIndex = target?.index ?? 0;
  if (!(await mayLeave())) {
    isGoingBack = true;
    history.go(index - nextIndex);
    return;
  }
  index = nextIndex;
  await show(target?.scroll ?? 0);
}

/** Begins to navigate, and shows the page of the address. Resolves to whether there is one. */
export async function startRouter(): Promise<boolean> {
  if (match(location.pathname) === null && isServerPage(location.pathname)) return false;
  history.scrollRestoration = 'manual';
  document.addEventListener('click', onClick);
  window.addEventListener('popstate', (event) => void onPopState(event));
  let saving: ReturnType<typeof setTimeout>;
  window.addEventListener('scroll', () => {
    clearTimeout(saving);
    saving = setTimeout(rememberScroll, 150);
  }, { passive: true });
  await show((history.state as HistoryState | null)?.scroll ?? 0);
  return true;
}
