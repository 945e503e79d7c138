// The editor in a cell, by the type of its column.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Cell, Column } from './cells';
import { t } from './messages';
import type { Editing, GridModel } from './model';
import { Value } from './row';

interface CellEditorProps {
  readonly model: GridModel;
  readonly column: Column;
  readonly editing: Editing;
}

export function CellEditor({ model, column, editing }: CellEditorProps) {
  const [text, setText] = useState(editing.initial ?? '');
  const isNull = useRef(editing.initial === null);
  const field = useRef<HTMLTextAreaElement & HTMLSelectElement>(null);
  const isDone = useRef(false);
  // Before anything else is typed.
  useLayoutEffect(() => {
    const element = field.current;
    element?.focus({ preventScroll: true });
    if (element instanceof HTMLTextAreaElement) element.setSelectionRange(element.value.length, element.value.length);
  }, []);
  const input = (): Cell => (text === '' && isNull.current ? null : text);
  const commit = (value: Cell = input()) => {
    if (isDone.current) return;
    isDone.current = model.commit(value);
  };
  const leave = () => {
    isDone.current = true;
    model.leave();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      leave();
    } else if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      commit();
    } else if (event.key === 'Tab') {
      // The grid moves on to the next cell.
      event.preventDefault();
      commit();
    } else {
      // The keys of the grid are for cells that are not edited.
      event.stopPropagation();
    }
  };
  // Leaving by the pointer takes what was typed; what is no value is given up, and said.
  const onBlur = () => { if (!isDone.current && editing.theirs === undefined) commit(); };
  const shared = { ref: field, 'aria-label': column.name, 'aria-invalid': editing.problem !== null || undefined, 'aria-describedby': editing.problem === null ? undefined : 'grid-editor-problem', onKeyDown, onBlur };
  return (
    <div class="grid-editor">
      {column.type === 'boolean'
        ? (
          <select {...shared} value={text} onChange={(event) => { setText(event.currentTarget.value); isNull.current = event.currentTarget.value === ''; commit(event.currentTarget.value === '' ? null : event.currentTarget.value); }}>
            {(column.nullable || text === '') && <option value="">null</option>}
            <option value="true">true</option>
            <option value="false">false</option>
          </select>
        )
        : (
          <textarea
            {...shared} rows={1} value={text} spellcheck={column.type === 'text'} placeholder={isNull.current ? 'null' : undefined}
            inputMode={column.type === 'integer' ? 'numeric' : column.type === 'real' ? 'decimal' : undefined}
            onInput={(event) => { isNull.current = false; setText(event.currentTarget.value); }}
          />
        )}
      {editing.problem !== null && <p class="grid-note" role="alert" id="grid-editor-problem">{t(`problem_${editing.problem}`)}</p>}
      {editing.theirs !== undefined && <Meanwhile model={model} column={column} theirs={editing.theirs} leave={leave} focus={() => field.current?.focus()} />}
    </div>
  );
}

/** Somebody else wrote the cell while it is edited: both values, and the choice. */
function Meanwhile({ model, column, theirs, leave, focus }: { model: GridModel; column: Column; theirs: Cell; leave: () => void; focus: () => void }) {
  const keepMine = () => {
    model.keepMine();
    focus();
  };
  return (
    <div class="grid-note" role="alert">
      <p>{t('meanwhile')}</p>
      <dl><div><dt>{t('theirs')}</dt><dd><Value column={column} cell={theirs} /></dd></div></dl>
      <div class="grid-note-actions">
        <button type="button" class="button button-quiet button-small" onClick={leave}>{t('keepTheirs')}</button>
        <button type="button" class="button button-primary button-small" onClick={keepMine}>{t('goOnWithMine')}</button>
      </div>
    </div>
  );
}
