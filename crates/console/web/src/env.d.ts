// What the bundler provides.

/** True in builds with `--dev`. */
declare const DEVELOPMENT: boolean;

/** The files of each route, beside those that every page loads: addresses, and for each pattern indexes into them. */
declare const ROUTE_FILES: {
  readonly files: readonly string[];
  readonly routes: readonly (readonly [pattern: string, files: readonly number[]])[];
};

declare module 'virtual:pages' {
  import type { PageDefinition } from '#frame/page';

  /** All pages, by the names of their folders. */
  export const pages: readonly { name: string; stylesheet: string | null; page: PageDefinition }[];
}
