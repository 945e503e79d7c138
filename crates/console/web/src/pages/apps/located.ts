// The place in the source that a problem is about, read from the message of the server.

import type { Problem } from '#api/problem';
import { lineOfMember } from './json-line';
import { ENTRY, MANIFEST, entryAmong, type Source } from './source';

export interface Located {
  /** Name of a tab: a file, or the manifest. */
  readonly tab: string;
  readonly line: number;
  readonly column?: number;
  readonly message: string;
}

const COMPILE = /^`files` does not compile: (?:([\w./-]+):(\d+):(\d+): )?([\s\S]+)$/;
const FRAME = /\(?([\w./-]+\.\w+):(\d+):(\d+)\)?/;
const FILE = /^`files\["([^"]+)"\]` (.+)$/s;
const FIELD = /^`manifest(?:\.([^`]+))?` (.+)$/s;
const IMPORT = /([\w./-]+) imports ([\w./-]+)/;

/** Returns the line on which a file imports another, if it is found. */
function lineOfImport(text: string, specifier: string): number {
  const index = text.split('\n').findIndex((line) => line.includes(`'${specifier}'`) || line.includes(`"${specifier}"`));
  return Math.max(0, index) + 1;
}

function locateCompile(message: string, { files }: Source): Located | null {
  const [, path, line, column, text = ''] = COMPILE.exec(message) ?? [];
  if (path !== undefined) return { tab: path, line: Number(line), column: Number(column), message: text };
  const [, importer, specifier] = IMPORT.exec(text) ?? [];
  if (importer !== undefined && specifier !== undefined) return { tab: importer, line: lineOfImport(files[importer] ?? '', specifier), message: text };
  const [, at, atLine, atColumn] = FRAME.exec(text) ?? [];
  return at === undefined ? null : { tab: at, line: Number(atLine), column: Number(atColumn), message: text.split('\n')[0] ?? text };
}

/** Returns the place that the problem names, or `null` if it names none. */
export function locate({ message }: Problem, source: Source): Located | null {
  const inFile = FILE.exec(message);
  if (inFile) return { tab: inFile[1] ?? ENTRY, line: 1, message };
  const inManifest = FIELD.exec(message);
  if (inManifest) return { tab: MANIFEST, line: lineOfMember(source.manifest, inManifest[1] ?? ''), message };
  if (COMPILE.test(message)) return locateCompile(message, source);
  if (!message.startsWith('`files` must have a `main.js`')) return null;
  return { tab: entryAmong(Object.keys(source.files)) ?? ENTRY, line: 1, message };
}
