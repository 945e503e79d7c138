// A project at a glance: how full it is, its address, its tables.

import { navigate, useCommands, type RouteProps } from '#frame';
import { formatBytes, formatNumber } from '#i18n';
import { Badge, Button, Card, Copyable, Empty, Facts, ObjectMenu, Table as FewRows, Time, now } from '#ui';
import { t } from '../messages';
import { oldCountAt } from '../table/rows';
import { ProjectPage, editRefusal, projectPath, type Place, type Project } from './frame';

export default function Overview({ params: { ws, project } }: RouteProps<'/w/:ws/data/:project'>) {
  return (
    <ProjectPage
      ws={ws} id={project}
      aside={({ id }) => <Copyable value={id} />}
      actions={(loaded) => (
        <>
          <Button variant="primary" icon="plus" href={`${projectPath(ws, project)}/-/new-table`} unavailable={editRefusal(loaded)}>{t('newTable')}</Button>
          <ObjectMenu url={`/v1/backend/projects/${project}`} value={loaded} />
        </>
      )}
    >
      {(loaded) => <Content ws={ws} project={loaded} />}
    </ProjectPage>
  );
}

function Content({ ws, project }: Place) {
  const base = projectPath(ws, project.id);
  useCommands([
    { id: 'data.new-table', label: t('newTable'), keys: 'n', when: () => editRefusal(project) === null, run: () => void navigate(`${base}/-/new-table`) },
    { id: 'data.api', label: t('api'), run: () => void navigate(`${base}/-/api`) },
    { id: 'data.requests', label: t('requests'), run: () => void navigate(`${base}/-/requests`) },
    { id: 'data.keys', label: t('keys'), when: () => project.canAdmin, run: () => void navigate(`${base}/-/keys`) },
    { id: 'data.settings', label: t('settings'), run: () => void navigate(`${base}/-/settings`) },
  ]);
  return (
    <div class="data-sections">
      {project.description !== '' && <p class="page-lead">{project.description}</p>}
      <Facts
        facts={[
          [t('rows'), <RowCount project={project} />],
          [t('keys'), formatNumber(project.keyCount)],
          [t('perMinute'), formatNumber(project.requestsPerMin, { maximumFractionDigits: 1 })],
          [t('created'), <Time at={project.createdAt} />],
        ]}
      />
      {project.storedBytes != null && <Storage used={project.storedBytes} most={project.maxStoredBytes} />}
      <Card title={t('address')} aside={<Button size="small" href={`${base}/-/api`}>{t('examples')}</Button>}><div class="card-body"><Copyable value={project.url} /></div></Card>
      {project.tables.length === 0
        ? <Empty title={t('noTables')} action={<Button variant="primary" icon="plus" href={`${base}/-/new-table`} unavailable={editRefusal(project)}>{t('newTable')}</Button>}><p>{t('noTablesBody')}</p></Empty>
        : (
          <Card title={t('tables')}>
            <FewRows label={t('tables')} head={[t('table'), { text: t('rows'), align: 'end' }, { text: t('columns'), align: 'end' }, t('access')]}>
              {project.tables.map(({ name, rowCount, columns, rules, publicRead }) => (
                <tr key={name}>
                  <td><a class="link" href={`${base}/${name}`}>{name}</a></td>
                  <td class="is-end">{rowCount == null ? '–' : formatNumber(rowCount)}</td>
                  <td class="is-end">{formatNumber(columns.length)}</td>
                  <td>{publicRead ? <Badge tone="warn">{t('publicTable')}</Badge> : rules.length > 0 ? <a class="link" href={`${base}/${name}/rules`}>{t('ruleCount', { count: rules.length })}</a> : <span class="muted">{t('privateTable')}</span>}</td>
                </tr>
              ))}
            </FewRows>
          </Card>
        )}
    </div>
  );
}

function RowCount({ project: { rowCount, rowCountAt } }: { project: Project }) {
  if (rowCountAt === null) return <>–</>;
  const old = oldCountAt(rowCountAt, now.value);
  if (old === null) return <>{formatNumber(rowCount)}</>;
  return <>{t.rich('rowsCountedAt', { number: formatNumber(rowCount), when: <Time at={old} /> })}</>;
}

const NEARLY_FULL = 0.8;

function Storage({ used, most }: { used: number; most: number }) {
  const isFull = used >= most;
  const tone = isFull ? 'bad' : used >= most * NEARLY_FULL ? 'warn' : 'accent';
  return (
    <div class={`data-storage tone-${tone}`}>
      <span>{t('storage', { used: formatBytes(used), most: formatBytes(most) })}</span>
      <meter min={0} max={most} value={used} aria-label={t('storageLabel')} />
      {isFull && <p class="field-error">{t('storageFull')}</p>}
    </div>
  );
}
