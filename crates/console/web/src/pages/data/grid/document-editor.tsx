// The editor of a document in a cell, in a dialog.

import { useState } from 'preact/hooks';
import { Button, Dialog, JsonEditor, jsonProblem, openDialog } from '#ui';
import { formatJson } from '#ui/json-text';
import type { Cell, Column, Row } from './cells';
import { t } from './messages';
import type { GridModel } from './model';

export function formatted(cell: Cell): string {
  if (cell === null) return '';
  return jsonProblem(cell) === null ? formatJson(cell) : cell;
}

export async function editDocument(model: GridModel, row: Row, column: Column): Promise<void> {
  model.edit(row, column);
  const result = await openDialog<{ readonly cell: Cell }>((close) => <DocumentDialog column={column} initial={model.editing.peek()?.initial ?? null} close={close} />);
  if (result === undefined) model.leave();
  else if (!model.commit(result.cell)) model.leave();
}

function DocumentDialog({ column, initial, close }: { column: Column; initial: Cell; close: (result?: { readonly cell: Cell }) => void }) {
  const [text, setText] = useState(formatted(initial));
  const isEmpty = text.trim() === '';
  const unavailable = !isEmpty ? jsonProblem(text) : column.nullable ? null : t('problem_required');
  const actions = (
    <>
      {column.nullable && <Button onClick={() => close({ cell: null })}>{t('setNull')}</Button>}
      <Button variant="primary" unavailable={unavailable} onClick={() => close({ cell: isEmpty ? null : text })}>{t('save')}</Button>
    </>
  );
  return (
    <Dialog title={column.name} size="wide" actions={actions} onClose={() => close()}>
      <JsonEditor label={column.name} value={text} onChange={setText} sendsText />
    </Dialog>
  );
}
