// Files of a folder that a person drops or picks, as the source of an app.

import { MANIFEST, pathProblem } from '../source';

export type Refusal = 'text' | 'path';

export interface ReadFiles {
  readonly files: Readonly<Record<string, string>>;
  /** Text of `manifest.json`, if the folder has one. */
  readonly manifest: string | null;
  /** Files that are not taken, and why. */
  readonly refused: readonly { readonly path: string; readonly reason: Refusal }[];
}

interface Found {
  readonly path: string;
  readonly file: File;
}

/** Folders and files that no app needs. */
const IGNORED = /(^|\/)(node_modules|\.[^/]+)(\/|$)/;

/** Without the folder that all of them are in: one drops `my-app`, and means what is in it. */
function withoutCommonFolder(found: readonly Found[]): readonly Found[] {
  const [folder] = found[0]?.path.split('/') ?? [];
  const isCommon = found.every(({ path }) => path.startsWith(`${folder}/`));
  return isCommon ? found.map(({ path, file }) => ({ path: path.slice((folder?.length ?? 0) + 1), file })) : found;
}

async function textOf(file: File): Promise<string | null> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

async function read(found: readonly Found[]): Promise<ReadFiles> {
  const files: Record<string, string> = {};
  const refused: { path: string; reason: Refusal }[] = [];
  let manifest: string | null = null;
  for (const { path, file } of withoutCommonFolder(found.filter((one) => !IGNORED.test(one.path)))) {
    const text = await textOf(file);
    if (text === null) refused.push({ path, reason: 'text' });
    else if (path === MANIFEST) manifest = text;
    else if (pathProblem(path, []) !== null) refused.push({ path, reason: 'path' });
    else files[path] = text;
  }
  return { files, manifest, refused };
}

/** Reads files that an `<input>` has. */
export function readPicked(list: FileList): Promise<ReadFiles> {
  return read([...list].map((file) => ({ path: file.webkitRelativePath || file.name, file })));
}

async function entriesOf(directory: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = directory.createReader();
  const all: FileSystemEntry[] = [];
  // A reader returns a hundred at a time, and none at the end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

async function walk(entry: FileSystemEntry): Promise<readonly Found[]> {
  const path = entry.fullPath.replace(/^\//, '');
  if (IGNORED.test(path)) return [];
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ path, file }];
  }
  const inside = await entriesOf(entry as FileSystemDirectoryEntry);
  return (await Promise.all(inside.map(walk))).flat();
}

/** Reads what was dropped, folders with all that is in them. */
export async function readDropped({ items, files }: DataTransfer): Promise<ReadFiles> {
  // The entries have to be taken before anything is awaited.
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  // What comes from another program than the file manager has no entry.
  if (entries.length === 0) return readPicked(files);
  return read((await Promise.all(entries.map(walk))).flat());
}
