// The state of one grid. Components read its signals.

import { batch, signal } from '@preact/signals';
import { onInvalidate } from '#api/resource';
import { parseCell, type Cell, type CellProblem, type Cells, type Column, type Row } from './cells';
import { planPaste, readBlock, type Refusal } from './paste';
import { PAGE_SIZE, RowWindow } from './row-window';
import { at, blockOf, shifted, type Selection } from './selection';
import type { TableRows } from './table-rows';
import type { Change, Writer } from './writer';

/** The cell that somebody is editing. */
export interface Editing {
  readonly id: string;
  readonly column: string;
  /** What it had when they began. */
  readonly base: Cell;
  /** What the editor begins with. */
  readonly initial: Cell;
  readonly problem: CellProblem | null;
  /** What somebody else wrote into it meanwhile. */
  readonly theirs?: Cell;
}

const MIN_INTERVAL = 1_000;
/** Rows that “check all” checks. */
const MAX_CHECKED = 1_000;

export class GridModel {
  /** Counts changes of the rows. */
  readonly version = signal(0);
  readonly selection = signal<Selection | null>(null);
  readonly checked = signal<ReadonlySet<string>>(new Set());
  readonly editing = signal<Editing | null>(null);
  /** Rows that the rules hide from the caller as whom one looks, and why. */
  readonly hidden = signal<ReadonlyMap<string, string>>(new Map());
  /** Rows by which the view has to scroll, since others came or went above. */
  readonly drift = signal(0);
  readonly window: RowWindow;
  /** Counts changes of what is in sight. */
  readonly looks = signal(0);
  private sight = { first: 0, end: 0 };
  private isStale = false;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private lastStart = 0;

  /** `writer` stays when the query changes, with what can be undone. */
  constructor(readonly rows: TableRows, readonly writer: Writer, readonly query: string, private readonly topic: string) {
    this.window = new RowWindow((offset, limit, counts) => rows.page(query, offset, limit, counts), () => { this.version.value += 1; });
    writer.onWritten = (id, cells) => this.window.patch(id, cells);
  }

  /** Reads, and follows what others write. Returns how to stop. */
  open(): () => void {
    const stop = onInvalidate((topics) => { if (topics === 'all' || topics.includes(this.topic)) this.follow(); });
    return () => {
      stop();
      this.window.close();
      if (this.timer !== null) clearTimeout(this.timer);
    };
  }

  /** Says which rows are in sight. */
  look(first: number, end: number): void {
    if (this.sight.first !== first || this.sight.end !== end) this.looks.value += 1;
    this.sight = { first, end };
    // What may come into sight next is read too, once it is known to be there.
    const ahead = this.window.isReady ? PAGE_SIZE : 0;
    this.window.want(Math.max(0, first - ahead), end + ahead);
  }

  get count(): number {
    return this.window.total ?? 0;
  }

  rowAt(index: number): Row | undefined {
    return this.window.at(index);
  }

