// What the bundler provides.

/** True in builds with `--dev`. */
declare const DEVELOPMENT: boolean;

declare module 'virtual:pages' {
  import type { PageDefinition } from '#frame/page';

  /** All pages, by the names of their folders. */
  export const pages: readonly { name: string; stylesheet: string | null; page: PageDefinition }[];
}
