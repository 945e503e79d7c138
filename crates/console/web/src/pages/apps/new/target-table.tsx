// The table of a project in which a new app keeps its rows.

import { useAll } from '#api/all';
import { urlOf } from '#api/client';
import type { Schemas } from '#api/types';
import { Notice, Select } from '#ui';
import { t } from './messages';

export interface Target {
  readonly project: string;
  readonly table: string;
}

type Project = Schemas['Project'];

export interface Targets {
  /** Projects that have a table or may get one; undefined until they are read. */
  readonly projects: readonly Project[] | undefined;
  readonly project: Project | undefined;
  /** The chosen table while it is there, else the first one of the project; null without a table. */
  readonly target: Target | null;
}

/** Reads the projects of a workspace, and returns the table that is chosen. It follows from both, so that no effect has to bring them in line. */
export function useTargets(ws: string, chosen: Target | null): Targets {
  const projects = useAll<Project>(urlOf('/v1/workspaces/{ws}/backend/projects', { path: { ws } }), ['project', 'table']).items;
  const project = projects?.find(({ id }) => id === chosen?.project) ?? projects?.[0];
  const tables = project?.tables.map(({ name }) => name) ?? [];
  const table = chosen !== null && chosen.project === project?.id && tables.includes(chosen.table) ? chosen.table : tables[0];
  return { projects, project, target: project === undefined || table === undefined ? null : { project: project.id, table } };
}

export function TargetTable({ ws, targets: { projects, project, target }, onChange }: { ws: string; targets: Targets; onChange: (value: Target) => void }) {
  if (!projects) return null;
  if (project === undefined) return <Notice tone="warn"><p>{t.rich('noProject', { link: <a href={`/w/${ws}/data/new`}>{t('noProjectLink')}</a> })}</p></Notice>;
  return (
    <div class="new-pair">
      <Select label={t('targetProject')} value={project.id} onChange={(id) => onChange({ project: id, table: '' })} options={projects.map(({ id, name }) => ({ value: id, label: name }))} />
      {target === null
        ? <Notice tone="warn"><p>{t.rich('noTable', { link: <a href={`/w/${ws}/data/${project.id}/-/new-table`}>{t('noTableLink')}</a> })}</p></Notice>
        : <Select label={t('targetTable')} value={target.table} onChange={(table) => onChange({ project: project.id, table })} options={project.tables.map(({ name }) => ({ value: name, label: name }))} />}
    </div>
  );
}
