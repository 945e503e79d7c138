// The keys of a project.

import { useFiltered } from '#api/filtered';
import { useList } from '#api/list';
import { api, urlOf, type CallOptions } from '#api/client';
import { ofItem } from '#api/listed';
import type { Schemas } from '#api/types';
import { query, setQuery, toast, useAction, type RouteProps } from '#frame';
import { Badge, Button, CopyCall, Empty, List, Notice, Segments, Status, Time, confirm, type Column } from '#ui';
import { t } from '../messages';
import { ProjectPage, adminRefusal, projectPath, type Place, type Project } from './frame';

type Key = Schemas['ProjectKey'];

export default function Keys({ params: { ws, project } }: RouteProps<'/w/:ws/data/:project/-/keys'>) {
  return (
    <ProjectPage ws={ws} id={project} title={t('keys')} lead={t('keysLead')} actions={(loaded) => <Button variant="primary" icon="plus" href={`${projectPath(ws, project)}/-/keys/new`} unavailable={adminRefusal(loaded)}>{t('newKey')}</Button>}>
      {(loaded) => (loaded.canAdmin ? <KeyList ws={ws} project={loaded} /> : <Notice>{t('mayNotAdmin')}</Notice>)}
    </ProjectPage>
  );
}

function KeyList({ ws, project }: Place) {
  const list = useList('/v1/backend/projects/{projectId}/keys', { path: { projectId: project.id } }, { on: ['project_key', `project:${project.id}`] });
  const showsRevoked = query.value.get('revoked') === 'true';
  const shown = useFiltered(list, ({ revokedAt }) => (revokedAt !== null) === showsRevoked);
  const revoke = useAction(async (key: Key) => {
    if (!(await confirm({ title: t('revokeTitle', { name: key.name }), body: t('revokeBody'), action: t('revoke'), tone: 'bad', typed: key.name }))) return;
    await api.delete('/v1/backend/projects/{projectId}/keys/{keyId}', { path: { projectId: project.id, keyId: key.id } }, keyPrecondition(project.id, key));
    list.refresh();
    toast(t('revoked', { name: key.name }));
  });
  const refusal = adminRefusal(project);
  return (
    <>
      <div class="filter-bar"><Segments label={t('shown')} value={showsRevoked ? 'revoked' : 'current'} options={[{ value: 'current', label: t('current') }, { value: 'revoked', label: t('revokedKeys') }]} onChange={(value) => setQuery({ revoked: value === 'revoked' ? 'true' : null })} /></div>
      <List
        label={t('keys')} list={shown} columns={columns(project, refusal, showsRevoked, (key) => void revoke.run(key))} id={({ id }) => id}
        empty={showsRevoked
          ? <Empty title={t('noneRevoked')} />
          : <Empty title={t('noKeys')} action={<Button variant="primary" icon="plus" href={`${projectPath(ws, project.id)}/-/keys/new`} unavailable={refusal}>{t('newKey')}</Button>}><p>{t('noKeysBody')}</p></Empty>}
      />
    </>
  );
}

/** Returns the options of a change of the key that the person has seen. */
function keyPrecondition(projectId: string, key: Key): CallOptions {
  const url = urlOf('/v1/backend/projects/{projectId}/keys', { path: { projectId } });
  return ofItem<readonly Key[]>(key, url, (keys) => keys.find(({ id }) => id === key.id));
}

function columns(project: Project, refusal: string | null, showsRevoked: boolean, revoke: (key: Key) => void): readonly Column<Key>[] {
  return [
    { key: 'name', header: t('name'), isMain: true, cell: ({ name }) => name },
    { key: 'kind', header: t('kind'), cell: ({ kind }) => <Badge tone={kind === 'secret' ? 'warn' : 'info'}>{t(`kind_${kind}`)}</Badge> },
    { key: 'value', header: t('value'), hide: 'phone', cell: ({ prefix, last4 }) => <code>{`${prefix}…${last4}`}</code> },
    { key: 'may', header: t('may'), hide: 'tablet', cell: (key) => <Reach keyOf={key} /> },
    { key: 'used', header: t('lastUsed'), hide: 'phone', cell: ({ lastUsedAt }) => <span class="muted">{lastUsedAt === null ? t('never') : <Time at={lastUsedAt} />}</span> },
    showsRevoked
      ? { key: 'revoked', header: t('revokedAt'), cell: ({ revokedAt }) => revokedAt && <Status tone="neutral" icon="cross"><Time at={revokedAt} /></Status> }
      : {
        key: 'actions', header: t('actions'), align: 'end',
        cell: (key) => (
          <span class="data-actions">
            <CopyCall call={{ method: 'DELETE', url: `/v1/backend/projects/${project.id}/keys/${key.id}` }} />
            <Button size="small" unavailable={refusal} onClick={() => revoke(key)}>{t('revoke')}</Button>
          </span>
        ),
      },
  ];
}

function Reach({ keyOf: { kind, scopes, tables } }: { keyOf: Key }) {
  if (kind === 'publishable') return <span class="muted">{t('byRules')}</span>;
  return <span class="data-scopes">{scopes.map((scope) => <code key={scope}>{scope}</code>)}{tables !== null && <span class="muted">{t('onlyTables', { tables: tables.join(', ') })}</span>}</span>;
}
