// The person's workspaces: those they are in, may join, and may restore.

import { api, urlOf } from '#api/client';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { loadSession, navigate, roleText, session, toast, useAction, workspacePath, workspaces, type Role } from '#frame';
import { Button, Card, confirm, Menu, objectItems, ProblemView, Time } from '#ui';
import { AccountPage, LOOK_AGAIN, notWriting } from './frame';
import { t } from './messages';

export default function Workspaces() {
  return (
    <AccountPage lead={t('workspacesLead')} actions={<Button variant="primary" icon="plus" href="/welcome" unavailable={notWriting()}>{t('newWorkspace')}</Button>}>
      <div class="account-column">
        <Suggestions />
        <Own />
        <Deleted />
      </div>
    </AccountPage>
  );
}

/** Workspaces that the person may join by the domain of their address. */
function Suggestions() {
  const suggestions = useResource('/v1/me/join-suggestions', {}, { every: LOOK_AGAIN });
  const join = useAction(async (ws: string) => {
    await api.post('/v1/workspaces/{ws}/join', { path: { ws }, body: {} });
    await loadSession();
    await navigate(workspacePath(ws));
  });
  if (suggestions.error) return <ProblemView problem={suggestions.error} onRetry={suggestions.refresh} />;
  if (!suggestions.data?.items.length) return null;
  return (
    <Card title={t('suggestions')}>
      <ul class="account-rows">
        {suggestions.data.items.map(({ workspaceId, name, role, memberCount }) => (
          <li key={workspaceId}>
            <span>{name}<small>{t('membersAndRole', { count: memberCount, role: roleText(role as Role) })}</small></span>
            <Button busy={join.busy} unavailable={notWriting()} onClick={() => void join.run(workspaceId)}>{t('join')}</Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Own() {
  return (
    <Card title={t('own')}>
      {workspaces.value.length === 0 ? <p class="card-body muted">{t('noWorkspaces')}</p> : <ul class="account-rows">{workspaces.value.map((item) => <OwnRow key={item.id} item={item} />)}</ul>}
    </Card>
  );
}

function OwnRow({ item }: { item: Schemas['WorkspaceItem'] }) {
  const leave = useAction(async () => {
    const userId = session.value?.user.id;
    if (userId === undefined || !(await confirm({ title: t('leaveTitle', { name: item.name }), body: <p>{t('leaveBody')}</p>, action: t('leave'), tone: 'bad' }))) return;
    await api.delete('/v1/workspaces/{ws}/members/{userId}', { path: { ws: item.id, userId } });
    await loadSession();
    toast(t('left', { name: item.name }));
  });
  const items = [{ label: t('leave'), icon: 'out' as const, tone: 'bad' as const, unavailable: notWriting(), onSelect: () => void leave.run() }, null, ...objectItems(urlOf('/v1/workspaces', {}), item)];
  return (
    <li>
      <a class="link" href={workspacePath(item.id)}>{item.name}</a>
      <small class="muted">{t('membersAndRole', { count: item.memberCount, role: roleText(item.role) })}</small>
      <Menu icon="more" size="small" variant="plain" label={t('actionsFor', { name: item.name })} items={items} />
    </li>
  );
}

function Deleted() {
  const list = useResource('/v1/workspaces', { query: { deleted: true } }, { on: ['workspace'] });
  const restore = useAction(async (item: Schemas['WorkspaceItem']) => {
    await api.post('/v1/workspaces/{ws}/restore', { path: { ws: item.id } });
    await loadSession();
    list.refresh();
    toast(t('restored', { name: item.name }));
  });
  if (list.error) return <ProblemView problem={list.error} onRetry={list.refresh} />;
  const deleted = list.data?.items ?? [];
  if (deleted.length === 0) return null;
  return (
    <Card title={t('deleted')}>
      <ul class="account-rows">
        {deleted.map((item) => (
          <li key={item.id}>
            <span>{item.name}{item.restorableUntil !== null && <small>{t.rich('restorableUntil', { when: <Time at={item.restorableUntil} as="moment" /> })}</small>}</span>
            <Button busy={restore.busy} unavailable={notWriting()} onClick={() => void restore.run(item)}>{t('restore')}</Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}
