// Lists that are read in pages and followed by events.
//
// What is new is held back and counted, so that nothing moves under what somebody reads; what is shown is brought up to date in
// its place. What the person made themselves is shown at once.

import { signal, type Signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { send, urlOf, viewAs } from './client';
import { linkedCursor } from './listed';
import { asProblem, type Problem } from './problem';
import { onInvalidate } from './resource';
import type { Input, PathOf, Reply } from './types';

const MIN_INTERVAL = 1_000;

interface ListState<T> {
  readonly items: readonly T[];
  /** New items that are not shown yet, newest first. */
  readonly held: readonly T[];
  /** Whether more are new than were read. */
  readonly heldMore: boolean;
  readonly next: string | null;
  readonly loading: boolean;
  readonly error: Problem | undefined;
  readonly isComplete: boolean;
}

export interface List<T> extends ListState<T> {
  readonly hasMore: boolean;
  loadMore(): void;
  /** Shows what was held back. */
  showHeld(): void;
  refresh(): void;
  /** Changes one item in its place. */
  patch(id: string, change: Partial<T>): void;
  /** Takes items away, for example after they were deleted. */
  remove(ids: readonly string[]): void;
}

type ItemOf<R> = R extends readonly (infer T)[] ? T : R extends { items: readonly (infer T)[] } ? T : R extends { versions: readonly (infer T)[] } ? T : R extends { connections: readonly (infer T)[] } ? T : never;

export interface ListOptions<T> {
  /** Events after which the first page is read again; see `useResource`. */
  readonly on?: readonly string[];
  /** Milliseconds after which the first page is read again, for what no event reports. */
  readonly every?: number;
  /** Identity of an item; its `id` by default. */
  readonly key?: (item: T) => string;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** Reads a page of any of the API's forms: a bare array with `Link`, or an object with an array in it. */
function pageOf<T>(body: unknown, headers: Headers): Page<T> {
  if (Array.isArray(body)) return { items: body as T[], next: linkedCursor(headers.get('link')) ?? headers.get('next-cursor') };
  const members = body as Readonly<Record<string, unknown>>;
  const items = members['items'] ?? members['connections'] ?? Object.values(members).find(Array.isArray) ?? [];
  return { items: items as T[], next: (members['nextCursor'] as string | null | undefined) ?? null };
}

function idOf(item: unknown): string {
  return (item as { id: string }).id;
}

/** The pages of one list that were read so far. */
class Pages<T> {
  readonly state: Signal<ListState<T>> = signal<ListState<T>>({ items: [], held: [], heldMore: false, next: null, loading: true, error: undefined, isComplete: false });
  private lastStart = 0;
  /** How often items were changed or taken away without a read. */
  private edits = 0;
  private reloads = 0;
  private timer: ReturnType<typeof setTimeout> | null = null;
  /** Whether the next read follows a change of the person's own, and holds nothing back. */
  private showsNew = false;
  /** Components that show the list: a page, and the panel over it. */
  private readers = 0;

  constructor(private readonly url: string, private readonly key: (item: T) => string) {}

  open(): void {
    this.readers += 1;
    if (this.state.peek().isComplete) this.follow();
    else void this.reload();
  }

  close(): void {
    this.readers -= 1;
    if (this.readers > 0) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }

  private change(change: Partial<ListState<T>>): void {
    this.state.value = { ...this.state.peek(), ...change };
  }

  private async page(cursor: string | null): Promise<Page<T>> {
    const url = new URL(this.url, location.origin);
    if (cursor !== null) url.searchParams.set('cursor', cursor);
    const { data, headers } = await send<unknown>({ method: 'GET', url: url.pathname + url.search, isBackground: true });
    return pageOf<T>(data, headers);
  }

  async reload(): Promise<void> {
    this.lastStart = Date.now();
    this.reloads += 1;
    const { edits } = this;
    this.change({ loading: true });
    try {
      const { items, next } = await this.page(null);
      // The response to a change came first: what was read may be older than that.
      if (this.edits !== edits) return await this.reload();
      this.change({ items, next, held: [], heldMore: false, loading: false, error: undefined, isComplete: true });
    } catch (error) {
      this.change({ loading: false, error: asProblem(error) });
    }
  }

  async loadMore(): Promise<void> {
    const { next, loading } = this.state.peek();
    if (next === null || loading) return;
    this.change({ loading: true });
    try {
      const page = await this.page(next);
      const known = new Set(this.state.peek().items.map(this.key));
      const items = [...this.state.peek().items, ...page.items.filter((item) => !known.has(this.key(item)))];
      this.change({ items, next: page.next, loading: false, error: undefined });
    } catch (error) {
      this.change({ loading: false, error: asProblem(error) });
    }
  }

  /** Reads the first page again, at most once a second. */
  follow(isOwn = false): void {
    this.showsNew ||= isOwn;
    if (this.timer !== null || this.readers === 0) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      void this.update();
    }, Math.max(0, this.lastStart + MIN_INTERVAL - Date.now()));
  }

  private async update(): Promise<void> {
    this.lastStart = Date.now();
    const { edits, reloads, showsNew } = this;
    this.showsNew = false;
    let first: Page<T>;
    try {
      first = await this.page(null);
    } catch {
      return;
    }
    if (this.edits !== edits || this.reloads !== reloads) return this.follow(showsNew);
    const { items } = this.state.peek();
    const fresh = new Map(first.items.map((item) => [this.key(item), item]));
    const shown = new Set(items.map(this.key));
    const reachesEnd = first.next === null;
    // An item that the first page should have and has not is gone. Older pages are not checked.
    const covered = reachesEnd ? items.length : items.findLastIndex((item) => fresh.has(this.key(item))) + 1;
    const kept = items.filter((item, index) => index >= covered || fresh.has(this.key(item)));
    const held = first.items.filter((item) => !shown.has(this.key(item)));
    const updated = kept.map((item) => fresh.get(this.key(item)) ?? item);
    // Nobody reads an empty list: show what is new at once.
    if (items.length === 0) this.change({ items: first.items, next: first.next, held: [], heldMore: false, error: undefined });
    else if (showsNew) this.change({ items: [...held, ...updated], held: [], heldMore: false, error: undefined });
    else this.change({ items: updated, held, heldMore: held.length === first.items.length && !reachesEnd, error: undefined });
  }

  showHeld(): void {
    const { items, held, heldMore } = this.state.peek();
    if (heldMore) void this.reload();
    else this.change({ items: [...held, ...items], held: [] });
  }

  patch(id: string, change: Partial<T>): void {
    const { items } = this.state.peek();
    this.edits += 1;
    if (!items.some((item) => this.key(item) === id)) return;
    this.change({ items: items.map((item) => (this.key(item) === id ? { ...item, ...change } : item)) });
  }

  remove(ids: readonly string[]): void {
    this.edits += 1;
    this.change({ items: this.state.peek().items.filter((item) => !ids.includes(this.key(item))) });
  }
}

