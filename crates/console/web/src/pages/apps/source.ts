// The source of a version as it is edited: files by their paths, and the manifest as text.

import type { Schemas } from '#api/types';

export type Files = Readonly<Record<string, string>>;
export type Manifest = Schemas['Manifest'];

export interface Source {
  readonly files: Files;
  readonly manifest: string;
}

/** Name of the manifest among the files of an editor. It is no file of the version. */
export const MANIFEST = 'manifest.json';
/** Names of the module whose default export has the handlers. A version has one of them. */
const ENTRIES = ['main.js', 'main.ts'] as const;
/** Entry of what is written here at first, or is missing. */
export const ENTRY = ENTRIES[0];

export const MAX_FILES = 100;
export const MAX_TOTAL_BYTES = 700 << 10;
const MAX_PATH_LENGTH = 200;

/** Returns the entry among the paths, or `undefined` if there is none. */
export function entryAmong(paths: readonly string[]): string | undefined {
  return ENTRIES.find((entry) => paths.includes(entry));
}

export function manifestText(manifest: Manifest): string {
  return JSON.stringify(manifest, null, 2);
}

export function sourceOf({ files, manifest }: Pick<Schemas['VersionWithContent'], 'files' | 'manifest'>): Source {
  return { files, manifest: manifestText(manifest) };
}

/** Returns the texts by the names of their tabs: the files, and the manifest. */
export function textsOf({ files, manifest }: Source): Files {
  return { ...files, [MANIFEST]: manifest };
}

export type PathProblem = 'empty' | 'long' | 'form' | 'taken' | 'reserved';

/** Returns what keeps a path from being used, as the server would say it. */
export function pathProblem(path: string, taken: readonly string[]): PathProblem | null {
  if (path === '') return 'empty';
  if (path.length > MAX_PATH_LENGTH) return 'long';
  if (path === MANIFEST) return 'reserved';
  if (!path.split('/').every((part) => /^[\w.-]+$/.test(part) && part !== '.' && part !== '..')) return 'form';
  return taken.includes(path) ? 'taken' : null;
}

const encoder = new TextEncoder();

export function bytesOf(files: Files): number {
  return Object.values(files).reduce((sum, text) => sum + encoder.encode(text).length, 0);
}

export type Change = 'added' | 'removed' | 'changed';

/** Returns which texts differ, in the order of their names. */
export function changesBetween(before: Files, after: Files): readonly { readonly path: string; readonly change: Change }[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return paths.flatMap((path) => {
    if (before[path] === after[path]) return [];
    return [{ path, change: before[path] === undefined ? 'added' as const : after[path] === undefined ? 'removed' as const : 'changed' as const }];
  });
}

/** Returns the manifest of a text, or `null` if the text is not JSON. The server checks its fields. */
export function parseManifest(text: string): Manifest | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Manifest) : null;
  } catch {
    return null;
  }
}
