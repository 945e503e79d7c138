// Text with delimiters: CSV of files, and what spreadsheets put on the clipboard.
//
// As in the API, nothing between two delimiters is null and `""` is empty text; an unquoted `NULL` is null too.

import type { Cell } from './cells';

export type Delimiter = ',' | ';' | '\t';

/** Where a record begins, and whether there is nothing in it: an empty line, or one of delimiters only. */
export interface Place {
  readonly line: number;
  readonly isBlank: boolean;
}

/** Calls `onRecord` with each record. Returns the line on which quotes are left open, or `null`. */
export function readDelimited(text: string, delimiter: Delimiter, onRecord: (record: Cell[], place: Place) => void): number | null {
  let record: Cell[] = [];
  let isBlank = true;
  let start = 1;
  let position = 0;
  let line = 1;
  const end = text.length;
  while (position < end) {
    let cell: Cell;
    if (text[position] === '"') {
      isBlank = false;
      const closing = closingQuote(text, position + 1);
      if (closing < 0) return line;
      const quoted = text.slice(position + 1, closing);
      line += countLineBreaks(quoted);
      cell = quoted.replaceAll('""', '"');
      position = closing + 1;
      // What follows the quotes belongs to them, as spreadsheets read it.
      const rest = endOfPlain(text, position, delimiter);
      cell += text.slice(position, rest);
      position = rest;
    } else {
      const rest = endOfPlain(text, position, delimiter);
      const plain = text.slice(position, rest);
      if (plain !== '') isBlank = false;
      cell = plain === '' || plain === 'NULL' ? null : plain;
      position = rest;
    }
    record.push(cell);
    if (text[position] === delimiter) {
      position += 1;
      // A delimiter at the very end is followed by one more cell.
      if (position < end) continue;
      record.push(null);
    }
    if (text[position] === '\r') position += 1;
    if (text[position] === '\n') position += 1;
    line += 1;
    onRecord(record, { line: start, isBlank });
    record = [];
    isBlank = true;
    start = line;
  }
  return null;
}

function closingQuote(text: string, from: number): number {
  let position = text.indexOf('"', from);
  while (position >= 0 && text[position + 1] === '"') position = text.indexOf('"', position + 2);
  return position;
}

function endOfPlain(text: string, from: number, delimiter: Delimiter): number {
  let position = from;
  while (position < text.length) {
    const character = text[position];
    if (character === delimiter || character === '\n' || character === '\r') break;
    position += 1;
  }
  return position;
}

/** Counts the line breaks of a text as the server does: `\n`, `\r\n` and `\r`. */
export function countLineBreaks(text: string): number {
  return text.match(/\r\n?|\n/g)?.length ?? 0;
}

/** Returns the delimiter of a text, by the first line that is not empty. */
export function delimiterOf(text: string): Delimiter {
  const first = text.slice(0, 10_000).replace(/^[\r\n]+/, '').split(/[\r\n]/, 1)[0] ?? '';
  const count = (delimiter: Delimiter) => first.split(delimiter).length;
  if (first.includes('\t')) return '\t';
  return count(';') > count(',') ? ';' : ',';
}

/** Returns cells as text with delimiters. */
export function toDelimited(rows: readonly (readonly Cell[])[], delimiter: Delimiter): string {
  return rows.map((row) => row.map((cell) => quoted(cell, delimiter)).join(delimiter)).join('\n');
}

function quoted(cell: Cell, delimiter: Delimiter): string {
  if (cell === null) return '';
  const needsQuotes = cell === '' || cell === 'NULL' || cell.startsWith('"') || cell.includes(delimiter) || /[\n\r]/.test(cell) || (delimiter !== '\t' && cell.includes('"'));
  return needsQuotes ? `"${cell.replaceAll('"', '""')}"` : cell;
}
