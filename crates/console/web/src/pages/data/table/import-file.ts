// Reading a file that a person picked.

import { Problem } from '#api/problem';
import type { Cell } from '../grid/cells';
import { delimiterOf, readDelimited } from '../grid/delimited';
import { t } from '../messages';
import type { Sheet } from './import-plan';
import type { FileKind } from './import-request';

export interface Picked {
  readonly file: File;
  readonly kind: FileKind;
  /** Its rows, if they were read here: a file of JSON goes to the server as it is. */
  readonly sheet: Sheet | null;
}

const MAX_BYTES = 256 * 1_024 * 1_024;

function kindOf(name: string, start: string): FileKind {
  if (/\.(csv|tsv|txt)$/i.test(name)) return 'csv';
  if (/\.(ndjson|jsonl)$/i.test(name)) return 'ndjson';
  if (start.startsWith('[')) return 'json';
  return start.startsWith('{') ? 'ndjson' : 'csv';
}

export async function readFile(file: File): Promise<Picked> {
  if (file.size > MAX_BYTES) throw new Problem(400, 'file_too_large', t('fileTooLarge'));
  const kind = kindOf(file.name, (await file.slice(0, 1_000).text()).trimStart());
  if (kind !== 'csv') return { file, kind, sheet: null };
  const text = (await file.text()).replace(/^\uFEFF/, '');
  const records: Cell[][] = [];
  const open = readDelimited(text, delimiterOf(text), (record) => {
    // Empty lines at the end are no rows.
    if (record.length > 1 || record[0] !== null) records.push(record);
  });
  if (open !== null) throw new Problem(400, 'file_invalid', t('quotesOpen', { line: open }));
  const [headers, ...rows] = records;
  if (!headers) throw new Problem(400, 'file_invalid', t('fileEmpty'));
  return { file, kind, sheet: { headers: headers.map((header) => header ?? ''), records: rows } };
}
