// One row of the grid. It is drawn again only if something in it changes.

import { Component } from 'preact';
import { formatNumber } from '#i18n';
import { Icon, ProblemText } from '#ui';
import { CellEditor } from './cell-editor';
import type { Cell, Column, ColumnType, Row } from './cells';
import type { Edit, RowEdits } from './edits';
import { t } from './messages';
import type { Editing, GridModel } from './model';

export const ROW_HEIGHT = 33;
const MAX_SHOWN = 300;

export interface GridRowProps {
  readonly grid: string;
  readonly index: number;
  readonly row: Row | undefined;
  readonly columns: readonly Column[];
  readonly model: GridModel;
  readonly href: string | null;
  readonly isChecked: boolean;
  /** Why the rules hide it from the caller as whom one looks. */
  readonly hiddenBy: string | undefined;
  readonly mayEdit: boolean;
  /** The active column of this row; -1 if the active cell is in another one. */
  readonly active: number;
  /** Columns of this row in the selected rectangle: from, and behind the last. */
  readonly from: number;
  readonly to: number;
  readonly editing: Editing | null;
  readonly edits: RowEdits | undefined;
}

export function cellId(grid: string, row: number, column: number): string {
  return `${grid}-${row}-${column}`;
}

export class GridRow extends Component<GridRowProps> {
  override shouldComponentUpdate(next: GridRowProps): boolean {
    const names = Object.keys(next) as (keyof GridRowProps)[];
    return names.some((name) => next[name] !== this.props[name]);
  }

  override render({ grid, index, row, columns, model, href, isChecked, hiddenBy, mayEdit, active, from, to, editing, edits }: GridRowProps) {
    // An editor and notes reach over the rows below.
    const isRaised = editing !== null || (active >= 0 && edits !== undefined);
    const rowClasses = ['grid-row', isChecked && 'is-checked', hiddenBy !== undefined && 'is-hidden', isRaised && 'is-raised'].filter(Boolean).join(' ');
    return (
      <div class={rowClasses} title={hiddenBy} role="row" aria-rowindex={index + 2} aria-selected={isChecked} style={{ top: `${index * ROW_HEIGHT}px` }} data-row={index}>
        <div class="grid-check" role="gridcell">
          {row && mayEdit && <input type="checkbox" class="checkbox" tabIndex={-1} aria-label={t('checkRow', { id: row.id })} checked={isChecked} onChange={() => model.check([row.id], !isChecked)} />}
          {!mayEdit && <span class="grid-number">{formatNumber(index + 1)}</span>}
        </div>
        {columns.map((column, position) => {
          const edit = edits?.get(column.name);
          const isEdited = editing !== null && editing.column === column.name;
          const isSelected = position >= from && position < to;
          const classes = ['grid-cell', `grid-${column.type}`, position === 0 && 'is-frozen', position === active && 'is-active', isSelected && 'is-selected', edit && `is-${edit.state}`].filter(Boolean).join(' ');
          return (
            <div key={column.name} id={cellId(grid, index, position)} class={classes} role="gridcell" aria-colindex={position + 2} aria-readonly={column.system || !mayEdit || undefined} aria-invalid={edit?.state === 'refused' || edit?.state === 'conflict' || undefined} data-column={position}>
              {row === undefined ? <span class="grid-pending" /> : <Value column={column} cell={edit === undefined ? (row.cells[column.name] ?? null) : edit.mine} />}
              {column.name === 'id' && hiddenBy !== undefined && <span class="hidden-text">{hiddenBy}</span>}
              {column.name === 'id' && href !== null && <a class="grid-open" href={href} tabIndex={-1} aria-label={t('openRow')} data-tip={t('openRow')}><Icon name="panel" /></a>}
              {position === active && edit !== undefined && !isEdited && <Note edit={edit} model={model} id={row?.id ?? ''} column={column} />}
              {isEdited && <CellEditor key={`${editing.id} ${editing.column}`} model={model} column={column} editing={editing} />}
            </div>
          );
        })}
      </div>
    );
  }
}

/** A value as it is read: null and empty text are not the same. */
export function Value({ column: { type }, cell }: { column: Pick<Column, 'type'>; cell: Cell }) {
  if (cell === null) return <span class="grid-null">null</span>;
  if (cell === '') return <span class="grid-null">{t('emptyText')}</span>;
  return <span class="grid-value">{valueText(type, cell)}</span>;
}

function valueText(type: ColumnType, cell: string): string {
  if (type === 'timestamp') return cell.replace('T', ' ').replace(/(\.\d*?)0*Z$/, '$1').replace(/\.?Z?$/, '');
  const shown = cell.length > MAX_SHOWN ? `${cell.slice(0, MAX_SHOWN)}…` : cell;
  return shown.replace(/\s*\n/g, ' ↵ ');
}

/** What is wrong with the active cell, and what one can do about it. */
function Note({ edit, model, id, column }: { edit: Edit; model: GridModel; id: string; column: Column }) {
  if (edit.state === 'saving') return null;
  return (
    <div class="grid-note" role="alert">
      {edit.state === 'conflict' && (
        <>
          <p>{t('conflict')}</p>
          <dl><div><dt>{t('theirs')}</dt><dd><Value column={column} cell={edit.theirs ?? null} /></dd></div><div><dt>{t('mine')}</dt><dd><Value column={column} cell={edit.mine} /></dd></div></dl>
          <div class="grid-note-actions">
            <button type="button" class="button button-quiet button-small" onClick={() => model.writer.discard(id, column.name)}>{t('keepTheirs')}</button>
            <button type="button" class="button button-primary button-small" onClick={() => void model.writer.overwrite(id, column.name)}>{t('saveMine')}</button>
          </div>
          <small>{t('conflictKeys')}</small>
        </>
      )}
      {edit.state === 'refused' && (
        <>
          <p>{edit.problem?.code === 'row_gone' ? t('rowGone') : <ProblemText text={edit.problem?.message ?? ''} />}</p>
          {edit.problem?.hint && <small><ProblemText text={edit.problem.hint} /></small>}
          <small>{t('refusedKeys')}</small>
        </>
      )}
    </div>
  );
}
