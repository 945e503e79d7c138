// What is selected in a grid: a rectangle of cells between an anchor and the active cell.

export interface Position {
  readonly row: number;
  readonly column: number;
}

export interface Selection {
  /** The cell that the keyboard is at. */
  readonly active: Position;
  /** The opposite corner. */
  readonly anchor: Position;
}

/** How many rows and columns there are, and rows in sight. */
export interface Extent {
  readonly rows: number;
  readonly columns: number;
  readonly page: number;
}

export interface Block {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

export function at(row: number, column: number): Selection {
  return { active: { row, column }, anchor: { row, column } };
}

/** Returns the rectangle, its edges included. */
export function blockOf({ active, anchor }: Selection): Block {
  return {
    top: Math.min(active.row, anchor.row), bottom: Math.max(active.row, anchor.row),
    left: Math.min(active.column, anchor.column), right: Math.max(active.column, anchor.column),
  };
}

export function sizeOf({ top, bottom, left, right }: Block): number {
  return (bottom - top + 1) * (right - left + 1);
}

export interface Stroke {
  readonly key: string;
  readonly shift: boolean;
  /** Ctrl or ⌘. */
  readonly mod: boolean;
}

/** Returns where a key leads from a cell, or `null` if it is none that moves. */
function target({ row, column }: Position, { key, mod }: Stroke, { rows, columns, page }: Extent): Position | null {
  switch (key) {
    case 'ArrowUp': return { row: mod ? 0 : row - 1, column };
    case 'ArrowDown': return { row: mod ? rows - 1 : row + 1, column };
    case 'ArrowLeft': return { row, column: mod ? 0 : column - 1 };
    case 'ArrowRight': return { row, column: mod ? columns - 1 : column + 1 };
    case 'Home': return { row: mod ? 0 : row, column: 0 };
    case 'End': return { row: mod ? rows - 1 : row, column: columns - 1 };
    case 'PageUp': return { row: row - page, column };
    case 'PageDown': return { row: row + page, column };
    default: return null;
  }
}

/** Returns the selection after a key: with Shift the rectangle grows, without it the cell moves. */
export function move(selection: Selection, stroke: Stroke, extent: Extent): Selection | null {
  const to = target(selection.active, stroke, extent);
  if (to === null || extent.rows === 0 || extent.columns === 0) return null;
  const active = { row: clamp(to.row, extent.rows), column: clamp(to.column, extent.columns) };
  return { active, anchor: stroke.shift ? selection.anchor : active };
}

/** Returns the cell that Tab leads to in its row, or `null` behind the last or before the first: Tab then leaves the grid. */
export function tab({ active: { row, column } }: Selection, isBack: boolean, { columns }: Extent): Selection | null {
  const next = column + (isBack ? -1 : 1);
  return next < 0 || next >= columns ? null : at(row, next);
}

/** Returns the selection as far as there are cells for it, after rows or columns went away. */
export function within(selection: Selection, { rows, columns }: Extent): Selection | null {
  if (rows === 0 || columns === 0) return null;
  const limit = ({ row, column }: Position) => ({ row: clamp(row, rows), column: clamp(column, columns) });
  return { active: limit(selection.active), anchor: limit(selection.anchor) };
}

/** Returns the selection moved by rows, after others came or went above it. */
export function shifted({ active, anchor }: Selection, by: number): Selection {
  return { active: { ...active, row: active.row + by }, anchor: { ...anchor, row: anchor.row + by } };
}

function clamp(index: number, count: number): number {
  return Math.max(0, Math.min(count - 1, index));
}