const MAX_KEPT = 12;
const kept = new Map<string, Pages<unknown>>();

/** Returns the pages of a list, those that were read before if it was shown lately: going back finds the place again. */
function pagesOf<T>(url: string, key: (item: T) => string): Pages<T> {
  const name = `${viewAs.peek() ?? ''} ${url}`;
  const pages = (kept.get(name) as Pages<T> | undefined) ?? new Pages<T>(url, key);
  // The one that was shown last is dropped last.
  kept.delete(name);
  kept.set(name, pages as Pages<unknown>);
  const [oldest] = kept.keys();
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  return pages;
}

/** Reads a list of the API page by page, and follows it. */
export function useList<P extends PathOf<'get'>, T = ItemOf<Reply<P, 'get'>>>(path: P, input: Input<P, 'get'> | null, { on = [], every, key = idOf }: ListOptions<T> = {}): List<T> {
  const url = input === null ? null : urlOf(path, input as object);
  const role = viewAs.value;
  const pages = useMemo(() => pagesOf<T>(url ?? '', key), [url, role]);
  const topics = on.join(' ');
  useEffect(() => {
    if (url === null) return undefined;
    pages.open();
    const stop = onInvalidate((changed, isOwn) => {
      if (changed === 'all' || topics.split(' ').some((topic) => changed.includes(topic))) pages.follow(isOwn);
    });
    const timer = every === undefined ? null : setInterval(() => document.hidden || pages.follow(), every);
    return () => {
      stop();
      if (timer !== null) clearInterval(timer);
      pages.close();
    };
  }, [pages, url, topics, every]);
  const state = pages.state.value;
  return {
    ...state,
    hasMore: state.next !== null,
    loadMore: () => void pages.loadMore(),
    showHeld: () => pages.showHeld(),
    refresh: () => void pages.reload(),
    patch: (id, change) => pages.patch(id, change),
    remove: (ids) => pages.remove(ids),
  };
}
