// Paths and the routes that they belong to.

import { pages } from 'virtual:pages';
import type { Route } from './page';

export interface KnownRoute extends Route {
  readonly pattern: RegExp;
  readonly stylesheet: string | null;
}

export interface Match {
  readonly route: KnownRoute;
  readonly params: Readonly<Record<string, string>>;
}

function patternOf(path: string): RegExp {
  const segments = path.split('/').map((segment) => {
    if (/^:\w+\*$/.test(segment)) return `(?<${segment.slice(1, -1)}>.+)`;
    if (segment.startsWith(':')) return `(?<${segment.slice(1)}>[^/]+)`;
    return segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}/?$`);
}

/** Orders fixed segments before parameters, and parameters before the rest of a path. */
function rank(path: string): string {
  return path.split('/').map((segment) => (segment.endsWith('*') ? '3' : segment.startsWith(':') ? '2' : '1')).join('');
}

const routes: readonly KnownRoute[] = pages
  .flatMap(({ page, stylesheet }) => page.routes.map((route) => ({ ...route, pattern: patternOf(route.path), stylesheet })))
  .sort((a, b) => (rank(a.path) < rank(b.path) ? -1 : 1));

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
