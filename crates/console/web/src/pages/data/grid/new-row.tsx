// A new row, in the panel over the grid.

import { useMemo, useState } from 'preact/hooks';
import { invalidate } from '#api/resource';
import { closePanel, discardUnsaved, toast, useAction, useUnsaved, type RouteProps } from '#frame';
import { Button, CopyCall, Loaded, Panel, ProblemView } from '#ui';
import { editRefusal, useProject, type Project, type Table } from '../project/frame';
import { bodyOf } from './cells';
import { t } from './messages';
import { readDraft, type Draft } from './row-edit';
import { RowForm } from './row-form';
import { TableRows } from './table-rows';

export default function NewRowPanel({ params: { project: id, table: name } }: RouteProps<'/w/:ws/data/:project/:table/new'>) {
  const project = useProject(id);
  const table = project.data?.tables.find((one) => one.name === name);
  if (project.data && table) return <NewRow project={project.data} table={table} />;
  return <Panel title={t('insertRow')}><Loaded resource={project}>{() => null}</Loaded></Panel>;
}

function NewRow({ project, table }: { project: Project; table: Table }) {
  const rows = useMemo(() => new TableRows(project.id, table.name, table.columns), [project.id, table]);
  const [draft, setDraft] = useState<Draft>({});
  const [isTried, setTried] = useState(false);
  const fields = table.columns.filter(({ name, system }) => !system || name === 'id');
  const { cells, problems } = readDraft(fields, draft);
  const missing = fields.filter((column) => !column.nullable && !column.system && column.default === undefined && !(column.name in draft));
  const shown = isTried ? { ...Object.fromEntries(missing.map(({ name }) => [name, 'required' as const])), ...problems } : problems;
  useUnsaved(Object.keys(draft).length > 0, { form: 'new-row', value: draft, restore: setDraft });
  const insert = useAction(async (goesOn: boolean) => {
    setTried(true);
    if (Object.keys(problems).length > 0 || missing.length > 0) return;
    const [inserted] = await rows.insert([cells]);
    setDraft({});
    setTried(false);
    discardUnsaved();
    invalidate([`rows:${project.id}/${table.name}`]);
    toast(t('inserted', { id: inserted ?? '' }));
    if (!goesOn) closePanel();
  }, { shows: 'inline' });
  const unavailable = editRefusal(project);
  const actions = (
    <>
      <CopyCall call={{ method: 'POST', url: rows.url, body: bodyOf(fields, cells) }} />
      <Button busy={insert.busy} unavailable={unavailable} onClick={() => void insert.run(true)}>{t('insertAndNext')}</Button>
      <Button type="submit" form="data-new-row" variant="primary" busy={insert.busy} unavailable={unavailable}>{t('insertRow')}</Button>
    </>
  );
  return (
    <Panel title={t('insertInto', { table: table.name })} actions={actions}>
      <form id="data-new-row" class="data-form" onSubmit={(event) => { event.preventDefault(); void insert.run(false); }}>
        {insert.problem && <ProblemView problem={insert.problem} />}
        <RowForm columns={fields} draft={draft} problems={shown} onChange={setDraft} isNew />
      </form>
    </Panel>
  );
}
