// Preloads of the page at the address.

import { comparePatterns, patternOf } from '#frame/pattern';

/** What the console reads first on each page of a workspace. */
const FIRST_READS = ['/v1/session', '/v1/workspaces?limit=200'];

function preload(href: string, rel: 'preload' | 'modulepreload', as: 'fetch' | 'script' | 'style'): void {
  const link = document.createElement('link');
  link.rel = rel;
  link.as = as;
  // The console's own request is answered from here only if both have the same mode.
  if (as === 'fetch') link.crossOrigin = 'anonymous';
  link.href = href;
  document.head.append(link);
}

function filesOf(path: string): readonly (string | undefined)[] {
  const { files, routes } = ROUTE_FILES;
  const found = [...routes].sort(([a], [b]) => comparePatterns(a, b)).find(([pattern]) => patternOf(pattern).test(path));
  return (found?.[1] ?? []).map((index) => files[index]);
}

/** Fetches what the page of the address needs while the console's own modules are fetched, not after they have run. */
export function preloadPage(): void {
  for (const file of filesOf(location.pathname)) {
    if (file?.endsWith('.css')) preload(file, 'preload', 'style');
    else if (file) preload(file, 'modulepreload', 'script');
  }
  if (location.pathname.startsWith('/w/')) FIRST_READS.forEach((read) => preload(read, 'preload', 'fetch'));
}
