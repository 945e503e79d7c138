// A new index, in the panel over the structure.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { invalidate } from '#api/resource';
import { closePanel, toast, useAction, type RouteProps } from '#frame';
import { Button, Checkbox, CopyCall, Loaded, Panel, ProblemView, Select } from '#ui';
import { t } from '../messages';
import { editRefusal, useProject, type Project, type Table } from '../project/frame';

export default function NewIndexPanel({ params: { project: id, table: name } }: RouteProps<'/w/:ws/data/:project/:table/structure/new-index'>) {
  const project = useProject(id);
  const table = project.data?.tables.find((one) => one.name === name);
  return project.data && table ? <NewIndex project={project.data} table={table} /> : <Panel title={t('addIndex')}><Loaded resource={project}>{() => null}</Loaded></Panel>;
}

const MAX_COLUMNS = 4;

function NewIndex({ project, table }: { project: Project; table: Table }) {
  const [columns, setColumns] = useState<readonly string[]>(['']);
  const [unique, setUnique] = useState(false);
  const chosen = columns.filter((name) => name !== '');
  const usable = table.columns.filter(({ name, type }) => type !== 'json' && !(unique && name === 'id'));
  const body = { columns: [...chosen], unique };
  const add = useAction(async () => {
    await api.post('/v1/backend/projects/{projectId}/tables/{table}/indexes', { path: { projectId: project.id, table: table.name }, body });
    invalidate([`project:${project.id}`]);
    toast(t('indexAdded'));
    closePanel();
  }, { shows: 'inline' });
  const unavailable = editRefusal(project) ?? (chosen.length === 0 ? t('columnFirst') : new Set(chosen).size < chosen.length ? t('columnsTwice') : null);
  return (
    <Panel title={t('addIndexTo', { table: table.name })} actions={<><CopyCall call={{ method: 'POST', url: `/v1/backend/projects/${project.id}/tables/${table.name}/indexes`, body }} /><Button type="submit" form="data-new-index" variant="primary" busy={add.busy} unavailable={unavailable}>{t('addIndex')}</Button></>}>
      <form id="data-new-index" class="data-form" onSubmit={(event) => { event.preventDefault(); if (unavailable === null) void add.run(); }}>
        <p class="muted">{t('indexLead')}</p>
        {columns.map((name, index) => (
          <Select
            key={index} label={t('indexColumn', { number: index + 1 })} value={name}
            options={[{ value: '', label: t('noColumn') }, ...usable.map((column) => ({ value: column.name, label: column.name }))]} onChange={(next) => setColumns(columns.with(index, next))}
          />
        ))}
        {columns.length < MAX_COLUMNS && chosen.length === columns.length && <div><Button size="small" icon="plus" onClick={() => setColumns([...columns, ''])}>{t('addIndexColumn')}</Button></div>}
        <Checkbox label={t('unique')} hint={t('uniqueHint')} checked={unique} onChange={setUnique} />
        {add.problem && <ProblemView problem={add.problem} />}
      </form>
    </Panel>
  );
}
