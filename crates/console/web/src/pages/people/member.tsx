// One member: their role, the end of their access, and leaving.

import { useState } from 'preact/hooks';
import { useAll } from '#api/all';
import { api, urlOf, type CallOptions } from '#api/client';
import { ofItem } from '#api/listed';
import { invalidate } from '#api/resource';
import type { Schemas } from '#api/types';
import { closePanel, isReadOnly, loadSession, navigate, ownRole, role as shownRole, roleText, session, toast, toastProblem, useAction, workspace, type Role, type RouteProps } from '#frame';
import { Avatar, Button, confirm, Copyable, Empty, Facts, Loaded, Notice, ObjectMenu, Panel, Select, Time } from '#ui';
import { AccessEnd } from './access-end';
import { t } from './messages';

type Member = Schemas['Member'];

const ROLES: readonly Role[] = ['owner', 'admin', 'builder', 'member', 'viewer'];

/** Returns the options of a change of the member that the person has seen. */
export function memberPrecondition(ws: string, member: Member): CallOptions {
  const url = urlOf('/v1/workspaces/{ws}/members', { path: { ws }, query: { limit: 200 } });
  return ofItem<Schemas['MemberList']>(member, url, ({ items }) => items.find(({ user }) => user.id === member.user.id));
}

/** Marks what shows members as old, before the server's event does. */
export function membersChanged(): void {
  invalidate(['member']);
}

export default function MemberPanel({ params: { ws, user } }: RouteProps<'/w/:ws/people/members/:user'>) {
  const url = urlOf('/v1/workspaces/{ws}/members', { path: { ws } });
  const { items, isCut, error, refresh } = useAll<Member>(url, ['member']);
  const member = items?.find((item) => item.user.id === user);
  return (
    <Panel title={member?.user.name ?? t('person')}>
      <Loaded resource={{ data: items, error, refresh }}>
        {(all) => (member === undefined ? isCut ? <Empty title={t('notAmong', { count: all.length })} /> : <Empty title={t('notMember')}><p>{t('notMemberBody')}</p></Empty> : (
          <>
            <header class="people-member">
              <Avatar user={member.user} size="large" />
              <div><Copyable value={member.user.email} /><Copyable value={member.user.id} /></div>
              <ObjectMenu url={url} value={member} />
            </header>
            <Facts facts={[[t('joined'), <Time at={member.joinedAt} as="moment" />], [t('presence'), member.online ? t('online') : t('away')]]} />
            <Manage key={`${member.role} ${member.accessEndsAt}`} ws={ws} member={member} owners={all.filter(({ role }) => role === 'owner').length} />
          </>
        ))}
      </Loaded>
    </Panel>
  );
}

/** Why the person may not change this member, or `null` if they may. */
function notChanging(member: Member, owners: number): string | null {
  if (isReadOnly.value) return t('readOnly');
  const mine = shownRole.value;
  if (mine !== 'admin' && mine !== 'owner') return t('adminsOnly');
  if (member.role === 'owner' && mine !== 'owner') return t('ownersOnly');
  return member.role === 'owner' && owners === 1 ? t('lastOwner') : null;
}

function Manage({ ws, member, owners }: { ws: string; member: Member; owners: number }) {
  const isMe = member.user.id === session.value?.user.id;
  const reason = notChanging(member, owners);
  return (
    <>
      {reason !== null && <Notice>{reason}</Notice>}
      {reason === null && <RoleForm ws={ws} member={member} />}
      {reason === null && member.role !== 'owner' && <AccessEnd ws={ws} member={member} />}
      <Ending ws={ws} member={member} isMe={isMe} owners={owners} reason={reason} />
    </>
  );
}

function RoleForm({ ws, member }: { ws: string; member: Member }) {
  const [chosen, setChosen] = useState<Role>(member.role);
  const path = { ws, userId: member.user.id };
  const change = useAction(async (to: Role) => {
    const before = member.role;
    await api.patch('/v1/workspaces/{ws}/members/{userId}', { path, body: { role: to } }, memberPrecondition(ws, member));
    membersChanged();
    const undo = () => void api.patch('/v1/workspaces/{ws}/members/{userId}', { path, body: { role: before } }, memberPrecondition(ws, member)).then(membersChanged, toastProblem);
    toast(t('roleChanged', { name: member.user.name, role: roleText(to) }), { action: { label: t('undo'), run: undo } });
    if (member.user.id === session.value?.user.id) await loadSession();
  });
  const options = ROLES.filter((role) => role !== 'owner' || ownRole.value === 'owner' || member.role === 'owner');
  return (
    <form class="people-form" onSubmit={(event) => { event.preventDefault(); void change.run(chosen); }}>
      <Select label={t('role')} hint={t(`may_${chosen}`)} value={chosen} onChange={setChosen} options={options.map((value) => ({ value, label: roleText(value) }))} />
      <Button type="submit" busy={change.busy} unavailable={chosen === member.role ? t('unchanged') : null}>{t('changeRole')}</Button>
    </form>
  );
}

function Ending({ ws, member, isMe, owners, reason }: { ws: string; member: Member; isMe: boolean; owners: number; reason: string | null }) {
  const { user, role } = member;
  const path = { ws, userId: user.id };
  const name = workspace.value?.name ?? '';
  const transfer = useAction(async () => {
    if (!(await confirm({ title: t('transferTitle', { name: user.name }), body: <p>{t('transferBody', { name: user.name })}</p>, action: t('transfer'), typed: name, tone: 'bad' }))) return;
    await api.post('/v1/workspaces/{ws}/members/{userId}/transfer-ownership', { path, body: { confirmName: name } });
    await loadSession();
    membersChanged();
    toast(t('transferred', { name: user.name }));
  });
  const remove = useAction(async () => {
    if (!(await confirm({ title: isMe ? t('leaveTitle', { workspace: name }) : t('removeTitle', { name: user.name }), body: <p>{isMe ? t('leaveBody') : t('removeBody')}</p>, action: isMe ? t('leave') : t('remove'), tone: 'bad' }))) return;
    await api.delete('/v1/workspaces/{ws}/members/{userId}', { path }, memberPrecondition(ws, member));
    if (isMe) {
      await loadSession();
      await navigate('/');
      return;
    }
    membersChanged();
    toast(t('removed', { name: user.name }));
    closePanel();
  });
  const removing = isMe ? (isReadOnly.value ? t('readOnly') : role === 'owner' && owners === 1 ? t('lastOwner') : null) : reason;
  return (
    <section class="people-ending">
      {ownRole.value === 'owner' && !isMe && role !== 'owner' && <Button busy={transfer.busy} unavailable={isReadOnly.value ? t('readOnly') : null} onClick={() => void transfer.run()}>{t('transfer')}</Button>}
      {(isMe || removing === null) && <Button variant="danger" busy={remove.busy} unavailable={removing} onClick={() => void remove.run()}>{isMe ? t('leave') : t('remove')}</Button>}
    </section>
  );
}
