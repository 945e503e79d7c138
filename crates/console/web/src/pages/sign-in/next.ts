// Where a person goes once they are signed in.

import { query } from '#frame';

/** Returns the path to go on to: of this server only, as the server checks too. */
export function nextPath(): string {
  const next = query.value.get('next') ?? '/';
  const url = new URL(next, location.origin);
  const isLocal = next.startsWith('/') && !next.startsWith('//') && url.origin === location.origin;
  return isLocal && url.pathname !== '/sign-in' ? url.pathname + url.search + url.hash : '/';
}

/** Goes on with a new document, so that nothing of a previous person's is left. */
export function goOn(): void {
  location.assign(nextPath());
}
