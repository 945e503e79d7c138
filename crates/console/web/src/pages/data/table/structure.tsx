// The columns and indexes of a table, and how to drop it.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { invalidate } from '#api/resource';
import { navigate, toast, useAction, useCommands, type RouteProps } from '#frame';
import { Badge, Button, Card, CopyCall, Dialog, Menu, Table as FewRows, TextField, confirm, openDialog } from '#ui';
import { TypeIcon, typeText } from '../grid/type-icon';
import { t } from '../messages';
import { TablePage, editRefusal, projectPath, type Project, type Table } from '../project/frame';
import { columnPrecondition, tablePrecondition } from '../project/precondition';
import { columnNameProblem } from './names';

export default function Structure({ params: { ws, project, table } }: RouteProps<'/w/:ws/data/:project/:table/structure'>) {
  const base = `/w/${ws}/data/${project}/${table}/structure`;
  return (
    <TablePage ws={ws} id={project} table={table} actions={(loaded) => <Button variant="primary" icon="plus" command="structure.column" href={`${base}/new-column`} unavailable={editRefusal(loaded)}>{t('addColumn')}</Button>}>
      {(loaded, found) => <Content ws={ws} project={loaded} table={found} />}
    </TablePage>
  );
}

type Column = Table['columns'][number];

interface Part {
  readonly ws: string;
  readonly project: Project;
  readonly table: Table;
}

function Content({ ws, project, table }: Part) {
  const base = `${projectPath(ws, project.id)}/${table.name}/structure`;
  const refusal = editRefusal(project);
  useCommands([
    { id: 'structure.column', label: t('addColumn'), keys: 'n', when: () => refusal === null, run: () => void navigate(`${base}/new-column`) },
    { id: 'structure.index', label: t('addIndex'), when: () => refusal === null, run: () => void navigate(`${base}/new-index`) },
  ]);
  return (
    <div class="data-sections">
      <Columns ws={ws} project={project} table={table} />
      <Indexes ws={ws} project={project} table={table} />
      <Drop ws={ws} project={project} table={table} />
    </div>
  );
}

function Columns({ project, table }: Part) {
  const refusal = editRefusal(project);
  const indexed = (name: string) => (table.indexes ?? []).filter(({ columns }) => columns.includes(name)).map((index) => index.name);
  const rename = useAction(async (column: Column) => {
    const from = column.name;
    const name = await openDialog<string>((close) => <Rename from={from} taken={table.columns.map((column) => column.name)} close={close} />);
    if (name === undefined) return;
    await api.patch('/v1/backend/projects/{projectId}/tables/{table}/columns/{column}', { path: { projectId: project.id, table: table.name, column: from }, body: { name } }, columnPrecondition(project, table, column));
    invalidate([`project:${project.id}`]);
    toast(t('columnRenamed', { name }));
  });
  const drop = useAction(async (column: Column) => {
    const { name } = column;
    if (!(await confirm({ title: t('dropColumnTitle', { name }), body: t('dropColumnBody'), action: t('dropColumn'), tone: 'bad', typed: name }))) return;
    await api.delete('/v1/backend/projects/{projectId}/tables/{table}/columns/{column}', { path: { projectId: project.id, table: table.name, column: name } }, columnPrecondition(project, table, column));
    invalidate([`project:${project.id}`]);
    toast(t('columnDropped', { name }));
  });
  return (
    <Card title={t('columns')}>
      <FewRows label={t('columns')} head={[t('name'), t('type'), t('mayBeNull'), t('default'), t('indexes'), t('actions')]}>
        {table.columns.map((column) => {
          const { name, type, nullable, system, default: byDefault } = column;
          return (
          <tr key={name}>
            <td><code>{name}</code></td>
            <td><span class="data-type-name"><TypeIcon type={type} /><span aria-hidden="true">{typeText(type)}</span></span></td>
            <td>{nullable ? t('yes') : t('no')}</td>
            <td>{byDefault === undefined ? <span class="muted">{system ? t('byServer') : '–'}</span> : <code class="data-default">{JSON.stringify(byDefault)}</code>}</td>
            <td class="muted">{indexed(name).join(', ') || '–'}</td>
            <td class="is-end">
              {!system && (
                <Menu
                  icon="more" label={t('columnMenu', { name })} size="small" variant="plain"
                  items={[
                    { label: t('rename'), icon: 'edit', unavailable: refusal, onSelect: () => void rename.run(column) },
                    { label: t('dropColumn'), icon: 'trash', tone: 'bad', unavailable: refusal, onSelect: () => void drop.run(column) },
                  ]}
                />
              )}
            </td>
          </tr>
          );
        })}
      </FewRows>
    </Card>
  );
}

