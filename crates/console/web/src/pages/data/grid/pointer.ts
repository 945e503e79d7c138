// The pointer in the grid: a click selects, a drag selects a rectangle, a double click edits.

import { useRef } from 'preact/hooks';
import type { GridActions } from './keys';
import type { Position } from './selection';

function positionOf(target: EventTarget | null): Position | null {
  if (!(target instanceof Element) || target.closest('input, textarea, select, a, button, .grid-note')) return null;
  const cell = target.closest<HTMLElement>('[data-column]');
  const row = cell?.closest<HTMLElement>('[data-row]');
  return cell && row ? { row: Number(row.dataset['row']), column: Number(cell.dataset['column']) } : null;
}

export function usePointer({ model, edit }: GridActions) {
  const isDragging = useRef(false);
  const tapped = useRef<Position | null>(null);
  const select = (to: Position, keepsAnchor: boolean) => {
    const selection = model.selection.peek();
    model.selection.value = { active: to, anchor: keepsAnchor && selection ? selection.anchor : to };
  };
  return {
    onPointerDown: (event: PointerEvent) => {
      const to = positionOf(event.target);
      if (!to || event.button !== 0) return;
      const active = model.selection.peek()?.active;
      tapped.current = event.pointerType === 'touch' && active?.row === to.row && active.column === to.column ? to : null;
      select(to, event.shiftKey);
      isDragging.current = event.pointerType === 'mouse';
      if (event.shiftKey) event.preventDefault();
    },
    onPointerMove: (event: PointerEvent) => {
      if (!isDragging.current || event.buttons === 0) return;
      const to = positionOf(event.target);
      const active = model.selection.peek()?.active;
      if (to && (to.row !== active?.row || to.column !== active.column)) select(to, true);
    },
    onPointerUp: () => { isDragging.current = false; },
    // A second tap on the active cell edits it, where there is no double click.
    onClick: (event: MouseEvent) => { if (tapped.current && positionOf(event.target)) edit(); },
    onDblClick: (event: MouseEvent) => { if (positionOf(event.target)) edit(); },
  };
}
