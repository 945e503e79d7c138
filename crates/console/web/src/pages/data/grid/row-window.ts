// The rows of a table, of which only pages around those in sight are read and kept.

import type { Cells, Row } from './cells';

export interface RowPage {
  readonly rows: readonly Row[];
  /** Number of rows that the filters select, if it was asked for. */
  readonly total: number | null;
}

export type ReadPage = (offset: number, limit: number, counts: boolean) => Promise<RowPage>;

export const PAGE_SIZE = 100;
const MAX_PAGES = 60;

interface Page {
  rows: readonly Row[];
  isOld: boolean;
  lastUse: number;
}

export class RowWindow {
  total: number | null = null;
  error: unknown = null;
  private readonly pages = new Map<number, Page>();
  private readonly reading = new Set<number>();
  private uses = 0;
  private isClosed = false;

  constructor(private readonly read: ReadPage, private readonly onChange: () => void) {}

  close(): void {
    this.isClosed = true;
  }

  /** Whether it is known how many rows there are. */
  get isReady(): boolean {
    return this.total !== null;
  }

  at(index: number): Row | undefined {
    return this.pages.get(Math.floor(index / PAGE_SIZE))?.rows[index % PAGE_SIZE];
  }

  /** Returns the index of a row that was read, or -1. */
  indexOf(id: string): number {
    for (const [number, { rows }] of this.pages) {
      const found = rows.findIndex((row) => row.id === id);
      if (found >= 0) return number * PAGE_SIZE + found;
    }
    return -1;
  }

  /** Sees to it that the rows from `first` up to `end` are read. */
  want(first: number, end: number): void {
    const last = Math.floor(Math.max(first, Math.min(end, this.total ?? end) - 1) / PAGE_SIZE);
    for (let number = Math.floor(first / PAGE_SIZE); number <= last; number += 1) {
      const page = this.pages.get(number);
      if (page) page.lastUse = (this.uses += 1);
      if (!page || page.isOld) void this.load(number);
    }
  }

  private async load(number: number, counts = this.total === null): Promise<void> {
    if (this.reading.has(number) || this.error !== null) return;
    this.reading.add(number);
    try {
      this.put(number, await this.read(number * PAGE_SIZE, PAGE_SIZE, counts));
    } catch (error) {
      this.error = error;
    } finally {
      this.reading.delete(number);
    }
    if (!this.isClosed) this.onChange();
  }

  private put(number: number, { rows, total }: RowPage): void {
    const before = this.pages.get(number)?.rows;
    this.pages.set(number, { rows: keepEqual(before, rows), isOld: false, lastUse: (this.uses += 1) });
    if (total !== null) this.total = total;
    this.dropUnused();
  }

  private dropUnused(): void {
    if (this.pages.size <= MAX_PAGES) return;
    const byUse = [...this.pages].sort(([, a], [, b]) => a.lastUse - b.lastUse);
    for (const [number] of byUse.slice(0, this.pages.size - MAX_PAGES)) this.pages.delete(number);
  }

  /** Reads again what is in sight, and marks everything else as old. */
  async refresh(first: number, end: number): Promise<void> {
    this.error = null;
    const from = Math.floor(first / PAGE_SIZE);
    const to = Math.floor(Math.max(first, end - 1) / PAGE_SIZE);
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    try {
      const read = await Promise.all(numbers.map((number) => this.read(number * PAGE_SIZE, PAGE_SIZE, number === from)));
      for (const page of this.pages.values()) page.isOld = true;
      read.forEach((page, index) => this.put(from + index, page));
      this.dropBehind();
    } catch (error) {
      this.error = error;
    }
    if (!this.isClosed) this.onChange();
  }

  /** Rows behind the last one are gone. */
  private dropBehind(): void {
    const total = this.total ?? 0;
    for (const number of [...this.pages.keys()]) if (number * PAGE_SIZE >= total) this.pages.delete(number);
  }

  /** Takes over newer values of rows, each in its place. Returns whether all of them are where they were. */
  async refreshValues(first: number, end: number): Promise<boolean> {
    const from = Math.floor(first / PAGE_SIZE) * PAGE_SIZE;
    const limit = Math.min(1_000, Math.ceil((end - from) / PAGE_SIZE) * PAGE_SIZE);
    const { rows, total } = await this.read(from, limit, true);
    const isSamePlace = total === this.total && rows.every((row, index) => this.at(from + index)?.id === row.id);
    const byId = new Map(rows.map((row) => [row.id, row]));
    this.replace((row) => byId.get(row.id) ?? row);
    return isSamePlace;
  }

  /** Changes cells of one row in its place. */
  patch(id: string, cells: Cells): void {
    this.replace((row) => (row.id === id ? { ...row, cells: { ...row.cells, ...cells } } : row));
  }

  private replace(change: (row: Row) => Row): void {
    for (const page of this.pages.values()) page.rows = keepEqual(page.rows, page.rows.map(change));
    if (!this.isClosed) this.onChange();
  }
}

/** Keeps the objects of rows that have not changed, so that they are not drawn again. */
function keepEqual(before: readonly Row[] | undefined, after: readonly Row[]): readonly Row[] {
  if (before === undefined) return after;
  const known = new Map(before.map((row) => [row.id, row]));
  return after.map((row) => {
    const old = known.get(row.id);
    return old !== undefined && isEqual(old.cells, row.cells) ? old : row;
  });
}

function isEqual(a: Cells, b: Cells): boolean {
  const names = Object.keys(b);
  return names.length === Object.keys(a).length && names.every((name) => a[name] === b[name]);
}
