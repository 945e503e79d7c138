// The table of a project in which a new app keeps its rows.

import { useEffect } from 'preact/hooks';
import { useResource } from '#api/resource';
import { Notice, Select } from '#ui';
import { t } from './messages';

export interface Target {
  readonly project: string;
  readonly table: string;
}

interface TargetTableProps {
  readonly ws: string;
  readonly value: Target | null;
  readonly onChange: (value: Target | null) => void;
}

/** Chooses the first project and table by itself. */
export function TargetTable({ ws, value, onChange }: TargetTableProps) {
  const projects = useResource('/v1/workspaces/{ws}/backend/projects', { path: { ws }, query: { limit: 200 } }, { on: ['project'] });
  const items = projects.data?.items ?? [];
  const project = items.find(({ id }) => id === value?.project) ?? items[0];
  const tables = project?.tables.map(({ name }) => name) ?? [];
  const table = value !== null && value.project === project?.id && tables.includes(value.table) ? value.table : tables[0];
  useEffect(() => {
    if (project !== undefined && table !== undefined) onChange({ project: project.id, table });
    else if (projects.data) onChange(null);
  }, [project?.id, table, projects.data === undefined]);
  if (!projects.data) return null;
  if (project === undefined) return <Notice tone="warn"><p>{t.rich('noProject', { link: <a href={`/w/${ws}/data/new`}>{t('noProjectLink')}</a> })}</p></Notice>;
  return (
    <div class="new-pair">
      <Select label={t('targetProject')} value={project.id} onChange={(id) => onChange({ project: id, table: '' })} options={items.map(({ id, name }) => ({ value: id, label: name }))} />
      {table === undefined
        ? <Notice tone="warn"><p>{t.rich('noTable', { link: <a href={`/w/${ws}/data/${project.id}/-/new-table`}>{t('noTableLink')}</a> })}</p></Notice>
        : <Select label={t('targetTable')} value={table} onChange={(name) => onChange({ project: project.id, table: name })} options={tables.map((name) => ({ value: name, label: name }))} />}
    </div>
  );
}