  /** Reads again, at most once a second. */
  follow(): void {
    if (this.timer !== null) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.lastStart = Date.now();
      void this.refresh();
    }, Math.max(0, this.lastStart + MIN_INTERVAL - Date.now()));
  }

  /** Reads again what is in sight. While a cell is edited, nothing changes its place. */
  async refresh(): Promise<void> {
    const { first, end } = this.sight;
    if (this.editing.peek() !== null) return this.refreshInPlace();
    const selection = this.selection.peek();
    const anchored = selection && this.rowAt(selection.active.row);
    await this.window.refresh(first, Math.max(end, first + 1));
    this.isStale = false;
    const found = anchored ? this.window.indexOf(anchored.id) : -1;
    if (selection && found >= 0 && found !== selection.active.row && this.selection.peek() === selection) {
      batch(() => {
        this.drift.value += found - selection.active.row;
        this.selection.value = shifted(selection, found - selection.active.row);
      });
    }
  }

  private async refreshInPlace(): Promise<void> {
    try {
      const isSamePlace = await this.window.refreshValues(this.sight.first, this.sight.end);
      this.isStale ||= !isSamePlace;
    } catch {
      this.isStale = true;
    }
    const editing = this.editing.peek();
    const now = editing && this.rowAt(this.window.indexOf(editing.id))?.cells[editing.column];
    if (editing && now !== undefined && now !== editing.base) this.editing.value = { ...editing, theirs: now ?? null };
  }

  column(name: string): Column | undefined {
    return this.rows.columns.find((column) => column.name === name);
  }

  /** Begins to edit a cell, with `initial` in place of what it has. */
  edit(row: Row, column: Column, initial?: string): void {
    const pending = this.writer.edits.peek().get(row.id)?.get(column.name);
    const seen = pending?.state === 'conflict' ? (pending.theirs ?? null) : pending?.base;
    const base = seen === undefined ? (row.cells[column.name] ?? null) : seen;
    this.editing.value = { id: row.id, column: column.name, base, initial: initial ?? pending?.mine ?? row.cells[column.name] ?? null, problem: null };
  }

  /** Goes on with what one typed, although somebody else wrote the cell. */
  keepMine(): void {
    const editing = this.editing.peek();
    if (editing?.theirs === undefined) return;
    const { theirs, ...rest } = editing;
    this.editing.value = { ...rest, base: theirs };
  }

  /** Leaves the editor without a change. */
  leave(): void {
    this.editing.value = null;
    if (this.isStale) this.follow();
  }

  /** Takes what was typed. Returns whether the editor is left: a text that is no value of the column stays in it. */
  commit(input: Cell): boolean {
    const editing = this.editing.peek();
    const column = editing && this.column(editing.column);
    if (!editing || !column) return true;
    const parsed = parseCell(column, input);
    if ('problem' in parsed) {
      this.editing.value = { ...editing, problem: parsed.problem };
      return false;
    }
    this.leave();
    const pending = this.writer.edits.peek().get(editing.id)?.has(editing.column) ?? false;
    if (parsed.cell === editing.base) {
      if (pending) this.writer.discard(editing.id, editing.column);
      return true;
    }
    void this.write([{ id: editing.id, base: { [editing.column]: editing.base }, cells: { [editing.column]: parsed.cell } }]);
    return true;
  }

  private async write(changes: readonly Change[]): Promise<void> {
    await this.writer.write(changes);
    this.follow();
  }

  /** Sets the cells of the selection to null, or to empty text where null is not allowed. */
  clear(columns: readonly Column[]): void {
    const selection = this.selection.peek();
    if (!selection) return;
    const { top, bottom, left, right } = blockOf(selection);
    const changes: Change[] = [];
    for (let index = top; index <= bottom; index += 1) {
      const row = this.rowAt(index);
      if (!row) continue;
      const cleared = columns.slice(left, right + 1).filter(({ system, nullable, type }) => !system && (nullable || type === 'text'));
      const cells = Object.fromEntries(cleared.map(({ name, nullable }): [string, Cell] => [name, nullable ? null : '']));
      const isChange = Object.entries(cells).some(([name, cell]) => row.cells[name] !== cell);
      if (isChange) changes.push({ id: row.id, base: pick(row.cells, Object.keys(cells)), cells });
    }
    if (changes.length > 0) void this.write(changes);
  }

  /** Returns the cells of the selection, of the rows that were read. */
  copied(columns: readonly Column[]): Cell[][] {
    const selection = this.selection.peek();
    if (!selection) return [];
    const { top, bottom, left, right } = blockOf(selection);
    const block: Cell[][] = [];
    for (let index = top; index <= bottom; index += 1) {
      const row = this.rowAt(index);
      if (row) block.push(columns.slice(left, right + 1).map(({ name }) => row.cells[name] ?? null));
    }
    return block;
  }

  /** Pastes text at the selection. Resolves to the cells that their columns do not take; with any, nothing is written. */
  async paste(text: string, columns: readonly Column[]): Promise<readonly Refusal[]> {
    const selection = this.selection.peek();
    if (!selection) return [];
    const plan = planPaste(readBlock(text), selection, columns, this.count);
    if (plan.refused.length > 0) return plan.refused;
    const changes = [...plan.updates].flatMap(([index, cells]): Change[] => {
      const row = this.rowAt(index);
      return row ? [{ id: row.id, base: pick(row.cells, Object.keys(cells)), cells }] : [];
    });
    this.selection.value = plan.selection;
    if (plan.inserts.length > 0) await this.writer.insert(plan.inserts);
    await this.write(changes);
    return [];
  }

  check(ids: readonly string[], isChecked: boolean): void {
    const next = new Set(this.checked.peek());
    for (const id of ids) isChecked ? next.add(id) : next.delete(id);
    this.checked.value = next;
  }

  uncheckAll(): void {
    this.checked.value = new Set();
  }

  /** Returns the ids of those of the first rows that were read. */
  idsRead(): string[] {
    const ids: string[] = [];
    for (let index = 0; index < Math.min(this.count, MAX_CHECKED); index += 1) {
      const row = this.rowAt(index);
      if (row) ids.push(row.id);
    }
    return ids;
  }

  /** Returns the ids of the rows in sight. */
  idsAround(): string[] {
    const ids: string[] = [];
    for (let index = this.sight.first; index < this.sight.end; index += 1) {
      const row = this.rowAt(index);
      if (row) ids.push(row.id);
    }
    return ids;
  }

  select(row: number, column: number): void {
    this.selection.value = at(row, column);
  }
}

function pick(cells: Cells, names: readonly string[]): Cells {
  return Object.fromEntries(names.map((name) => [name, cells[name] ?? null]));
}
