// Where the cells of a pasted block go.

import { parseCell, type Cell, type CellProblem, type Cells, type Column } from './cells';
import { delimiterOf, readDelimited } from './delimited';
import { blockOf, type Selection } from './selection';

/** A pasted cell that its column does not take. */
export interface Refusal {
  readonly row: number;
  readonly column: number;
  readonly text: string;
  readonly problem: CellProblem | 'system';
}

export interface PastePlan {
  /** Cells to write, by the index of their row. */
  readonly updates: ReadonlyMap<number, Cells>;
  /** Rows behind the last one, which are inserted. */
  readonly inserts: readonly Cells[];
  readonly refused: readonly Refusal[];
  /** The rectangle that was pasted into. */
  readonly selection: Selection;
}

/** Reads a block from the clipboard. A comma makes a block only with several lines: one line may be a sentence. */
export function readBlock(text: string): Cell[][] {
  const delimiter = delimiterOf(text);
  const isPlain = delimiter !== '\t' && !text.trimEnd().includes('\n');
  if (isPlain) return [[text.replace(/\r?\n$/, '')]];
  const records: Cell[][] = [];
  const open = readDelimited(text, delimiter, (record) => records.push(record));
  // A single quote at the start is a character like any other.
  return open === null ? records : text.replace(/\r?\n$/, '').split(/\r?\n/).map((line) => line.split(delimiter));
}

/** Plans to paste `block` at a selection. One value fills the whole selection. */
export function planPaste(block: readonly (readonly Cell[])[], selection: Selection, columns: readonly Column[], rows: number): PastePlan {
  const { top, left, bottom, right } = blockOf(selection);
  const isFill = block.length === 1 && block[0]?.length === 1;
  const height = isFill ? bottom - top + 1 : block.length;
  const width = isFill ? right - left + 1 : Math.max(0, ...block.map((record) => record.length));
  const updates = new Map<number, Cells>();
  const inserts: Cells[] = [];
  const refused: Refusal[] = [];
  for (let y = 0; y < height; y += 1) {
    const cells: Record<string, Cell> = {};
    for (let x = 0; x < width; x += 1) {
      const column = columns[left + x];
      const input = isFill ? block[0]?.[0] : block[y]?.[x];
      if (column === undefined || input === undefined) continue;
      const refuse = (problem: Refusal['problem']) => refused.push({ row: top + y, column: left + x, text: input ?? '', problem });
      // An inserted row may have an id; what the server sets is left out of it.
      if (column.system && !(column.name === 'id' && top + y >= rows)) {
        if (top + y < rows) refuse('system');
        continue;
      }
      const parsed = parseCell(column, input);
      if ('problem' in parsed) refuse(parsed.problem);
      else if (!(column.name === 'id' && parsed.cell === '')) cells[column.name] = parsed.cell;
    }
    if (Object.keys(cells).length === 0) continue;
    if (top + y < rows) updates.set(top + y, cells);
    else inserts.push(cells);
  }
  const active = { row: top, column: left };
  const anchor = { row: Math.min(top + height, rows + inserts.length) - 1, column: Math.min(left + width, columns.length) - 1 };
  return { updates, inserts, refused, selection: { active, anchor: { row: Math.max(top, anchor.row), column: Math.max(left, anchor.column) } } };
}
