// The rows of a table.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { taggedAs } from '#api/client';
import { asProblem } from '#api/problem';
import { isFocusLost, navigate, query, toast, toastProblem, useCommands, useUnsaved, type RouteProps } from '#frame';
import { Button, CopyCall, Empty, Menu, ProblemView, Progress, Skeleton, confirm } from '#ui';
import { TablePage, editRefusal, useProject, type Project, type Table } from '../project/frame';
import { Arranged, shownColumns } from './columns';
import { Conditions, askFilter, clearConditions, setOrder } from './conditions';
import { countEdits } from './edits';
import { download, exportItems } from './export';
import { conditionsOf, orderOf, queryOf } from './filters';
import { Grid, countText } from './grid';
import { undo } from './keys';
import { t } from './messages';
import { GridModel } from './model';
import type { Refusal } from './paste';
import { CallerSwitch, useTrial } from './trial';
import { TableRows } from './table-rows';
import { Writer } from './writer';

export default function TableGrid({ params: { ws, project, table } }: RouteProps<'/w/:ws/data/:project/:table'>) {
  return (
    <TablePage ws={ws} id={project} table={table} actions={(loaded) => <Actions ws={ws} project={loaded} table={table} />}>
      {(loaded, found) => <Rows key={`${project} ${table} ${found.columns.map(({ name, type }) => `${name}:${type}`).join()}`} ws={ws} project={loaded} table={found} />}
    </TablePage>
  );
}

const here = (ws: string, project: string, table: string, rest: string) => `/w/${ws}/data/${project}/${table}${rest}${location.search}`;

function Actions({ ws, project, table }: { ws: string; project: Project; table: string }) {
  const refusal = editRefusal(project);
  // The query is read so that the links lead back to the same rows.
  void query.value;
  return (
    <>
      <Button icon="import" href={here(ws, project.id, table, '/import')} unavailable={refusal}>{t('import')}</Button>
      <Menu icon="out" items={exportItems(project, table)}>{t('export')}</Menu>
      <Button variant="primary" icon="plus" command="grid.new" href={here(ws, project.id, table, '/new')} unavailable={refusal}>{t('insertRow')}</Button>
    </>
  );
}

interface RowsProps {
  readonly ws: string;
  readonly project: Project;
  readonly table: Table;
}

function Rows({ ws, project, table }: RowsProps) {
  const mayEdit = editRefusal(project) === null;
  const text = queryOf(conditionsOf(query.value), query.value.get('order'));
  const rows = useMemo(() => new TableRows(project.id, table.name, table.columns), [project.id, table.name]);
  const writer = useMemo(() => new Writer(rows), [rows]);
  const model = useMemo(() => new GridModel(rows, writer, text, `rows:${project.id}/${table.name}`), [rows, writer, text]);
  const arranged = useMemo(() => new Arranged(project.id, table.name), [project.id, table.name]);
  const columns = useMemo(() => shownColumns(table.columns, arranged.state.value), [table.columns, arranged.state.value]);
  useEffect(() => model.open(), [model]);
  void model.version.value;
  useCount(project, table, model, text);
  const counts = countEdits(model.writer.edits.value);
  useUnsaved(counts.saving + counts.refused + counts.conflict > 0);
  const trial = useTrial(project, table, model);
  const rowHref = (id: string) => here(ws, project.id, table.name, `/rows/${encodeURIComponent(id)}`);
  const remove = () => void removeChecked(model, table.name);
  useCommands([
    { id: 'grid.new', label: t('insertRow'), keys: 'n', when: () => mayEdit, run: () => void navigate(here(ws, project.id, table.name, '/new')) },
    { id: 'grid.filter', label: t('filter'), keys: 'f', run: () => void askFilter(table.columns, table.columns[0]?.name ?? 'id') },
    { id: 'grid.refresh', label: t('refresh'), run: () => model.follow() },
    { id: 'grid.undo', label: t('undo'), keys: 'mod+z', when: () => model.writer.undoable.peek() > 0 && isFocusLost(), run: () => void undo(model) },
    { id: 'grid.delete', label: t('deleteRows'), when: () => mayEdit && model.checked.peek().size > 0, run: remove },
    { id: 'grid.import', label: t('import'), when: () => mayEdit, run: () => void navigate(here(ws, project.id, table.name, '/import')) },
    { id: 'grid.export', label: t('exportCsv'), run: () => void download(project.id, table.name, 'csv') },
  ]);
  return (
    <>
      <div class="data-toolbar">
        <Conditions columns={table.columns} />
        <div class="data-toolbar-end">
          {project.canAdmin && <CallerSwitch project={project} trial={trial} />}
          <NewestFirst table={table} />
          <ColumnsMenu table={table} arranged={arranged} />
          <CopyCall call={{ method: 'GET', url: text === '' ? rows.url : `${rows.url}?${text}` }} />
        </div>
      </div>
      <Content {...{ ws, project, table, model, columns, arranged, mayEdit, rowHref }} />
      <Foot model={model} counts={counts} onDelete={remove} note={trial.note} />
    </>
  );
}

