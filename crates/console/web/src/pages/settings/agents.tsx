// Agents that the person allowed to act for them in the workspace.

import { api, urlOf } from '#api/client';
import { useList, type List as ListData } from '#api/list';
import type { Schemas } from '#api/types';
import { toast, useAction, type RouteProps } from '#frame';
import { Button, confirm, Copyable, Empty, List, Menu, objectItems, Status, Time, type Column } from '#ui';
import { notWriting, SettingsPage } from './frame';
import { t } from './messages';

type Grant = Schemas['OAuthGrant'];

export default function Agents({ params: { ws } }: RouteProps<'/w/:ws/settings/agents'>) {
  const list = useList('/v1/workspaces/{ws}/oauth/grants', { path: { ws } }, { on: ['grant'] });
  const empty = (
    <Empty title={t('noAgents')} action={<Button href="/docs">{t('agentGuide')}</Button>}>
      <p>{t('noAgentsBody')}</p>
      <p><Copyable value={`${location.origin}/mcp`} /></p>
    </Empty>
  );
  return (
    <SettingsPage ws={ws} lead={t('agentsLead')}>
      <List label={t('agents')} list={list} columns={columns(ws, list)} id={({ id }) => id} empty={empty} />
    </SettingsPage>
  );
}

/** Says of whom the agent is, as far as that is proven. */
function publisherOf({ recognized, clientHost }: Grant) {
  if (clientHost === null) return <Status tone="warn" icon="warn">{t('notProven')}</Status>;
  return <Status tone="ok" icon="shield">{recognized === null ? clientHost : t('recognized', { publisher: recognized, host: clientHost })}</Status>;
}

function stateOf({ revokedAt, expiresAt }: Grant) {
  if (revokedAt !== null) return <Status tone="neutral" icon="cross">{t('state_revoked')}</Status>;
  if (Date.parse(expiresAt) <= Date.now()) return <Status tone="warn" icon="clock">{t('state_expired')}</Status>;
  return <Status tone="ok" icon="check">{t('state_valid')}</Status>;
}

function columns(ws: string, list: ListData<Grant>): readonly Column<Grant>[] {
  return [
    { key: 'name', header: t('agent'), isMain: true, cell: ({ clientName }) => clientName },
    { key: 'publisher', header: t('publisher'), hide: 'phone', cell: (grant) => publisherOf(grant) },
    { key: 'state', header: t('state'), cell: (grant) => stateOf(grant) },
    { key: 'access', header: t('access'), cell: ({ access }) => t(`scope_${access}`) },
    { key: 'used', header: t('lastUsed'), hide: 'tablet', cell: ({ lastUsedAt }) => <span class="muted">{lastUsedAt === null ? t('unused') : <Time at={lastUsedAt} />}</span> },
    { key: 'created', header: t('allowed'), hide: 'tablet', cell: ({ createdAt }) => <span class="muted"><Time at={createdAt} /></span> },
    { key: 'actions', header: '', align: 'end', cell: (grant) => <Actions ws={ws} grant={grant} list={list} /> },
  ];
}

function Actions({ ws, grant, list }: { ws: string; grant: Grant; list: ListData<Grant> }) {
  const revoke = useAction(async () => {
    if (!(await confirm({ title: t('revokeAgentTitle', { name: grant.clientName }), body: <p>{t('revokeAgentBody')}</p>, action: t('revoke'), tone: 'bad' }))) return;
    await api.delete('/v1/workspaces/{ws}/oauth/grants/{grantId}', { path: { ws, grantId: grant.id } });
    list.refresh();
    toast(t('revoked', { name: grant.clientName }));
  });
  const items = [
    ...(grant.revokedAt === null ? [{ label: t('revoke'), icon: 'trash' as const, tone: 'bad' as const, unavailable: notWriting(), onSelect: () => void revoke.run() }, null] : []),
    ...objectItems(urlOf('/v1/workspaces/{ws}/oauth/grants', { path: { ws } }), grant),
  ];
  return <Menu icon="more" size="small" variant="plain" label={t('actionsFor', { name: grant.clientName })} items={items} />;
}
