// Objects that only a list or another object shows: their tags are in them.

import { send, type CallOptions } from './client';

interface Tagged {
  readonly etag?: string;
}

interface Page {
  readonly nextCursor?: string | null;
}

/**
 * Returns the options of a request that changes an item: the tag of the item as the person has seen it, and how to read it
 * again. `find` finds the item in a body that `url` returns, of which the pages are read in turn.
 */
export function ofItem<Body>(seen: Tagged, url: string, find: (body: Body) => Tagged | undefined): Pick<CallOptions, 'ifMatch' | 'readCurrent'> {
  return {
    ifMatch: seen.etag ?? null,
    async readCurrent() {
      for (let cursor: string | null = ''; cursor !== null;) {
        const { data, headers }: { data: Body; headers: Headers } = await send<Body>({ method: 'GET', url: cursor === '' ? url : withCursor(url, cursor) });
        const found = find(data);
        if (found) return { state: found, etag: found.etag ?? null };
        cursor = (data as Page).nextCursor ?? linkedCursor(headers.get('link'));
      }
      return { state: undefined, etag: null };
    },
  };
}

function withCursor(url: string, cursor: string): string {
  const next = new URL(url, location.origin);
  next.searchParams.set('cursor', cursor);
  return next.pathname + next.search;
}

/** Returns the cursor of the next page of a list that is a bare array. */
export function linkedCursor(link: string | null): string | null {
  const target = link?.match(/<([^>]+)>\s*;[^,]*rel="?next"?/)?.[1];
  return target === undefined ? null : new URL(target, location.origin).searchParams.get('cursor');
}
