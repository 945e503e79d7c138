// Reading a file that a person picked.

import { Problem } from '#api/problem';
import { delimiterOf, readDelimited } from '../grid/delimited';
import { t } from '../messages';
import { decode, decodeAs, isWorkbook, type Encoding } from './encoding';
import { sheetOf, type Placed, type Sheet } from './import-plan';
import type { FileKind } from './import-request';

/** How the text of a file is encoded, where it does not say so itself: what it looks like, and what the person chose. */
export interface Guessed {
  readonly guess: Encoding;
  readonly chosen: Encoding | null;
}

export interface Picked {
  readonly file: File;
  readonly kind: FileKind;
  /** Its rows, if they were read here: a file of JSON goes to the server as it is. */
  readonly sheet: Sheet | null;
  /** Nothing is sent before the person has chosen. */
  readonly encoding: Guessed | null;
}

const MAX_BYTES = 256 * 1_024 * 1_024;

function kindOf(name: string, start: string): FileKind {
  if (/\.(csv|tsv|txt)$/i.test(name)) return 'csv';
  if (/\.(ndjson|jsonl)$/i.test(name)) return 'ndjson';
  if (start.startsWith('[')) return 'json';
  return start.startsWith('{') ? 'ndjson' : 'csv';
}

/** Reads a file, in the encoding that the person chose if it has to be chosen. */
export async function readFile(file: File, chosen: Encoding | null = null): Promise<Picked> {
  if (file.size > MAX_BYTES) throw new Problem(400, 'file_too_large', t('fileTooLarge'));
  const kind = kindOf(file.name, (await file.slice(0, 1_000).text()).trimStart());
  if (kind !== 'csv') return { file, kind, sheet: null, encoding: null };
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (isWorkbook(bytes)) throw new Problem(400, 'file_invalid', t('fileWorkbook'));
  const decoded = decode(bytes);
  if ('text' in decoded) return { file, kind, sheet: sheetIn(decoded.text), encoding: null };
  const text = decodeAs(bytes, chosen ?? decoded.guess);
  if (text === null) throw new Problem(400, 'file_invalid', t('encodingWrong', { encoding: chosen ?? decoded.guess }));
  return { file, kind, sheet: sheetIn(text), encoding: { guess: decoded.guess, chosen } };
}

function sheetIn(text: string): Sheet {
  const records: Placed[] = [];
  let blankLines = 0;
  const open = readDelimited(text, delimiterOf(text), (cells, { line, isBlank }) => {
    if (isBlank) blankLines += 1;
    else records.push({ cells, line });
  });
  if (open !== null) throw new Problem(400, 'file_invalid', t('quotesOpen', { line: open }));
  const sheet = sheetOf(records, blankLines);
  if (sheet === null) throw new Problem(400, 'file_invalid', t('fileEmpty'));
  return sheet;
}
