// The data projects of a workspace.

import { api } from '#api/client';
import { useList } from '#api/list';
import { invalidate, useResource } from '#api/resource';
import { Page, hasRole, isReadOnly, query, setQuery, toast, useAction, type RouteProps } from '#frame';
import { formatNumber } from '#i18n';
import { Button, Empty, List, Loaded, Segments, Time, type Column } from '#ui';
import { t } from '../messages';
import type { Project } from './frame';

export default function Projects({ params: { ws } }: RouteProps<'/w/:ws/data'>) {
  const showsDeleted = query.value.get('deleted') === 'true';
  const unavailable = isReadOnly.value ? t('viewing') : hasRole('member') ? null : t('mayNotCreate');
  return (
    <Page title={t('title')} lead={t('lead')} actions={<Button variant="primary" icon="plus" href={`/w/${ws}/data/new`} unavailable={unavailable}>{t('newProject')}</Button>}>
      <div class="filter-bar">
        <Segments label={t('shown')} value={showsDeleted ? 'deleted' : 'current'} options={[{ value: 'current', label: t('current') }, { value: 'deleted', label: t('deletedProjects') }]} onChange={(value) => setQuery({ deleted: value === 'deleted' ? 'true' : null })} />
      </div>
      {showsDeleted ? <Deleted ws={ws} /> : <Current ws={ws} unavailable={unavailable} />}
    </Page>
  );
}

const COLUMNS: () => readonly Column<Project>[] = () => [
  { key: 'name', header: t('project'), isMain: true, cell: ({ name, description }) => <>{name}{description !== '' && <small class="data-description">{description}</small>}</> },
  { key: 'tables', header: t('tables'), align: 'end', cell: ({ tableCount }) => formatNumber(tableCount) },
  { key: 'keys', header: t('keys'), align: 'end', hide: 'phone', cell: ({ keyCount }) => formatNumber(keyCount) },
  { key: 'requests', header: t('perMinute'), align: 'end', hide: 'tablet', cell: ({ requestsPerMin }) => formatNumber(requestsPerMin, { maximumFractionDigits: 1 }) },
  { key: 'created', header: t('created'), hide: 'phone', cell: ({ createdAt }) => <span class="muted"><Time at={createdAt} /></span> },
];

function Current({ ws, unavailable }: { ws: string; unavailable: string | null }) {
  const list = useList('/v1/workspaces/{ws}/backend/projects', { path: { ws } }, { on: ['project', 'table'] });
  return (
    <List
      label={t('title')} list={list} columns={COLUMNS()} id={({ id }) => id} href={({ id }) => `/w/${ws}/data/${id}`}
      empty={<Empty title={t('noProjects')} action={<Button variant="primary" icon="plus" href={`/w/${ws}/data/new`} unavailable={unavailable}>{t('newProject')}</Button>}><p>{t('noProjectsBody')}</p></Empty>}
    />
  );
}

/** Projects that can be restored for seven days. */
function Deleted({ ws }: { ws: string }) {
  const deleted = useResource('/v1/workspaces/{ws}/backend/projects', { path: { ws }, query: { deleted: true } }, { on: ['project'] });
  const restore = useAction(async (project: Project) => {
    await api.post('/v1/backend/projects/{projectId}/restore', { path: { projectId: project.id } });
    invalidate(['project']);
    toast(t('restored', { name: project.name }));
  });
  return (
    <Loaded resource={deleted}>
      {({ items }) => (items.length === 0
        ? <Empty title={t('noneDeleted')}><p>{t('noneDeletedBody')}</p></Empty>
        : (
          <ul class="data-deleted">
            {items.map((project) => (
              <li key={project.id}>
                <div><b>{project.name}</b><small class="muted">{project.restorableUntil ? t.rich('restorableUntil', { when: <Time at={project.restorableUntil} as="moment" /> }) : project.id}</small></div>
                <Button size="small" icon="replay" busy={restore.busy} unavailable={isReadOnly.value ? t('viewing') : null} onClick={() => void restore.run(project)}>{t('restore')}</Button>
              </li>
            ))}
          </ul>
        ))}
    </Loaded>
  );
}
