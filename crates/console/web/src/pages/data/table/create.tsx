// A new table, in the panel over the project.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { api } from '#api/client';
import { invalidate } from '#api/resource';
import { navigate, toast, useAction, useUnsaved, discardUnsaved, type RouteProps } from '#frame';
import { Button, Checkbox, CopyCall, Loaded, Notice, Panel, ProblemView, TextField } from '#ui';
import { editRefusal, projectPath, useProject, type Project } from '../project/frame';
import { t } from '../messages';
import { ColumnFields, EMPTY_COLUMN, readColumn, type ColumnDraft } from './column-fields';
import { columnsOf, isSystemHeader, tableNameOf } from './columns-of-file';
import { planOf, rowsOf } from './create-plan';
import type { Encoding } from './encoding';
import { EncodingChoice, Picker } from './file-picker';
import { FileColumns } from './file-columns';
import { readFile, type Picked } from './import-file';
import { ProgressView, RefusedRows } from './import-outcome';
import { MAX_ROWS, type Sheet } from './import-plan';
import { importRows, type ImportProgress } from './import-request';
import { tableNameProblem } from './names';
import { SheetNotes } from './sheet-notes';

export default function NewTablePanel({ params: { ws, project: id } }: RouteProps<'/w/:ws/data/:project/-/new-table'>) {
  const project = useProject(id);
  return project.data ? <NewTable ws={ws} project={project.data} /> : <Panel title={t('newTable')}><Loaded resource={project}>{() => null}</Loaded></Panel>;
}

const MAX_COLUMNS = 64;

/** A file that the table is made for: each of its columns has one among the fields, or none. */
interface Source {
  readonly picked: Picked;
  readonly sheet: Sheet | null;
  /** Field of each column of the file. */
  readonly fields: readonly (number | null)[];
  /** The fields as the file gave them. */
  readonly drafts: readonly ColumnDraft[];
  /** Columns of the file for which a table has no room. */
  readonly excess: number;
}

