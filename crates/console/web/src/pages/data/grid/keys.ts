// The keys of the grid. None with a modifier begins to edit.

import { toast } from '#frame';
import type { Column } from './cells';
import { t } from './messages';
import type { GridModel } from './model';
import { move, tab, type Extent } from './selection';

export interface GridActions {
  readonly model: GridModel;
  readonly columns: readonly Column[];
  readonly mayEdit: boolean;
  readonly count: number;
  /** Rows that PageUp and PageDown move by. */
  readonly page: number;
  /** Edits the active cell, with a text in place of what it has. */
  readonly edit: (initial?: string) => void;
}

export function onGridKey(event: KeyboardEvent, actions: GridActions): void {
  const { model, columns, count, page } = actions;
  const selection = model.selection.peek();
  if (event.defaultPrevented && event.key !== 'Enter' && event.key !== 'Tab') return;
  const isInField = event.target instanceof Element && event.target !== event.currentTarget;
  if (isInField && model.editing.peek() === null && !isLeavingEditor(event)) return;
  if (!selection) return;
  const extent: Extent = { rows: count, columns: columns.length, page };
  const stroke = { key: event.key, shift: event.shiftKey, mod: event.ctrlKey || event.metaKey };
  const done = () => { event.preventDefault(); event.stopPropagation(); };
  if (model.editing.peek() !== null) {
    // An editor that the key could not leave keeps it. One that is not there yet gets what was typed before it.
    if (!isInField && typeAhead(event, model)) done();
    return;
  }

  if (isLeavingEditor(event)) {
    // Enter goes on below, Tab to the side, as in a spreadsheet.
    const next = event.key === 'Enter' ? move(selection, { key: 'ArrowDown', shift: false, mod: false }, extent) : tab(selection, event.shiftKey, extent);
    if (next) model.selection.value = next;
    return done();
  }
  if (event.key === 'Tab') {
    const next = stroke.mod || event.altKey ? null : tab(selection, event.shiftKey, extent);
    if (!next) return;
    model.selection.value = next;
    return done();
  }
  // The headers are above the first row.
  if (event.key === 'ArrowUp' && selection.active.row === 0 && !stroke.shift && !stroke.mod && !event.altKey) {
    focusHeader(event.currentTarget, selection.active.column);
    return done();
  }
  const moved = event.altKey ? null : move(selection, stroke, extent);
  if (moved) {
    model.selection.value = moved;
    return done();
  }
  if (stroke.mod || event.altKey) return onModified(event, actions, done);
  onPlain(event, actions, done);
}

function focusHeader(grid: EventTarget | null, column: number): void {
  if (grid instanceof Element) grid.querySelector<HTMLElement>(`[data-header="${column}"]`)?.focus();
}

/** The keys of a header: to its neighbours, and back to the cells. Enter opens its menu. */
export function onHeaderKey(event: KeyboardEvent, column: number): void {
  const grid = event.target instanceof Element ? event.target.closest<HTMLElement>('.grid') : null;
  if (event.key === 'ArrowLeft') focusHeader(grid, column - 1);
  else if (event.key === 'ArrowRight') focusHeader(grid, column + 1);
  else if (event.key === 'ArrowDown' || event.key === 'Escape') grid?.focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Whether the key has just left an editor, which has taken it. */
function isLeavingEditor(event: KeyboardEvent): boolean {
  return event.defaultPrevented && (event.key === 'Enter' || event.key === 'Tab') && event.target !== event.currentTarget;
}

/** Takes a key for an editor that is about to be drawn. Returns whether it is one that types. */
function typeAhead(event: KeyboardEvent, model: GridModel): boolean {
  const editing = model.editing.peek();
  if (!editing || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key === 'Enter') return model.commit(editing.initial) || true;
  if (event.key.length !== 1) return false;
  model.editing.value = { ...editing, initial: `${editing.initial ?? ''}${event.key}` };
  return true;
}

function onModified(event: KeyboardEvent, { model, columns, count }: GridActions, done: () => void): void {
  if (event.altKey || event.shiftKey) return;
  if (event.key === 'a') {
    model.selection.value = { active: { row: 0, column: 0 }, anchor: { row: count - 1, column: columns.length - 1 } };
    done();
  } else if (event.key === 'z') {
    void undo(model);
    done();
  }
}

function onPlain(event: KeyboardEvent, { model, columns, mayEdit, edit }: GridActions, done: () => void): void {
  const selection = model.selection.peek();
  const row = selection && model.rowAt(selection.active.row);
  const column = selection && columns[selection.active.column];
  if (!row || !column) return;
  if (event.key === 'Escape') return onEscape(model, row.id, column.name, done);
  if (event.key === 'Enter' || event.key === 'F2') {
    edit();
    return done();
  }
  if (!mayEdit) return;
  if (event.key === ' ' && event.shiftKey) {
    model.check([row.id], !model.checked.peek().has(row.id));
    done();
  } else if (event.key === 'Delete' || event.key === 'Backspace') {
    model.clear(columns);
    done();
  } else if (event.key === ' ' && column.type === 'boolean') {
    model.edit(row, column);
    model.commit(row.cells[column.name] === 'true' ? 'false' : 'true');
    done();
  } else if (event.key.length === 1 && column.type !== 'boolean') {
    edit(event.key);
    done();
  }
}

/** Gives up the change of the cell, else the selected rows, else the larger selection. */
function onEscape(model: GridModel, id: string, column: string, done: () => void): void {
  const edit = model.writer.edits.peek().get(id)?.get(column);
  const selection = model.selection.peek();
  if (edit && edit.state !== 'saving') model.writer.discard(id, column);
  else if (model.checked.peek().size > 0) model.checked.value = new Set();
  else if (selection && selection.active !== selection.anchor) model.selection.value = { active: selection.active, anchor: selection.active };
  else return;
  done();
}

/** Takes back the last write, and says what became of it. */
export async function undo(model: GridModel): Promise<void> {
  const undone = await model.writer.undo();
  if (undone === null) {
    toast(t('nothingToUndo'));
    return;
  }
  const { write, skipped } = undone;
  model.follow();
  const detail = skipped > 0 ? t('undoSkipped', { count: skipped }) : write.kind === 'delete' ? t('undoDeleteDetail') : undefined;
  toast(t(`undone_${write.kind}`), detail === undefined ? {} : { detail });
}
