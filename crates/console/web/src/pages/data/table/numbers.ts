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
  return texts.some((text) => {
    const decimals = WRITTEN.exec(text)?.[1];
    return GROUPED.test(text) || (decimals !== undefined && (decimals.length !== 3 || /\.\d{3},/.test(text)));
  });
}

/** Returns a number for people as programs write it. */
export function plainNumber(text: string): string {
  return text.trim().replace(/[ \u00a0\u202f'’.]/g, '').replace(',', '.');
}

/** Reads such columns of a file that go into columns of numbers. Returns the names of those that were. */
export function readNumbers(sheet: Sheet, mapping: Mapping, columns: ReadonlyMap<string, Column>): { readonly sheet: Sheet; readonly read: readonly string[] } {
  const positions = mapping.flatMap((name, position) => {
    const type = name === null ? undefined : columns.get(name)?.type;
    return (type === 'real' || type === 'integer') && areWritten(sheet.records.map((record) => record[position] ?? null)) ? [position] : [];
  });
  if (positions.length === 0) return { sheet, read: [] };
  const records = sheet.records.map((record) => record.map((cell, position) => (cell !== null && positions.includes(position) ? plainNumber(cell) : cell)));
  return { sheet: { ...sheet, records }, read: positions.map((position) => mapping[position] ?? '') };
}
