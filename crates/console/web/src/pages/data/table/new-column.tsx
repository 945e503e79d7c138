// A new column, in the panel over the structure.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { invalidate } from '#api/resource';
import { closePanel, discardUnsaved, toast, useAction, useUnsaved, type RouteProps } from '#frame';
import { Button, CopyCall, Loaded, Notice, Panel, ProblemView } from '#ui';
import { t } from '../messages';
import { editRefusal, useProject, type Project, type Table } from '../project/frame';
import { ColumnFields, EMPTY_COLUMN, readColumn } from './column-fields';
import { mayHaveRows } from './rows';

export default function NewColumnPanel({ params: { project: id, table: name } }: RouteProps<'/w/:ws/data/:project/:table/structure/new-column'>) {
  const project = useProject(id);
  const table = project.data?.tables.find((one) => one.name === name);
  return project.data && table ? <NewColumn project={project.data} table={table} /> : <Panel title={t('addColumn')}><Loaded resource={project}>{() => null}</Loaded></Panel>;
}

function NewColumn({ project, table }: { project: Project; table: Table }) {
  const [draft, setDraft] = useState(EMPTY_COLUMN);
  const read = draft.name === '' ? null : readColumn(draft, [...table.columns, draft]);
  const column = read && 'column' in read ? read.column : null;
  useUnsaved(draft.name !== '', { form: 'column', value: draft, restore: setDraft });
  const add = useAction(async () => {
    if (!column) return;
    await api.post('/v1/backend/projects/{projectId}/tables/{table}/columns', { path: { projectId: project.id, table: table.name }, body: column });
    discardUnsaved();
    invalidate([`project:${project.id}`]);
    toast(t('columnAdded', { name: column.name }));
    closePanel();
  }, { shows: 'inline' });
  const unavailable = editRefusal(project) ?? (draft.name === '' ? t('nameFirst') : column === null ? t('fixFirst') : null);
  const hasRows = mayHaveRows(table);
  return (
    <Panel title={t('addColumnTo', { table: table.name })} actions={<>{column && <CopyCall call={{ method: 'POST', url: `/v1/backend/projects/${project.id}/tables/${table.name}/columns`, body: column }} />}<Button type="submit" form="data-new-column" variant="primary" busy={add.busy} unavailable={unavailable}>{t('addColumn')}</Button></>}>
      <form id="data-new-column" class="data-form" onSubmit={(event) => { event.preventDefault(); if (unavailable === null) void add.run(); }}>
        <ColumnFields draft={draft} problem={read && 'problem' in read ? read.problem : null} onChange={setDraft} onRemove={null} />
        {!draft.nullable && hasRows && <Notice tone="warn">{t('notNullNeedsEmpty')}</Notice>}
        {hasRows && draft.byDefault !== null && <p class="muted">{t('defaultForNew')}</p>}
        {add.problem && <ProblemView problem={add.problem} />}
      </form>
    </Panel>
  );
}
