// Writes that can be taken back.

import { isSame, type Cells, type Column, type Row } from './cells';

export type Write =
  | { readonly kind: 'update'; readonly changes: readonly { readonly id: string; readonly before: Cells; readonly after: Cells }[] }
  | { readonly kind: 'insert'; readonly ids: readonly string[] }
  | { readonly kind: 'delete'; readonly rows: readonly Row[] };

/** Returns the number of rows that a write is about. */
export function extentOf(write: Write): number {
  switch (write.kind) {
    case 'update': return write.changes.length;
    case 'insert': return write.ids.length;
    case 'delete': return write.rows.length;
  }
}

/** Returns whether the cells that a write set are still as it set them: what somebody else wrote is not taken back. */
export function isStillSo(columns: readonly Column[], after: Cells, now: Cells): boolean {
  return columns.every(({ name, type }) => !(name in after) || isSame(type, after[name] ?? null, now[name] ?? null));
}

const MAX_KEPT = 50;

/** The latest writes, the last one first to be taken back. */
export class UndoStack {
  private readonly writes: Write[] = [];

  push(write: Write): void {
    if (extentOf(write) === 0) return;
    this.writes.push(write);
    if (this.writes.length > MAX_KEPT) this.writes.shift();
  }

  pop(): Write | undefined {
    return this.writes.pop();
  }

  get size(): number {
    return this.writes.length;
  }
}
