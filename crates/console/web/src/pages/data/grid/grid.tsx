// The grid: draws the rows in sight, and turns keys and the pointer into what the model does.

import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { Schemas } from '#api/types';
import { isFocusLost, navigate, toast, toastProblem } from '#frame';
import { formatNumber } from '#i18n';
import { useVirtualRows } from '#ui';
import { widthOf, type Arranged } from './columns';
import type { Column } from './cells';
import { Header } from './header';
import { editDocument } from './document-editor';
import { onGridKey, type GridActions } from './keys';
import { t } from './messages';
import type { GridModel } from './model';
import type { Refusal } from './paste';
import { usePointer } from './pointer';
import { GridRow, ROW_HEIGHT, cellId } from './row';
import { blockOf } from './selection';
import { toDelimited } from './delimited';

const HEADER_HEIGHT = 36;
export const CHECK_WIDTH = 40;

interface GridProps {
  readonly table: Schemas['Table'];
  readonly model: GridModel;
  readonly columns: readonly Column[];
  readonly arranged: Arranged;
  readonly mayEdit: boolean;
  /** Address of a row in the panel. */
  readonly rowHref: (id: string) => string;
  readonly onRefused: (refused: readonly Refusal[]) => void;
}

export function Grid({ table, model, columns, arranged, mayEdit, rowHref, onRefused }: GridProps) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  void model.version.value;
  const count = model.count;
  const { first, end } = useVirtualRows(scroller, { count, height: ROW_HEIGHT });
  const selection = model.selection.value;
  const editing = model.editing.value;
  const edits = model.writer.edits.value;
  const checked = model.checked.value;
  const hidden = model.hidden.value;
  useEffect(() => model.look(first, end), [model, first, end, count]);
  useDrift(model, scroller);
  useFocusBack(model, scroller);
  useScrollToActive(model, scroller, columns, arranged);

  const actions: GridActions = {
    model, columns, mayEdit, count,
    page: Math.max(1, Math.floor(((scroller.current?.clientHeight ?? 600) - HEADER_HEIGHT) / ROW_HEIGHT) - 1),
    edit: (initial) => startEditing({ model, columns, mayEdit, rowHref }, initial),
  };
  const onPointer = usePointer(actions);
  const onCopy = (event: ClipboardEvent) => {
    if (isInEditor(event) || !model.selection.peek()) return;
    const block = model.copied(columns);
    event.clipboardData?.setData('text/plain', toDelimited(block, '\t'));
    event.preventDefault();
  };
  const onPaste = (event: ClipboardEvent) => {
    if (isInEditor(event) || !mayEdit || !model.selection.peek()) return;
    event.preventDefault();
    model.paste(event.clipboardData?.getData('text/plain') ?? '', columns).then(onRefused, toastProblem);
  };

  const block = selection && blockOf(selection);
  const widths = [CHECK_WIDTH, ...columns.map((column) => widthOf(arranged.state.value, column))];
  const drawn = rowsToDraw(first, end, count, [selection?.active.row, editing === null ? undefined : model.window.indexOf(editing.id)]);
  const activeId = selection && selection.active.row < count ? cellId(id, selection.active.row, selection.active.column) : undefined;
  return (
    <>
      <p id={`${id}-help`} class="hidden-text">{t('gridHelp')}</p>
      <div
        ref={scroller} class="grid" role="grid" tabIndex={0} aria-label={table.name} aria-rowcount={count + 1} aria-colcount={columns.length + 1} aria-multiselectable="true" aria-activedescendant={activeId}
        aria-describedby={`${id}-help`} aria-readonly={mayEdit ? undefined : true}
        style={{ '--grid-columns': widths.map((width) => `${width}px`).join(' '), '--grid-width': `${widths.reduce((sum, width) => sum + width, 0)}px` }}
        onFocus={() => { if (!model.selection.peek() && count > 0) model.select(0, 0); }}
        onKeyDown={(event) => onGridKey(event, actions)} onCopy={onCopy} onPaste={onPaste} {...onPointer}
      >
        <Header table={table} model={model} columns={columns} arranged={arranged} mayEdit={mayEdit} />
        <div class="grid-body" role="rowgroup" style={{ height: `${count * ROW_HEIGHT}px` }}>
          {drawn.map((index) => {
            const row = model.rowAt(index);
            const isIn = block !== null && index >= block.top && index <= block.bottom;
            return (
              <GridRow
                key={row?.id ?? index} grid={id} index={index} row={row} columns={columns} model={model} mayEdit={mayEdit}
                href={row ? rowHref(row.id) : null} isChecked={row !== undefined && checked.has(row.id)} hiddenBy={row && hidden.get(row.id)}
                active={selection?.active.row === index ? selection.active.column : -1} from={isIn ? block.left : -1} to={isIn ? block.right + 1 : -1}
                editing={row !== undefined && editing?.id === row.id ? editing : null} edits={row && edits.get(row.id)}
              />
            );
          })}
        </div>
      </div>
    </>
  );
}