/** Shows the number of rows beside the table's name too, without counting those of all tables again. */
function useCount(project: Project, table: Table, model: GridModel, text: string): void {
  const isWhole = conditionsOf(new URLSearchParams(text)).length === 0;
  const count = model.window.total;
  const resource = useProject(project.id);
  useEffect(() => {
    if (!isWhole || count === null || count === table.rowCount) return;
    const tables = project.tables.map((one) => (one.name === table.name ? { ...one, rowCount: count } : one));
    resource.set(taggedAs(project, { ...project, tables }));
  }, [count, isWhole]);
}

/** Rows stand in the order in which they came, so that new ones are on the last page. */
function NewestFirst({ table }: { table: Table }) {
  const order = orderOf(query.value);
  const isNewest = order?.column === 'created_at' && order.isDescending;
  if (!table.columns.some(({ name }) => name === 'created_at')) return null;
  return <button type="button" class={`button button-quiet button-small ${isNewest ? 'is-pressed' : ''}`} aria-pressed={isNewest} onClick={() => setOrder(isNewest ? null : { column: 'created_at', isDescending: true })}><span>{t('newestFirst')}</span></button>;
}

function ColumnsMenu({ table, arranged }: { table: Table; arranged: Arranged }) {
  const { hidden } = arranged.state.value;
  const items = table.columns.filter(({ name }) => name !== 'id').map(({ name }) => ({ label: name, checked: !hidden.includes(name), onSelect: () => arranged.toggle(name) }));
  const all = hidden.length > 0 ? [null, { label: t('showAllColumns'), onSelect: () => arranged.showAll() }] : [];
  return <Menu size="small" items={[...items, ...all]} class={hidden.length > 0 ? 'is-set' : ''}>{hidden.length > 0 ? t('columnsHidden', { count: hidden.length }) : t('columns')}</Menu>;
}

type ContentProps = RowsProps & { readonly model: GridModel; readonly columns: ReturnType<typeof shownColumns>; readonly arranged: Arranged; readonly mayEdit: boolean; readonly rowHref: (id: string) => string };

function Content({ ws, project, table, model, columns, arranged, mayEdit, rowHref }: ContentProps) {
  const [refused, setRefused] = useState<readonly Refusal[]>([]);
  const { window } = model;
  useEffect(() => model.look(0, 1), [model]);
  if (window.error !== null && !window.isReady) return <ProblemView problem={asProblem(window.error)} onRetry={() => void model.refresh()} />;
  if (!window.isReady) return <Skeleton lines={10} />;
  const isFiltered = conditionsOf(query.value).length > 0;
  if (model.count === 0 && isFiltered) return <Empty title={t('noneFound')} action={<Button onClick={clearConditions}>{t('clearFilters')}</Button>}><p>{t('noneFoundBody')}</p></Empty>;
  if (model.count === 0) return <NoRows ws={ws} project={project} table={table} mayEdit={mayEdit} />;
  return (
    <>
      {window.error !== null && <ProblemView problem={asProblem(window.error)} onRetry={() => void model.refresh()} />}
      {refused.length > 0 && <Refused refused={refused} columns={columns} onClose={() => setRefused([])} />}
      <Grid table={table} model={model} columns={columns} arranged={arranged} mayEdit={mayEdit} rowHref={rowHref} onRefused={setRefused} />
    </>
  );
}

