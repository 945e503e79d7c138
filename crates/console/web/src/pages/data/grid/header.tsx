// The header of the grid: names and types of the columns, their menus, and handles to resize them.

import type { TargetedPointerEvent } from 'preact';
import { useRef } from 'preact/hooks';
import type { Schemas } from '#api/types';
import { query } from '#frame';
import { Icon, Menu, type MenuItems } from '#ui';
import { WIDTH_STEP, limitWidth, widthOf, type Arranged } from './columns';
import type { Column } from './cells';
import { askFilter, setOrder } from './conditions';
import { orderOf } from './filters';
import { onHeaderKey } from './keys';
import { t } from './messages';
import type { GridModel } from './model';
import { TypeIcon } from './type-icon';

interface HeaderProps {
  readonly table: Schemas['Table'];
  readonly model: GridModel;
  readonly columns: readonly Column[];
  readonly arranged: Arranged;
  readonly mayEdit: boolean;
}

export function Header({ table, model, columns, arranged, mayEdit }: HeaderProps) {
  const order = orderOf(query.value);
  return (
    <div class="grid-head" role="rowgroup">
      <div class="grid-head-row" role="row" aria-rowindex={1}>
        <div class="grid-check" role="columnheader">{mayEdit ? <CheckAll model={model} /> : <span class="hidden-text">{t('rowNumber')}</span>}</div>
        {columns.map((column, index) => {
          const direction = order?.column === column.name ? (order.isDescending ? 'descending' : 'ascending') : undefined;
          return (
            <div key={column.name} role="columnheader" aria-colindex={index + 2} aria-sort={direction} class={`grid-column ${index === 0 ? 'is-frozen' : ''}`}>
              <Menu
                items={items({ table, column, arranged, direction })}
                trigger={(attributes) => (
                  <button type="button" {...attributes} tabIndex={-1} class="grid-column-name" data-header={index} onKeyDown={(event) => onHeaderKey(event, index)}>
                    <TypeIcon type={column.type} /><span>{column.name}</span>
                    {!column.nullable && !column.system && <span class="grid-required" title={t('notNull')}>*</span>}
                    {direction && <Icon name={direction === 'descending' ? 'down' : 'up'} />}
                  </button>
                )}
              />
              <Resizer column={column} arranged={arranged} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function items({ table, column, arranged, direction }: { table: Schemas['Table']; column: Column; arranged: Arranged; direction: string | undefined }): MenuItems {
  const { name } = column;
  const width = widthOf(arranged.state.value, column);
  return [
    { label: t('sortAscending'), checked: direction === 'ascending', onSelect: () => setOrder({ column: name, isDescending: false }) },
    { label: t('sortDescending'), checked: direction === 'descending', onSelect: () => setOrder({ column: name, isDescending: true }) },
    ...(direction === undefined ? [] : [{ label: t('sortNone'), icon: 'cross' as const, onSelect: () => setOrder(null) }]),
    null,
    { label: t('filterColumn'), icon: 'filter', onSelect: () => void askFilter(table.columns, name) },
    null,
    { label: t('wider'), onSelect: () => arranged.resize(name, width + WIDTH_STEP) },
    { label: t('narrower'), onSelect: () => arranged.resize(name, width - WIDTH_STEP) },
    ...(name === 'id' ? [] : [{ label: t('hideColumn'), onSelect: () => arranged.toggle(name) }]),
  ];
}

/** A handle at the right of a header. The column follows the pointer at once, and is kept when it is let go. */
function Resizer({ column, arranged }: { column: Column; arranged: Arranged }) {
  const drag = useRef<{ readonly x: number; readonly width: number } | null>(null);
  const onPointerDown = (event: TargetedPointerEvent<HTMLSpanElement>) => {
    event.stopPropagation();
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { x: event.clientX, width: widthOf(arranged.state.peek(), column) };
  };
  const onPointerMove = (event: PointerEvent) => {
    if (!drag.current) return;
    const width = limitWidth(drag.current.width + event.clientX - drag.current.x);
    if (width !== widthOf(arranged.state.peek(), column)) arranged.resize(column.name, width);
  };
  const onPointerUp = () => { drag.current = null; };
  return <span class="grid-resizer" aria-hidden="true" onPointerDown={onPointerDown} onPointerMove={onPointerMove} onPointerUp={onPointerUp} onPointerCancel={onPointerUp} />;
}

/** Checks the rows that were read, of the first thousand. */
function CheckAll({ model }: { model: GridModel }) {
  void model.version.value;
  const ids = model.idsRead();
  const checked = model.checked.value;
  const count = ids.filter((id) => checked.has(id)).length;
  const isAll = ids.length > 0 && count === ids.length;
  return <input type="checkbox" class="checkbox" aria-label={t('checkAll')} checked={isAll} indeterminate={checked.size > 0 && !isAll} disabled={ids.length === 0} onChange={() => (isAll ? model.uncheckAll() : model.check(ids, true))} />;
}
