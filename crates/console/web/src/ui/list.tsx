// A list as a table: rows that the keyboard walks through, selection, pages as one scrolls.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { List as ListData } from '#api/list';
import { useCommands } from '#frame/commands';
import { navigate } from '#frame/router';
import { Button } from './button';
import { ProblemView, Skeleton } from './feedback';
import { Icon } from './icon';
import { CHUNK, Chunk, useColumnWidths } from './list-chunks';
import { t } from './messages';

export interface Column<T> {
  readonly key: string;
  readonly header: string;
  readonly cell: (item: T) => ComponentChildren;
  /** `end` for numbers. */
  readonly align?: 'end';
  /** Grows into what is left. */
  readonly isMain?: boolean;
  /** Leaves the column out where there is little room. */
  readonly hide?: 'tablet' | 'phone';
}

export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly onChange: (ids: ReadonlySet<string>) => void;
  /** Buttons of the bar that appears with a selection. */
  readonly actions: ComponentChildren;
}

interface ListProps<T> {
  readonly label: string;
  readonly list: ListData<T>;
  readonly columns: readonly Column<T>[];
  readonly id: (item: T) => string;
  /** Address of the item, which a click on its row or Enter opens. */
  readonly href?: (item: T) => string;
  /** Whether the item is the one in the panel. */
  readonly isCurrent?: (item: T) => boolean;
  readonly selection?: Selection;
  /** What is shown if there is nothing. */
  readonly empty: ComponentChildren;
}

/** Of a list with more rows, the columns keep their widths. */
const LONG = 2 * CHUNK;

export function List<T>({ label, list, columns, id, href, isCurrent, selection, empty }: ListProps<T>) {
  const [active, setActive] = useState(-1);
  const table = useRef<HTMLTableElement>(null);
  const { items } = list;
  const widths = useColumnWidths(table, items.length > LONG);
  const rowAt = (index: number) => table.current?.querySelector<HTMLTableRowElement>(`tr[data-index="${index}"]`) ?? null;
  const focus = (index: number) => {
    const next = Math.max(0, Math.min(items.length - 1, index));
    setActive(next);
    // Its part may have to be drawn first.
    if (rowAt(next)) rowAt(next)?.focus();
    else requestAnimationFrame(() => rowAt(next)?.focus());
    if (next >= items.length - 3) list.loadMore();
  };
  /** Moves the focus; with a panel open, opens the next item in it. */
  const step = (by: 1 | -1) => {
    const current = isCurrent ? items.findIndex(isCurrent) : -1;
    if (current < 0) focus(active + by);
    else open(items[current + by]);
  };
  const open = (item: T | undefined) => { if (item !== undefined && href) void navigate(href(item)); };
  const toggle = (item: T | undefined) => {
    if (item === undefined || !selection) return;
    const ids = new Set(selection.ids);
    if (!ids.delete(id(item))) ids.add(id(item));
    selection.onChange(ids);
  };
  const isAnywhere = () => items.length > 0;
  const isOnRow = () => document.activeElement instanceof HTMLTableRowElement && table.current?.contains(document.activeElement) === true;
  useCommands([
    { id: 'list.next', label: t('nextRow'), keys: 'j', group: t('groupList'), isHidden: true, when: isAnywhere, run: () => step(1) },
    { id: 'list.previous', label: t('previousRow'), keys: 'k', group: t('groupList'), isHidden: true, when: isAnywhere, run: () => step(-1) },
    { id: 'list.down', label: t('nextRow'), keys: 'arrowdown', group: t('groupList'), isHidden: true, when: isOnRow, run: () => focus(active + 1) },
    { id: 'list.up', label: t('previousRow'), keys: 'arrowup', group: t('groupList'), isHidden: true, when: isOnRow, run: () => focus(active - 1) },
    { id: 'list.open', label: t('openRow'), keys: 'enter', group: t('groupList'), isHidden: true, when: isOnRow, run: () => open(items[active]) },
    { id: 'list.select', label: t('selectRow'), keys: 'x', group: t('groupList'), isHidden: true, when: () => selection !== undefined && isOnRow(), run: () => toggle(items[active]) },
    { id: 'list.clear', label: t('clearSelection'), keys: 'escape', group: t('groupList'), isHidden: true, when: () => (selection?.ids.size ?? 0) > 0, run: () => selection?.onChange(new Set()) },
  ]);

  if (!list.isComplete) return list.error ? <ProblemView problem={list.error} onRetry={list.refresh} /> : <Skeleton lines={8} />;
  if (items.length === 0) return <>{empty}</>;
  const row = (item: T, index: number) => (
    <tr
      key={id(item)} data-index={index} tabIndex={index === Math.max(0, active) ? 0 : -1} aria-selected={selection ? selection.ids.has(id(item)) : undefined}
      class={`${href ? 'is-link' : ''} ${isCurrent?.(item) ? 'is-current' : ''}`}
      onFocus={() => setActive(index)}
      onClick={(event) => onRowClick(event, () => open(item))}
    >
      {selection && <td class="list-check"><input type="checkbox" class="checkbox" aria-label={t('select')} checked={selection.ids.has(id(item))} tabIndex={-1} onChange={() => toggle(item)} /></td>}
      {columns.map((column) => (
        <td key={column.key} class={cellClass(column)} data-label={column.header}>
          {column.isMain && href ? <a class="list-link" href={href(item)} tabIndex={-1}>{column.cell(item)}</a> : column.cell(item)}
        </td>
      ))}
    </tr>
  );
  return (
    <div class="list">
      <Held list={list} />
      <table class={`table list-table ${widths ? 'has-widths' : ''}`} ref={table}>
        <caption class="hidden-text">{label}</caption>
        {widths && <colgroup>{widths.map((width, index) => <col key={index} width={width} />)}</colgroup>}
        <thead>
          <tr>
            {selection && <th class="list-check"><SelectAll items={items.map(id)} selection={selection} /></th>}
            {columns.map((column) => (column.header === '' ? <td key={column.key} class={cellClass(column)} /> : <th key={column.key} scope="col" class={cellClass(column)}>{column.header}</th>))}
          </tr>
        </thead>
        {chunksOf(items).map((chunk, part) => (
          <Chunk key={part} index={part} count={chunk.length} columns={columns.length + (selection ? 1 : 0)} isPinned={Math.floor(Math.max(0, active) / CHUNK) === part}>
            {() => chunk.map((item, within) => row(item, part * CHUNK + within))}
          </Chunk>
        ))}
      </table>
      <Foot label={label} list={list} />
      {selection && selection.ids.size > 0 && <BulkBar selection={selection} />}
    </div>
  );
}

function chunksOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, index) => items.slice(index * CHUNK, (index + 1) * CHUNK));
}

function cellClass<T>({ align, isMain, hide }: Column<T>): string {
  return [align === 'end' && 'is-end', isMain && 'is-main', hide && `hide-${hide}`].filter(Boolean).join(' ');
}

/** Opens the row, unless something in it was meant or text was selected. */
function onRowClick(event: MouseEvent, open: () => void): void {
  const isInner = event.target instanceof Element && event.target.closest('a, button, input, label') !== null;
  if (isInner || (getSelection()?.toString() ?? '') !== '') return;
  open();
}

function Held<T>({ list }: { list: ListData<T> }) {
  const count = list.held.length;
  return (
    <div class="list-held" aria-live="polite">
      {count > 0 && <button type="button" onClick={list.showHeld}><Icon name="up" />{list.heldMore ? t('newItemsMore', { count }) : t('newItems', { count })}</button>}
    </div>
  );
}

function SelectAll({ items, selection }: { items: readonly string[]; selection: Selection }) {
  const count = items.filter((item) => selection.ids.has(item)).length;
  const isAll = count === items.length;
  return <input type="checkbox" class="checkbox" aria-label={t('selectAll')} checked={isAll} indeterminate={count > 0 && !isAll} onChange={() => selection.onChange(new Set(isAll ? [] : items))} />;
}

function BulkBar({ selection }: { selection: Selection }) {
  return (
    <div class="bulk-bar" role="toolbar" aria-label={t('selected', { count: selection.ids.size })}>
      <span>{t('selected', { count: selection.ids.size })}</span>
      {selection.actions}
      <Button variant="plain" icon="cross" label={t('clearSelection')} onClick={() => selection.onChange(new Set())} />
    </div>
  );
}

function Foot<T>({ label, list }: { label: string; list: ListData<T> }) {
  const end = useRef<HTMLDivElement>(null);
  const { hasMore, loadMore, items, loading } = list;
  // What failed is tried again by the button.
  const isWaiting = hasMore && !loading && list.error === undefined;
  const latest = useRef(loadMore);
  latest.current = loadMore;
  useEffect(() => {
    if (!isWaiting || !end.current) return undefined;
    const observer = new IntersectionObserver((entries) => { if (entries.at(-1)?.isIntersecting) latest.current(); }, { rootMargin: '600px' });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [isWaiting, items.length]);
  return (
    <div class="list-foot" ref={end}>
      {list.error && <ProblemView problem={list.error} onRetry={list.loadMore} />}
      {hasMore ? <Button size="small" busy={list.loading} onClick={loadMore}>{t('loadMore')}</Button> : <span>{t('listEnd', { label, count: items.length })}</span>}
    </div>
  );
}
