// One row with all of its columns, in the panel over the grid.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { Problem, asProblem } from '#api/problem';
import { invalidate, onInvalidate } from '#api/resource';
import { closePanel, discardUnsaved, toast, useAction, useUnsaved, type RouteProps } from '#frame';
import { Button, Copyable, CopyCall, Loaded, Notice, ObjectMenu, Panel, ProblemView, Skeleton, confirm } from '#ui';
import { editRefusal, useProject, type Project, type Table } from '../project/frame';
import { bodyOf, type Cells, type Row } from './cells';
import { t } from './messages';
import { NO_EDIT, readEdit, withDraft, withoutColumn } from './row-edit';
import { RowForm } from './row-form';
import { TableRows } from './table-rows';

export default function RowPanel({ params: { project: id, table: name, row } }: RouteProps<'/w/:ws/data/:project/:table/rows/:row'>) {
  const project = useProject(id);
  const table = project.data?.tables.find((one) => one.name === name);
  if (project.data && table) return <OneRow key={row} project={project.data} table={table} id={row} />;
  return <Panel title={row}><Loaded resource={project}>{() => null}</Loaded></Panel>;
}

type Read = Row | Problem | null;

/** Reads the row, and again when somebody writes to its table. */
function useRow(rows: TableRows, id: string, topic: string): readonly [row: Read, refresh: () => Promise<void>] {
  const [row, setRow] = useState<Read>(null);
  const refresh = () => rows.fresh(id).then((found) => setRow(found ?? new Problem(404, 'row_gone', t('rowGone'))), (error: unknown) => setRow(asProblem(error)));
  useEffect(() => {
    void refresh();
    return onInvalidate((topics) => { if (topics === 'all' || topics.includes(topic)) void refresh(); });
  }, [rows, id]);
  return [row, refresh];
}

function OneRow({ project, table, id }: { project: Project; table: Table; id: string }) {
  const rows = useMemo(() => new TableRows(project.id, table.name, table.columns), [project.id, table]);
  const topic = `rows:${project.id}/${table.name}`;
  const [row, refresh] = useRow(rows, id, topic);
  if (row === null) return <Panel title={id}><Skeleton /></Panel>;
  if (row instanceof Problem) return <Panel title={id}><ProblemView problem={row} onRetry={() => void refresh()} /></Panel>;
  return <EditRow project={project} table={table} rows={rows} row={row} topic={topic} refresh={refresh} />;
}

interface EditProps {
  readonly project: Project;
  readonly table: Table;
  readonly rows: TableRows;
  readonly row: Row;
  readonly topic: string;
  readonly refresh: () => Promise<void>;
}

function EditRow({ project, table, rows, row, topic, refresh }: EditProps) {
  const fields = table.columns.filter(({ system }) => !system);
  const [entered, setEntered] = useState(NO_EDIT);
  const { edit, changes, problems, conflicts } = readEdit(fields, entered, row.cells);
  const changed = Object.keys(changes);
  const isDirty = changed.length > 0 || Object.keys(problems).length > 0;
  useUnsaved(isDirty, { form: 'row', value: edit, restore: setEntered });
  const save = useAction(async () => {
    const fresh = await rows.fresh(row.id);
    if (fresh === null) throw new Problem(404, 'row_gone', t('rowGone'));
    if (changed.some((name) => fresh.cells[name] !== row.cells[name])) return refresh();
    await rows.update(fresh, changes);
    setEntered(NO_EDIT);
    discardUnsaved();
    invalidate([topic]);
    toast(t('saved'));
  }, { shows: 'inline' });
  const remove = useAction(async () => {
    if (!(await confirm({ title: t('deleteTitle', { count: 1 }), body: t('deleteBodyOne'), action: t('deleteRow'), tone: 'bad' }))) return;
    await rows.remove(row.id);
    discardUnsaved();
    invalidate([topic]);
    toast(t('deleted', { count: 1 }), { action: { label: t('undo'), run: () => void rows.insert([restorable(table, row)]).then(() => invalidate([topic])) } });
    closePanel();
  });
  const refusal = editRefusal(project);
  const actions = refusal === null && (
    <>
      <Button icon="trash" busy={remove.busy} onClick={() => void remove.run()}>{t('deleteRow')}</Button>
      {changed.length > 0 && <CopyCall call={{ method: 'PATCH', url: rows.rowUrl(row.id), body: bodyOf(fields, changes) }} />}
      <Button type="submit" form="data-row" variant="primary" busy={save.busy} unavailable={isDirty ? (Object.keys(problems).length > 0 ? t('fixFirst') : null) : t('nothingChanged')}>{t('save')}</Button>
    </>
  );
  return (
    <Panel title={t('row')} actions={actions}>
      <div class="data-row-head"><Copyable value={row.id} /><ObjectMenu url={rows.rowUrl(row.id)} value={row.cells} /></div>
      {save.problem && <ProblemView problem={save.problem} />}
      {conflicts.map((name) => (
        <Notice key={name} tone="warn" actions={<><Button size="small" onClick={() => setEntered(withoutColumn(edit, name))}>{t('keepTheirs')}</Button><Button size="small" variant="primary" onClick={() => setEntered({ ...edit, base: { ...edit.base, [name]: row.cells[name] ?? null } })}>{t('goOnWithMine')}</Button></>}>
          <p>{t.rich('conflictIn', { column: <b>{name}</b>, theirs: <code>{row.cells[name] ?? 'null'}</code> })}</p>
        </Notice>
      ))}
      <form id="data-row" class="data-form" onSubmit={(event) => { event.preventDefault(); if (isDirty && Object.keys(problems).length === 0 && conflicts.length === 0) void save.run(); }}>
        <RowForm columns={fields} draft={edit.draft} saved={row.cells} problems={problems} onChange={(draft) => setEntered(withDraft(edit, draft, row.cells))} isNew={false} isReadOnly={refusal !== null} />
      </form>
      <p class="muted">{t.rich('createdAt', { when: <code>{row.cells['created_at'] ?? ''}</code> })}</p>
    </Panel>
  );
}

/** Returns what may be sent of a row that was deleted, to insert it again. */
function restorable(table: Table, row: Row): Cells {
  return Object.fromEntries(table.columns.filter(({ name, system }) => !system || name === 'id').map(({ name }) => [name, row.cells[name] ?? null]));
}
