// A list that is read to its end, for what is said of all of it.

import { useEffect, useMemo } from 'preact/hooks';
import { signal } from '@preact/signals';
import { send, viewAs } from './client';
import { asProblem, type Problem } from './problem';
import { onInvalidate } from './resource';

interface Whole<T> {
  readonly items: readonly T[] | undefined;
  readonly error: Problem | undefined;
  /** Whether there are more than `MAX_PAGES` hold. */
  readonly isCut: boolean;
}

const PAGE = 200;
const MAX_PAGES = 10;
const MIN_INTERVAL = 2_000;

/** Returns the address of a page; `url` may have a query of its own. */
function pageUrl(url: string, cursor: string | null): string {
  const page = new URL(url, location.origin);
  page.searchParams.set('limit', String(PAGE));
  if (cursor !== null) page.searchParams.set('cursor', cursor);
  return page.pathname + page.search;
}

async function readPages<T>(url: string): Promise<Whole<T>> {
  const items: T[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { data }: { data: { readonly items: readonly T[]; readonly nextCursor: string | null } } = await send({ method: 'GET', url: pageUrl(url, cursor), isBackground: true });
    items.push(...data.items);
    cursor = data.nextCursor;
    if (cursor === null) break;
  }
  return { items, error: undefined, isCut: cursor !== null };
}

/** Reads every page of the list at `url`, and again after events of these topics, at most every two seconds. */
export function useAll<T>(url: string, on: readonly string[]): Whole<T> & { readonly refresh: () => void } {
  const role = viewAs.value;
  const topics = on.join(' ');
  const reader = useMemo(() => {
    const state = signal<Whole<T>>({ items: undefined, error: undefined, isCut: false });
    let timer: ReturnType<typeof setTimeout> | null = null;
    let last = 0;
    let isClosed = false;
    const read = async () => {
      timer = null;
      last = Date.now();
      const next = await readPages<T>(url).catch((error: unknown) => ({ ...state.peek(), error: asProblem(error) }));
      if (!isClosed) state.value = next;
    };
    const follow = () => { timer ??= setTimeout(() => void read(), Math.max(0, last + MIN_INTERVAL - Date.now())); };
    const open = () => {
      isClosed = false;
      void read();
      return onInvalidate((changed) => { if (changed === 'all' || topics.split(' ').some((topic) => changed.includes(topic))) follow(); });
    };
    const close = () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
    };
    return { state, follow, open, close };
  }, [url, role, topics]);
  useEffect(() => {
    const stop = reader.open();
    return () => {
      stop();
      reader.close();
    };
  }, [reader]);
  return { ...reader.state.value, refresh: reader.follow };
}
