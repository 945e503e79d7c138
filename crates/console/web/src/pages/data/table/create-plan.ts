// The rows of a file in a table that is made for it.

import type { Column } from '../grid/cells';
import type { ColumnDraft } from './column-fields';
import { checkRecords, toCsv, type Mapping, type RefusedRow, type Sheet } from './import-plan';
import { readNumbers, type ReadNumbers } from './numbers';

/** What becomes of the columns of a file. They go by the numbers of their fields, since a name changes with every letter typed. */
export interface CreatePlan {
  readonly mapping: Mapping;
  readonly types: ReadonlyMap<string, Column>;
  readonly numbers: ReadNumbers;
  readonly refused: readonly RefusedRow[];
  /** Whether any column of the file goes into the table. */
  readonly hasColumns: boolean;
}

/** Returns the plan for a file; `fields` has the field of each of its columns. Columns without a name are left out. */
export function planOf(sheet: Sheet, fields: readonly (number | null)[], columns: readonly ColumnDraft[]): CreatePlan {
  const named = columns.flatMap(({ name, type, nullable }, index): Column[] => (name === '' ? [] : [{ name: String(index), type, nullable, system: false }]));
  const types = new Map(named.map((column) => [column.name, column]));
  const mapping = fields.map((field) => (field !== null && types.has(String(field)) ? String(field) : null));
  const numbers = readNumbers(sheet, mapping, types);
  return { mapping, types, numbers, refused: checkRecords(numbers.sheet, mapping, types), hasColumns: mapping.some((field) => field !== null) };
}

/** Returns the rows as CSV with the names that the columns have by now. */
export function rowsOf({ mapping, types, numbers }: CreatePlan, columns: readonly ColumnDraft[], left: ReadonlySet<number>): string {
  const nameOf = (field: string) => columns[Number(field)]?.name ?? '';
  const named = new Map([...types].map(([field, column]) => [nameOf(field), { ...column, name: nameOf(field) }]));
  return toCsv(numbers.sheet, mapping.map((field) => (field === null ? null : nameOf(field))), named, left);
}
