// Numbers as spreadsheets write them for people: `1 234,50`. A column is read so only if all of its values say the same.

import type { Cell, Column } from '../grid/cells';
import type { Mapping, Sheet } from './import-plan';

/** Digits, in groups by spaces, apostrophes or points, and a part after a comma. */
const WRITTEN = /^[+-]?(?:\d+|\d{1,3}(?:[ \u00a0\u202f'’.]\d{3})+)(?:,(\d+))?$/;
/** What groups digits and is never a decimal sign. */
const GROUPED = /\d[ \u00a0\u202f'’]\d/;
const PLAIN = /^[+-]?\d+(?:\.\d+)?$/;

/**
 * Whether values are numbers for people, and cannot be other numbers. `1,234` alone may be a thousand or one and a part, and `1.234`
 * is taken as it stands.
 */
export function areWritten(values: readonly Cell[]): boolean {
  const texts = values.filter((value) => value !== null).map((value) => value.trim()).filter((value) => value !== '');
  if (texts.every((text) => PLAIN.test(text))) return false;
  if (!texts.every((text) => WRITTEN.test(text))) return false;
  // Where spaces or apostrophes make the groups, a point is the decimal sign: `1 200` beside `1.500`.
  if (texts.some((text) => GROUPED.test(text)) && texts.some((text) => text.includes('.'))) return false;
  return texts.some((text) => {
    const decimals = WRITTEN.exec(text)?.[1];
    return GROUPED.test(text) || (decimals !== undefined && (decimals.length !== 3 || /\.\d{3},/.test(text)));
  });
}

/** Whether a number of 64 bits, which a column of reals has, keeps the digits of a text. */
export function keepsDigits(text: string): boolean {
  const digits = (number: string) => number.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+|0+$/g, '');
  return digits(text) === digits(String(Number(text)));
}

/** Returns a number for people as programs write it. */
export function plainNumber(text: string): string {
  return text.trim().replace(/[ \u00a0\u202f'’.]/g, '').replace(',', '.');
}

/** How the numbers of a file are read. */
export interface ReadNumbers {
  /** The file with its numbers as programs write them. */
  readonly sheet: Sheet;
  /** Columns that had numbers for people. */
  readonly read: readonly string[];
  /** Columns of reals that do not keep all digits. */
  readonly rounded: readonly string[];
}

/** Reads numbers for people in columns of the file that go into columns of numbers. */
export function readNumbers(sheet: Sheet, mapping: Mapping, columns: ReadonlyMap<string, Column>): ReadNumbers {
  const typeAt = (position: number) => columns.get(mapping[position] ?? '')?.type;
  const cellsAt = (position: number) => sheet.records.map((record) => record[position] ?? null);
  const positions = [...mapping.keys()].filter((position) => typeAt(position) === 'real' || typeAt(position) === 'integer');
  const written = positions.filter((position) => areWritten(cellsAt(position)));
  const isRounded = (position: number) => cellsAt(position).some((cell) => {
    const text = cell === null ? '' : written.includes(position) ? plainNumber(cell) : cell.trim();
    return text !== '' && Number.isFinite(Number(text)) && !keepsDigits(text);
  });
  const rounded = positions.filter((position) => typeAt(position) === 'real' && isRounded(position));
  const nameAt = (position: number) => mapping[position] ?? '';
  const records = written.length === 0 ? sheet.records : sheet.records.map((record) => record.map((cell, position) => (cell !== null && written.includes(position) ? plainNumber(cell) : cell)));
  return { sheet: { ...sheet, records }, read: written.map(nameAt), rounded: rounded.map(nameAt) };
}
