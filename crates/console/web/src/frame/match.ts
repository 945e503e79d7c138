// Paths and the routes that they belong to.

import { pages } from 'virtual:pages';
import type { Route } from './page';
import { comparePatterns, patternOf } from './pattern';

export interface KnownRoute extends Route {
  readonly pattern: RegExp;
  readonly stylesheet: string | null;
}

export interface Match {
  readonly route: KnownRoute;
  readonly params: Readonly<Record<string, string>>;
}

const routes: readonly KnownRoute[] = pages
  .flatMap(({ page, stylesheet }) => page.routes.map((route) => ({ ...route, pattern: patternOf(route.path), stylesheet })))
  .sort((a, b) => comparePatterns(a.path, b.path));

/** Returns the route of a path, or `null` if it has none. */
export function match(path: string): Match | null {
  for (const route of routes) {
    const found = route.pattern.exec(path);
    if (!found) continue;
    const params = Object.entries(found.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]);
    return { route, params: Object.fromEntries(params) as Record<string, string> };
  }
  return null;
}

/** Returns the route with exactly this pattern. */
export function routeAt(path: string): KnownRoute | null {
  return routes.find((route) => route.path === path) ?? null;
}

/** Returns the path of a route with these parameters. */
export function fill(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/:(\w+)\*?/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}
