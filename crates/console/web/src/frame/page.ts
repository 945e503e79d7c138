// The definition of a page: what the frame has to know before it loads the page's code.

import type { ComponentType } from 'preact';
import type { Schemas } from '#api/types';
import type { Text } from '#i18n';

/** Parameters in a path: `ws` and `id` in `/w/:ws/runs/:id`. The last one may take the rest: `:path*`. */
export type ParamsOf<P extends string> = P extends `${infer Head}/${infer Tail}`
  ? ParamsOf<Head> & ParamsOf<Tail>
  : P extends `:${infer Name}*` ? { readonly [N in Name]: string } : P extends `:${infer Name}` ? { readonly [N in Name]: string } : object;

/** Properties of the component that a route shows. */
export interface RouteProps<P extends string> {
  readonly params: ParamsOf<P>;
}

/**
 * Space that a route gets: `workspace` beside the rail; `account` beside the rail, without a workspace in its address; `narrow` one
 * column for what a person does once, such as signing in.
 */
export type Layout = 'workspace' | 'account' | 'narrow';

export interface Route {
  readonly path: string;
  readonly layout: Layout;
  readonly load: () => Promise<{ readonly default: ComponentType<{ readonly params: never }> }>;
  /** Path of the route over which this one opens in a panel on the right. The last segments are this one's own. */
  readonly over?: string;
}

interface RouteOptions {
  readonly layout?: Layout;
  readonly over?: string;
}

/** Declares a route. The component's parameters have to be those of the path. */
export function route<const P extends string>(path: P, load: () => Promise<{ readonly default: ComponentType<RouteProps<P>> }>, { layout = 'workspace', over }: RouteOptions = {}): Route {
  const shared = { path, layout, load: load as Route['load'] };
  return over === undefined ? shared : { ...shared, over };
}

/** What the counts of the rail are made from. */
export interface RailFacts {
  readonly overview: Schemas['Overview'];
  /** Number of notifications that the person has not read, at most 100. */
  readonly unread: number;
}

export interface Count {
  readonly value: number;
  /** What is counted, for screen readers and the tooltip: “running”. */
  readonly label: Text;
  readonly tone?: 'live' | 'bad' | 'ask';
}

export interface RailEntry {
  /** Place in the rail; the frame's pages are in tens: City 10, Apps 20, Automations 30, Runs 40, … Settings 120. */
  readonly order: number;
  readonly label: Text;
  /** Path data of a 16 × 16 icon that is drawn with a stroke. */
  readonly icon: string;
  /** Where it leads, below `/w/WORKSPACE`: `/runs`. */
  readonly to: string;
  /** Key after `g` that leads there. */
  readonly key?: string;
  readonly count?: (facts: RailFacts) => Count | null;
}

/** A section in the navigation of the settings, or of the account. */
export interface Section {
  readonly order: number;
  readonly label: Text;
  /** Where it leads: below `/w/WORKSPACE/settings` or `/account`. */
  readonly to: string;
}

/** A command that is there before the page's code is loaded. It leads somewhere below `/w/WORKSPACE`, or to an absolute path. */
export interface PageCommand {
  readonly label: Text;
  readonly to: string;
  readonly keys?: string;
}

export interface PageDefinition {
  readonly routes: readonly Route[];
  readonly rail?: RailEntry;
  readonly settings?: readonly Section[];
  readonly account?: readonly Section[];
  readonly commands?: readonly PageCommand[];
}

/** Defines a page. It is the default export of `src/pages/NAME/page.ts`. */
export function definePage(page: PageDefinition): PageDefinition {
  return page;
}
