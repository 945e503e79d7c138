// The columns of a table that is made for a file: names that the server takes, and the narrowest type that keeps all values.

import { parseCell, type Cell, type ColumnType } from '../grid/cells';
import type { ColumnDraft } from './column-fields';
import { plainName, type Sheet } from './import-plan';
import { columnNameProblem } from './names';
import { areWritten, keepsDigits, plainNumber } from './numbers';

/** From the narrowest; everything is a text. */
const TYPES: readonly ColumnType[] = ['boolean', 'integer', 'real', 'timestamp', 'json'];
const MAX_NAME = 60;

/** Whether a text is a document rather than a number or a word. */
const isDocument = (text: string) => /^\s*[[{]/.test(text);
/** Whether digits are more than a number, which would lose a zero in front of a code or the plus of a telephone number. */
const isCode = (text: string) => /^(\+|-?0\d)/.test(text.trim());
/** Whether a text is a whole number that no column of integers holds, such as that of an account with 20 digits. */
const isTooLong = (text: string) => /^-?\d+$/.test(text.trim()) && 'problem' in parseCell({ type: 'integer', nullable: false }, text);
/** Whether a time has more digits than the microseconds that the server keeps. */
const isFinerThanMicroseconds = (text: string) => /\.\d{6}\d*[1-9]/.test(text);

function typeOf(values: readonly Cell[]): ColumnType {
  const filled = values.filter((value) => value !== null && value.trim() !== '');
  if (filled.length === 0) return 'text';
  const plain = areWritten(filled) ? filled.map((value) => plainNumber(value ?? '')) : filled;
  const hasCode = plain.some((value) => isCode(value ?? '') || isTooLong(value ?? ''));
  const fits = (type: ColumnType) => plain.every((cell) => {
    const value = cell ?? '';
    if (type === 'boolean' && /^[01]$/.test(value)) return false;
    if (type === 'json' && !isDocument(value)) return false;
    if ((type === 'integer' || type === 'real') && hasCode) return false;
    if (type === 'real' && !keepsDigits(value)) return false;
    if (type === 'timestamp' && isFinerThanMicroseconds(value)) return false;
    return 'cell' in parseCell({ type, nullable: false }, value);
  });
  return TYPES.find(fits) ?? 'text';
}

/** Whether a column of a file has the name of one that the server makes itself. */
export function isSystemHeader(header: string): boolean {
  const plain = plainName(header);
  return plain === 'id' || plain === 'created_at';
}

/** Returns the columns of a file as they can be created; `null` for those that the server makes itself. */
export function columnsOf({ headers, records }: Sheet): readonly (ColumnDraft | null)[] {
  const taken: string[] = [];
  return headers.map((header, index) => {
    const plain = plainName(header).slice(0, MAX_NAME);
    if (isSystemHeader(header)) return null;
    const wanted = /^[a-z]/.test(plain) ? plain : plain === '' ? `column_${index + 1}` : `c_${plain}`;
    let name = columnNameProblem(wanted, []) === null ? wanted : `${wanted}_`;
    for (let number = 2; taken.includes(name); number += 1) name = `${wanted}_${number}`;
    taken.push(name);
    const values = records.map((record) => record[index] ?? null);
    return { name, type: typeOf(values), nullable: true, byDefault: null };
  });
}

/** Returns the name of a table for a file. */
export function tableNameOf(file: string): string {
  const plain = plainName(file.replace(/\.[^.]+$/, '')).slice(0, 48);
  return /^[a-z]/.test(plain) ? plain : plain === '' ? '' : `t_${plain}`.slice(0, 48);
}