function NoRows({ ws, project, table, mayEdit }: RowsProps & { mayEdit: boolean }) {
  if (!mayEdit) return <Empty title={t('none')}><p>{t('noneBodyReader')}</p></Empty>;
  const base = `/w/${ws}/data/${project.id}/${table.name}`;
  return (
    <Empty title={t('none')} action={<><Button variant="primary" icon="plus" href={`${base}/new`}>{t('insertRow')}</Button><Button href={`${base}/import`}>{t('import')}</Button><Button href={`/w/${ws}/data/${project.id}/-/api?table=${table.name}`}>{t('useApi')}</Button></>}>
      <p>{t('noneBody')}</p>
    </Empty>
  );
}

const MAX_REFUSED_SHOWN = 5;

/** The cells of a pasted block that their columns do not take. Nothing was written. */
function Refused({ refused, columns, onClose }: { refused: readonly Refusal[]; columns: readonly { readonly name: string }[]; onClose: () => void }) {
  return (
    <div class="notice tone-bad data-refused" role="alert">
      <div class="prose">
        <p><b>{t('pasteRefused', { count: refused.length })}</b></p>
        <ul>
          {refused.slice(0, MAX_REFUSED_SHOWN).map(({ row, column, text, problem }) => (
            <li key={`${row} ${column}`}>{t.rich('pasteRefusal', { row: row + 1, column: <b>{columns[column]?.name ?? ''}</b>, text: <code>{text === '' ? '""' : text.slice(0, 40)}</code>, reason: problem === 'system' ? t('problem_system') : t(`problem_${problem}`) })}</li>
          ))}
        </ul>
      </div>
      <div class="notice-actions"><Button size="small" onClick={onClose}>{t('close')}</Button></div>
    </div>
  );
}

const TYPED_FROM = 10;

async function removeChecked(model: GridModel, table: string): Promise<void> {
  const ids = [...model.checked.peek()];
  const isMany = ids.length >= TYPED_FROM;
  const goesOn = await confirm({ title: t('deleteTitle', { count: ids.length }), body: isMany ? t('deleteBodyMany') : t('deleteBody'), action: t('deleteRows'), tone: 'bad', ...(isMany ? { typed: table } : {}) });
  if (!goesOn) return;
  try {
    const { removed, problem } = await model.writer.remove(ids);
    model.check(removed, false);
    await model.refresh();
    if (problem !== null) toastProblem(problem);
    if (removed.length > 0) toast(t('deleted', { count: removed.length }), { action: { label: t('undo'), run: () => void undo(model) } });
  } catch (error) {
    toastProblem(error);
  }
}

function Foot({ model, counts, onDelete, note }: { model: GridModel; counts: ReturnType<typeof countEdits>; onDelete: () => void; note: string | null }) {
  const progress = model.writer.progress.value;
  const checked = model.checked.value.size;
  const refused = counts.refused + counts.conflict;
  if (!model.window.isReady) return null;
  return (
    <div class="data-foot">
      <span class="data-count">{countText(model.count)}</span>
      {checked > 0 && (
        <span class="data-foot-part" role="toolbar" aria-label={t('checkedCount', { count: checked })}>
          <span>{t('checkedCount', { count: checked })}</span>
          <Button size="small" icon="trash" busy={progress !== null} onClick={onDelete}>{t('deleteRows')}</Button>
          <Button size="small" variant="plain" icon="cross" label={t('uncheck')} onClick={() => model.uncheckAll()} />
        </span>
      )}
      <span class="data-foot-end" role="status">
        {note !== null && <span>{note}</span>}
        {progress !== null ? <Progress value={progress.done} max={progress.all} label={t('writing')} /> : counts.saving > 0 && <span>{t('saving')}</span>}
        {refused > 0 && <span class="data-bad">{t('notSaved', { count: refused })} <Button size="small" variant="plain" onClick={() => model.writer.discardAll()}>{t('discard')}</Button></span>}
      </span>
      {model.writer.undoable.value > 0 && <Button size="small" variant="plain" icon="replay" command="grid.undo" onClick={() => void undo(model)}>{t('undo')}</Button>}
    </div>
  );
}
