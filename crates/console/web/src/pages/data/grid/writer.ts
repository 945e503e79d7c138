// Writes of cells: one after the other for a row, a few rows at once, and never over what somebody else wrote meanwhile.

import { signal } from '@preact/signals';
import { Problem, asProblem } from '#api/problem';
import { isSame, type Cell, type Cells, type Row } from './cells';
import { withEdit, type Edit, type Edits } from './edits';
import type { TableRows } from './table-rows';
import { UndoStack, isStillSo, type Write } from './undo';

/** Cells of one row to write, and what the person saw there. */
export interface Change {
  readonly id: string;
  readonly base: Cells;
  readonly cells: Cells;
}

export interface Progress {
  readonly done: number;
  readonly all: number;
}

const AT_ONCE = 4;
const MAX_ATTEMPTS = 4;

/** Runs `task` for each item, a few at once. */
async function forEach<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  const work = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await task(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

export class Writer {
  readonly edits = signal<Edits>(new Map());
  /** How far a write of several rows has come. */
  readonly progress = signal<Progress | null>(null);
  readonly undoable = signal(0);
  private readonly undoStack = new UndoStack();
  private readonly queues = new Map<string, Promise<unknown>>();

  /** Shows cells that were written, in the rows that are shown now. */
  onWritten: (id: string, cells: Cells) => void = () => undefined;

  constructor(private readonly rows: TableRows) {}

  private setEdit(id: string, column: string, edit: Edit | null): void {
    this.edits.value = withEdit(this.edits.peek(), id, column, edit);
  }

  private setEdits({ id, base, cells }: Change, edit: Omit<Edit, 'base' | 'mine' | 'theirs'>): void {
    for (const [column, mine] of Object.entries(cells)) this.setEdit(id, column, { base: base[column] ?? null, mine, ...edit });
  }

  private remember(write: Write): void {
    this.undoStack.push(write);
    this.undoable.value = this.undoStack.size;
  }

  /** Runs `task` after the earlier ones of the same row. */
  private inTurn<T>(id: string, task: () => Promise<T>): Promise<T> {
    const before = this.queues.get(id) ?? Promise.resolve();
    const run = before.then(task, task);
    this.queues.set(id, run.catch(() => undefined));
    return run;
  }

  /** Writes cells. Those that are refused or in conflict stay marked. Resolves to those that were written. */
  async write(changes: readonly Change[], { isUndo = false } = {}): Promise<readonly Change[]> {
    for (const change of changes) this.setEdits(change, { state: 'saving' });
    const written: Change[] = [];
    const counted = changes.length > 1;
    if (counted) this.progress.value = { done: 0, all: changes.length };
    await forEach(changes, async (change) => {
      const isDone = await this.inTurn(change.id, () => this.writeRow(change)).catch((error: unknown) => {
        this.setEdits(change, { state: 'refused', problem: asProblem(error) });
        return false;
      });
      if (isDone) written.push(change);
      const progress = this.progress.peek();
      if (counted && progress) this.progress.value = { ...progress, done: progress.done + 1 };
    });
    if (counted) this.progress.value = null;
    if (!isUndo) this.remember({ kind: 'update', changes: written.map(({ id, base, cells }) => ({ id, before: base, after: cells })) });
    return written;
  }

  private async writeRow(change: Change): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      const now = await this.rows.fresh(change.id);
      if (now === null) throw new Problem(404, 'row_gone', 'The row is gone.');
      if (this.markConflicts(change, now)) return false;
      try {
        await this.rows.update(now, change.cells);
        break;
      } catch (error) {
        // Somebody wrote the row between the two requests, perhaps another cell of it.
        if (asProblem(error).status !== 412 || attempt >= MAX_ATTEMPTS) throw error;
      }
    }
    this.onWritten(change.id, change.cells);
    for (const column of Object.keys(change.cells)) this.setEdit(change.id, column, null);
    return true;
  }

  /** Marks cells whose value is neither what the person saw nor what they want. Returns whether there are any. */
  private markConflicts({ id, base, cells }: Change, now: Row): boolean {
    const conflicts = this.rows.columns.flatMap(({ name, type }) => {
      const [mine, theirs, seen] = [cells[name], now.cells[name] ?? null, base[name] ?? null];
      return mine === undefined || isSame(type, theirs, seen) || isSame(type, theirs, mine) ? [] : [{ name, mine, theirs, seen }];
    });
    if (conflicts.length === 0) return false;
    this.onWritten(id, now.cells);
    for (const column of Object.keys(cells)) this.setEdit(id, column, null);
    for (const { name, mine, theirs, seen } of conflicts) this.setEdit(id, name, { base: seen, mine, theirs, state: 'conflict' });
    return true;
  }

  /** Gives up a change that was refused or is in conflict. */
  discard(id: string, column: string): void {
    this.setEdit(id, column, null);
  }

  discardAll(): void {
    for (const [id, ofRow] of this.edits.peek()) for (const [column, { state }] of ofRow) if (state !== 'saving') this.setEdit(id, column, null);
  }

  /** Writes a cell over what somebody else wrote. */
  async overwrite(id: string, column: string): Promise<void> {
    const edit = this.edits.peek().get(id)?.get(column);
    if (edit) await this.write([{ id, base: { [column]: edit.theirs ?? edit.base }, cells: { [column]: edit.mine } }]);
  }

  async insert(list: readonly Cells[]): Promise<readonly string[]> {
    const ids = await this.rows.insert(list);
    this.remember({ kind: 'insert', ids });
    return ids;
  }

  /** Deletes rows one by one. Resolves to those that are gone, and the problem of the first that is not. */
  async remove(ids: readonly string[], { isUndo = false } = {}): Promise<{ readonly removed: readonly string[]; readonly problem: unknown }> {
    const known = isUndo ? new Map<string, Row>() : await this.rows.byId(ids);
    const removed: string[] = [];
    let problem: unknown = null;
    this.progress.value = { done: 0, all: ids.length };
    await forEach(ids, async (id) => {
      try {
        await this.inTurn(id, () => this.rows.remove(id));
        removed.push(id);
      } catch (error) {
        if (asProblem(error).status === 404) removed.push(id);
        else problem ??= error;
      }
      this.progress.value = { done: removed.length, all: ids.length };
    });
    this.progress.value = null;
    if (!isUndo) this.remember({ kind: 'delete', rows: removed.flatMap((id) => known.get(id) ?? []) });
    return { removed, problem };
  }

  /** Takes back the last write. Resolves to it, and how many of its rows somebody else has changed since. */
  async undo(): Promise<{ readonly write: Write; readonly skipped: number } | null> {
    const write = this.undoStack.pop();
    this.undoable.value = this.undoStack.size;
    if (write === undefined) return null;
    return { write, skipped: await this.takeBack(write) };
  }

  private async takeBack(write: Write): Promise<number> {
    switch (write.kind) {
      case 'insert': {
        const { removed } = await this.remove(write.ids, { isUndo: true });
        return write.ids.length - removed.length;
      }
      case 'delete': {
        await this.rows.insert(write.rows.map(({ cells }) => this.writable(cells)));
        return 0;
      }
      case 'update': {
        const now = await this.rows.byId(write.changes.map(({ id }) => id));
        const same = write.changes.filter(({ id, after }) => isStillSo(this.rows.columns, after, now.get(id)?.cells ?? {}));
        const written = await this.write(same.map(({ id, before, after }) => ({ id, base: after, cells: before })), { isUndo: true });
        return write.changes.length - written.length;
      }
    }
  }

  /** Returns what may be sent of a row that was read: its id, and all that the server does not set. */
  private writable(cells: Cells): Cells {
    const names = this.rows.columns.filter(({ name, system }) => !system || name === 'id').map(({ name }) => name);
    return Object.fromEntries(names.map((name): [string, Cell] => [name, cells[name] ?? null]));
  }
}
