// A new table, in the panel over the project.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { invalidate } from '#api/resource';
import { navigate, useAction, useUnsaved, discardUnsaved, type RouteProps } from '#frame';
import { Button, Checkbox, CopyCall, Loaded, Notice, Panel, ProblemView, TextField } from '#ui';
import { editRefusal, projectPath, useProject, type Project } from '../project/frame';
import { t } from '../messages';
import { ColumnFields, EMPTY_COLUMN, readColumn, type ColumnDraft } from './column-fields';
import { tableNameProblem } from './names';

export default function NewTablePanel({ params: { ws, project: id } }: RouteProps<'/w/:ws/data/:project/-/new-table'>) {
  const project = useProject(id);
  return project.data ? <NewTable ws={ws} project={project.data} /> : <Panel title={t('newTable')}><Loaded resource={project}>{() => null}</Loaded></Panel>;
}

const MAX_COLUMNS = 64;

function NewTable({ ws, project }: { ws: string; project: Project }) {
  const [name, setName] = useState('');
  const [columns, setColumns] = useState<readonly ColumnDraft[]>([EMPTY_COLUMN]);
  const [isPublic, setPublic] = useState(false);
  const [typed, setTyped] = useState('');
  const used = columns.filter((column) => column.name !== '');
  const read = used.map((column) => readColumn(column, used));
  const nameProblem = tableNameProblem(name, project.tables.map((table) => table.name));
  const body = {
    name, columns: read.flatMap((one) => ('column' in one ? [one.column] : [])),
    ...(isPublic ? { publicRead: true, confirmPublic: typed } : {}),
  };
  useUnsaved(name !== '' || used.length > 0);
  const create = useAction(async () => {
    await api.post('/v1/backend/projects/{projectId}/tables', { path: { projectId: project.id }, body });
    discardUnsaved();
    invalidate([`project:${project.id}`]);
    await navigate(`${projectPath(ws, project.id)}/${name}`);
  }, { shows: 'inline' });
  const incomplete = name === '' ? t('nameFirst') : nameProblem !== null ? t(`name_${nameProblem}`) : read.some((one) => 'problem' in one) ? t('fixFirst') : isPublic && typed !== name ? t('typeNameFirst') : null;
  const unavailable = editRefusal(project) ?? incomplete;
  const change = (index: number, next: ColumnDraft | null) => setColumns(next === null ? columns.toSpliced(index, 1) : columns.with(index, next));
  return (
    <Panel title={t('newTable')} size="wide" actions={<><CopyCall call={{ method: 'POST', url: `/v1/backend/projects/${project.id}/tables`, body }} /><Button type="submit" form="data-new-table" variant="primary" busy={create.busy} unavailable={unavailable}>{t('createTable')}</Button></>}>
      <form id="data-new-table" class="data-form" onSubmit={(event) => { event.preventDefault(); if (unavailable === null) void create.run(); }}>
        <TextField label={t('tableName')} hint={t('nameHint')} value={name} onInput={setName} error={name !== '' && nameProblem !== null ? t(`name_${nameProblem}`) : null} required maxlength={48} autofocus autocomplete="off" spellcheck={false} />
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