/** Returns the rows in sight, and others that must not go away while one scrolls. */
function rowsToDraw(first: number, end: number, count: number, others: readonly (number | undefined)[]): number[] {
  const indexes = Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);
  for (const other of others) if (other !== undefined && other >= 0 && other < count && !indexes.includes(other)) indexes.push(other);
  return indexes;
}

function isInEditor({ target }: Event): boolean {
  return target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
}

/** Edits the active cell, in it or in a dialog, or opens its row. */
function startEditing({ model, columns, mayEdit, rowHref }: Pick<GridProps, 'model' | 'columns' | 'mayEdit' | 'rowHref'>, initial?: string): void {
  const selection = model.selection.peek();
  const row = selection && model.rowAt(selection.active.row);
  const column = selection && columns[selection.active.column];
  if (!row || !column) return;
  if (!mayEdit || column.system) {
    if (initial === undefined) void navigate(rowHref(row.id));
    else if (mayEdit && column.system) toast(t('systemColumn', { name: column.name }), { tone: 'bad' });
    return;
  }
  if (column.type === 'json') void editDocument(model, row, column);
  else model.edit(row, column, initial);
}

/** Scrolls with rows that came or went above. */
function useDrift(model: GridModel, scroller: { readonly current: HTMLElement | null }): void {
  const before = useRef(model.drift.peek());
  const drift = model.drift.value;
  useLayoutEffect(() => {
    if (scroller.current) scroller.current.scrollTop += (drift - before.current) * ROW_HEIGHT;
    before.current = drift;
  }, [drift]);
}

/** Gives the keyboard back to the grid when an editor is left. */
function useFocusBack(model: GridModel, scroller: { readonly current: HTMLElement | null }): void {
  const wasEditing = useRef(false);
  const isEditing = model.editing.value !== null;
  useLayoutEffect(() => {
    const hasNone = isFocusLost() || scroller.current?.contains(document.activeElement);
    if (wasEditing.current && !isEditing && hasNone) scroller.current?.focus({ preventScroll: true });
    wasEditing.current = isEditing;
  }, [isEditing]);
}

/** Keeps the active cell in sight. */
function useScrollToActive(model: GridModel, scroller: { readonly current: HTMLElement | null }, columns: readonly Column[], arranged: Arranged): void {
  const active = model.selection.value?.active;
  const drift = model.drift.value;
  const before = useRef(drift);
  useLayoutEffect(() => {
    const element = scroller.current;
    const hasDrifted = before.current !== drift;
    before.current = drift;
    if (!element || !active || hasDrifted) return;
    const top = active.row * ROW_HEIGHT;
    const room = element.clientHeight - HEADER_HEIGHT;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + ROW_HEIGHT > element.scrollTop + room) element.scrollTop = top + ROW_HEIGHT - room;
    if (active.column === 0) return;
    const frozen = CHECK_WIDTH + (columns[0] ? widthOf(arranged.state.peek(), columns[0]) : 0);
    const left = columns.slice(1, active.column).reduce((sum, column) => sum + widthOf(arranged.state.peek(), column), 0);
    const column = columns[active.column];
    const width = column ? widthOf(arranged.state.peek(), column) : 0;
    if (left < element.scrollLeft) element.scrollLeft = left;
    else if (left + width > element.scrollLeft + element.clientWidth - frozen) element.scrollLeft = left + width - element.clientWidth + frozen;
  }, [active?.row, active?.column]);
}

/** How many rows there are, in words. */
export function countText(count: number): string {
  return t('rowCount', { count, shown: formatNumber(count) });
}