function NewTable({ ws, project }: { ws: string; project: Project }) {
  const [name, setName] = useState('');
  const [columns, setColumns] = useState<readonly ColumnDraft[]>([EMPTY_COLUMN]);
  const [isPublic, setPublic] = useState(false);
  const [typed, setTyped] = useState('');
  const [source, setSource] = useState<Source | null>(null);
  const [leavesOut, setLeavesOut] = useState(false);
  const [created, setCreated] = useState<string | null>(null);
  const [progress, setProgress] = useState<ImportProgress | null>(null);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);
  const take = useAction(async (file: File, encoding: Encoding | null = null) => {
    const picked = await readFile(file, encoding);
    const found = picked.sheet === null ? [] : columnsOf(picked.sheet);
    const all = found.filter((draft) => draft !== null);
    const drafts = all.slice(0, MAX_COLUMNS);
    // What the person wrote into the fields outlives the choice of an encoding.
    const keeps = encoding !== null && source !== null && columns !== source.drafts && source.fields.length === found.length;
    const fields = found.map((draft) => { const at = draft === null ? -1 : drafts.indexOf(draft); return at < 0 ? null : at; });
    setSource({ picked, sheet: picked.sheet, fields: keeps ? source.fields : fields, drafts, excess: all.length - drafts.length });
    setLeavesOut(false);
    if (drafts.length === 0 || keeps) return;
    setColumns(drafts);
    setName((typed) => typed || tableNameOf(file.name));
  }, { shows: 'inline' });
  const used = columns.filter((column) => column.name !== '');
  const read = used.map((column) => readColumn(column, used));
  const nameProblem = tableNameProblem(name, project.tables.map((table) => table.name));
  const body = {
    name, columns: read.flatMap((one) => ('column' in one ? [one.column] : [])),
    ...(isPublic ? { publicRead: true, confirmPublic: typed } : {}),
  };
  useUnsaved(name !== '' || used.length > 0, { form: 'table', value: { name, columns, isPublic }, restore: (kept) => { setName(kept.name); setColumns(kept.columns); setPublic(kept.isPublic); } });
  const isChosen = source !== null && source.picked.encoding !== null && source.picked.encoding.chosen === null;
  const sheet = source?.sheet ?? null;
  // All that the plan takes of the columns: a file may have many rows, and a name changes with every letter.
  const shape = columns.map(({ name, type, nullable }) => `${name !== ''} ${type} ${nullable}`).join();
  const plan = useMemo(() => (source?.sheet ? planOf(source.sheet, source.fields, columns) : null), [source, shape]);
  const nameOf = (field: string) => columns[Number(field)]?.name ?? '';
  const refused = plan?.refused ?? [];
  const left = useMemo(() => new Set(leavesOut ? plan?.refused.map(({ index }) => index) : []), [leavesOut, plan]);
  /** Rows that are imported once the table is there. */
  const count = plan?.hasColumns ? plan.numbers.sheet.records.length - left.size : 0;
  const fill = useAction(async () => {
    if (plan === null) return;
    abort.current = new AbortController();
    setProgress({ step: 'checked', rows: 0 });
    const body = new Blob([rowsOf(plan, columns, left)]);
    const { imported } = await importRows(`/v1/backend/projects/${project.id}/tables/${name}/import`, 'csv', body, setProgress, abort.current.signal);
    discardUnsaved();
    invalidate([`project:${project.id}`, `rows:${project.id}/${name}`]);
    toast(t('imported', { count: imported }));
    await navigate(`${projectPath(ws, project.id)}/${name}`);
  }, { shows: 'inline' });
  useUnsaved(fill.busy);
  const create = useAction(async () => {
    await api.post('/v1/backend/projects/{projectId}/tables', { path: { projectId: project.id }, body });
    discardUnsaved();
    invalidate([`project:${project.id}`]);
    if (count === 0) return navigate(`${projectPath(ws, project.id)}/${name}`);
    setCreated(name);
    return fill.run();
  }, { shows: 'inline' });
  const incomplete = name === '' ? t('nameFirst') : nameProblem !== null ? t(`name_${nameProblem}`) : isChosen ? t('encodingFirst') : plan?.hasColumns && refused.length > 0 && !leavesOut ? t('refusedFirst') : count > MAX_ROWS ? t('tooManyRows', { count: MAX_ROWS }) : read.some((one) => 'problem' in one) ? t('fixFirst') : isPublic && typed !== name ? t('typeNameFirst') : null;
  const unavailable = editRefusal(project) ?? incomplete;
  const change = (index: number, next: ColumnDraft | null) => {
    setColumns(next === null ? columns.toSpliced(index, 1) : columns.with(index, next));
    if (next === null && source !== null) setSource({ ...source, fields: source.fields.map((field) => (field === null || field === index ? null : field > index ? field - 1 : field)) });
  };
  if (created !== null) {
    return (
      <Panel title={t('newTable')} size="wide" actions={<Button variant="primary" href={`${projectPath(ws, project.id)}/${created}`}>{t('toTable')}</Button>}>
        {fill.problem ? <><p>{t('importStopped')}</p><ProblemView problem={fill.problem} onRetry={() => void fill.run()} /></> : progress && <ProgressView progress={progress} count={count} />}
      </Panel>
    );
  }
  return (
    <Panel title={t('newTable')} size="wide" actions={<><CopyCall call={{ method: 'POST', url: `/v1/backend/projects/${project.id}/tables`, body }} /><Button type="submit" form="data-new-table" variant="primary" busy={create.busy} unavailable={unavailable}>{count === 0 ? t('createTable') : t('createAndImport', { count })}</Button></>}>
      <form id="data-new-table" class="data-form" onSubmit={(event) => { event.preventDefault(); if (unavailable === null) void create.run(); }}>
        <TextField label={t('tableName')} hint={t('nameHint')} value={name} onInput={setName} error={name !== '' && nameProblem !== null ? t(`name_${nameProblem}`) : null} required maxlength={48} autofocus autocomplete="off" spellcheck={false} />
        <details class="data-from-file" open={source !== null}>
          <summary>{t('fromFile')}</summary>
          <p class="muted">{t('fromFileHint')}</p>
          <Picker picked={source?.picked ?? null} busy={take.busy} onPick={(file) => void take.run(file)} />
          {take.problem && <ProblemView problem={take.problem} />}
          {source?.picked.encoding && <EncodingChoice guessed={source.picked.encoding} busy={take.busy} onChoose={(encoding) => void take.run(source.picked.file, encoding)} />}
          {plan && <SheetNotes numbers={plan.numbers} nameOf={nameOf} />}
          {source !== null && source.excess > 0 && <Notice tone="warn"><p>{t('columnsMany', { count: source.excess, max: MAX_COLUMNS })}</p></Notice>}
          {source !== null && sheet !== null && plan && <FileColumns title={t('mappingLabel')} sheet={sheet} isGuessed={source.picked.encoding !== null} target={(index) => <Target header={sheet.headers[index] ?? ''} name={nameOf(plan.mapping[index] ?? '')} />} />}
          {plan?.hasColumns && refused.length > 0 && <RefusedRows refused={refused} leavesOut={leavesOut} onLeaveOut={setLeavesOut} nameOf={nameOf} />}
          {source !== null && sheet === null && <Notice tone="warn">{t('noSheet')}</Notice>}
        </details>
        <fieldset class="data-columns-edit">
          <legend>{t('columns')}</legend>
          <p class="muted">{t('systemColumns')}</p>
          {columns.map((column, index) => {
            const result = column.name === '' ? null : readColumn(column, used);
            return <ColumnFields key={index} draft={column} problem={result && 'problem' in result ? result.problem : null} onChange={(next) => change(index, next)} onRemove={columns.length > 1 ? () => change(index, null) : null} />;
          })}
          {columns.length < MAX_COLUMNS && <div><Button size="small" icon="plus" onClick={() => setColumns([...columns, EMPTY_COLUMN])}>{t('addColumn')}</Button></div>}
        </fieldset>
        <Checkbox label={t('publicRead')} hint={t('publicReadHint')} checked={isPublic} onChange={setPublic} />
        {isPublic && <Notice tone="warn"><TextField label={t('typeToMakePublic', { name: name === '' ? '…' : name })} value={typed} onInput={setTyped} autocomplete="off" spellcheck={false} /></Notice>}
        {create.problem && <ProblemView problem={create.problem} />}
      </form>
    </Panel>
  );
}

/** Shows into which column one of the file goes. */
function Target({ header, name }: { header: string; name: string }) {
  if (name !== '') return <code>{name}</code>;
  return <span class="muted">{isSystemHeader(header) ? t('byServer') : t('leftOut')}</span>;
}