function Rename({ from, taken, close }: { from: string; taken: readonly string[]; close: (name?: string) => void }) {
  const [name, setName] = useState(from);
  const problem = name === from ? null : columnNameProblem(name, taken);
  const unavailable = name === from ? t('nothingChanged') : problem === null ? null : t(`name_${problem}`);
  return (
    <Dialog title={t('renameTitle', { name: from })} onClose={() => close()} actions={<Button type="submit" form="data-rename" variant="primary" unavailable={unavailable}>{t('renameAction')}</Button>}>
      <form id="data-rename" onSubmit={(event) => { event.preventDefault(); if (unavailable === null) close(name); }}>
        <TextField label={t('columnName')} hint={t('renameHint')} value={name} onInput={setName} error={problem === null ? null : t(`name_${problem}`)} maxlength={63} autofocus autocomplete="off" spellcheck={false} />
      </form>
    </Dialog>
  );
}

function Indexes({ ws, project, table }: Part) {
  const refusal = editRefusal(project);
  const indexes = table.indexes ?? [];
  const url = `/v1/backend/projects/${project.id}/tables/${table.name}/indexes`;
  const drop = useAction(async (index: string) => {
    if (!(await confirm({ title: t('dropIndexTitle', { name: index }), body: t('dropIndexBody'), action: t('dropIndex'), tone: 'bad' }))) return;
    await api.delete('/v1/backend/projects/{projectId}/tables/{table}/indexes/{index}', { path: { projectId: project.id, table: table.name, index } }, tablePrecondition(project, table));
    invalidate([`project:${project.id}`]);
    toast(t('indexDropped'));
  });
  return (
    <Card title={t('indexes')} aside={<Button size="small" icon="plus" href={`${projectPath(ws, project.id)}/${table.name}/structure/new-index`} unavailable={refusal}>{t('addIndex')}</Button>}>
      {indexes.length === 0
        ? <p class="card-body muted">{t('noIndexes')}</p>
        : (
          <FewRows label={t('indexes')} head={[t('name'), t('columns'), t('kind'), t('actions')]}>
            {indexes.map(({ name, columns, unique }) => (
              <tr key={name}>
                <td><code>{name}</code></td>
                <td>{columns.join(', ')}</td>
                <td>{unique ? <Badge tone="info">{t('unique')}</Badge> : <span class="muted">{t('ordinary')}</span>}</td>
                <td class="is-end"><span class="data-actions"><CopyCall call={{ method: 'DELETE', url: `${url}/${name}` }} /><Button size="small" unavailable={refusal} onClick={() => void drop.run(name)}>{t('dropIndex')}</Button></span></td>
              </tr>
            ))}
          </FewRows>
        )}
    </Card>
  );
}

function Drop({ ws, project, table }: Part) {
  const drop = useAction(async () => {
    if (!(await confirm({ title: t('dropTableTitle', { name: table.name }), body: table.rowCount === null ? t('dropTableUncounted') : t('dropTableBody', { count: table.rowCount }), action: t('dropTable'), tone: 'bad', typed: table.name }))) return;
    await api.delete('/v1/backend/projects/{projectId}/tables/{table}', { path: { projectId: project.id, table: table.name }, body: { confirmName: table.name } }, tablePrecondition(project, table));
    invalidate([`project:${project.id}`]);
    toast(t('tableDropped', { name: table.name }));
    await navigate(projectPath(ws, project.id));
  });
  return (
    <Card title={t('dropTable')}>
      <div class="card-body data-danger">
        <p class="muted">{t('dropTableLead')}</p>
        <span class="data-actions">
          <CopyCall call={{ method: 'DELETE', url: `/v1/backend/projects/${project.id}/tables/${table.name}`, body: { confirmName: table.name } }} />
          <Button variant="danger" busy={drop.busy} unavailable={editRefusal(project)} onClick={() => void drop.run()}>{t('dropTable')}</Button>
        </span>
      </div>
    </Card>
  );
}
