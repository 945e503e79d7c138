// Who was invited.

import { useFiltered } from '#api/filtered';
import { useList, type List as ListData } from '#api/list';
import { api, urlOf } from '#api/client';
import type { Schemas } from '#api/types';
import { hasRole, query, roleText, toast, useAction, type RouteProps } from '#frame';
import { Button, confirm, Empty, FilterBar, List, Menu, objectItems, Status, Time, type Column, type IconName, type Tone } from '#ui';
import { AdminsOnly, notManaging, PeoplePage } from './frame';
import { revealLinks } from './links';
import { t } from './messages';

type Invite = Schemas['Invite'];
type State = Schemas['InviteStatus'];

const STATES: readonly State[] = ['pending', 'accepted', 'expired', 'revoked'];
const LOOKS: Readonly<Record<State, readonly [Tone, IconName]>> = { pending: ['info', 'ring'], accepted: ['ok', 'check'], revoked: ['neutral', 'cross'], expired: ['warn', 'clock'] };

export default function Invites({ params: { ws } }: RouteProps<'/w/:ws/people/invites'>) {
  return <PeoplePage ws={ws}>{hasRole('admin') ? <InviteList ws={ws} /> : <AdminsOnly />}</PeoplePage>;
}

function InviteList({ ws }: { ws: string }) {
  const all = useList('/v1/workspaces/{ws}/invites', { path: { ws }, query: { limit: 200 } }, { on: ['invite', 'member'] });
  const state = query.value.get('status');
  const list = useFiltered(all, state === null ? null : ({ status }) => status === state);
  const empty = state === null
    ? <Empty title={t('noInvites')} action={<Button variant="primary" icon="plus" href={`/w/${ws}/people/invites/new`} unavailable={notManaging()}>{t('invite')}</Button>}><p>{t('noInvitesBody')}</p></Empty>
    : <Empty title={t('noneFound')} action={<Button href={`/w/${ws}/people/invites`}>{t('showAll')}</Button>} />;
  return (
    <>
      <FilterBar filters={[{ name: 'status', label: t('status'), options: STATES.map((value) => ({ value, label: t(`invite_${value}`) })) }]} />
      <List label={t('invites')} list={list} columns={columns(ws, all)} id={({ id }) => id} empty={empty} />
    </>
  );
}

function columns(ws: string, list: ListData<Invite>): readonly Column<Invite>[] {
  return [
    { key: 'email', header: t('email'), isMain: true, cell: ({ email }) => email },
    { key: 'status', header: t('status'), cell: ({ status }) => <Status tone={LOOKS[status][0]} icon={LOOKS[status][1]}>{t(`invite_${status}`)}</Status> },
    { key: 'role', header: t('role'), cell: ({ role }) => roleText(role) },
    { key: 'by', header: t('invitedBy'), hide: 'tablet', cell: ({ invitedByName }) => <span class="muted">{invitedByName ?? '–'}</span> },
    { key: 'created', header: t('sent'), hide: 'phone', cell: ({ createdAt }) => <span class="muted"><Time at={createdAt} /></span> },
    { key: 'expires', header: t('validUntil'), hide: 'tablet', cell: ({ expiresAt }) => <span class="muted"><Time at={expiresAt} as="moment" /></span> },
    { key: 'actions', header: '', align: 'end', cell: (invite) => <Actions ws={ws} invite={invite} list={list} /> },
  ];
}

function Actions({ ws, invite, list }: { ws: string; invite: Invite; list: ListData<Invite> }) {
  const path = { ws, inviteId: invite.id };
  const resend = useAction(async (deliver: Schemas['Deliver']) => {
    const sent = await api.post('/v1/workspaces/{ws}/invites/{inviteId}/resend', { path, body: { deliver } });
    list.refresh();
    if (deliver === 'link') await revealLinks(sent.links);
    else toast(t(sent.delivery === 'dev-log' ? 'resentToLog' : 'resent', { email: invite.email }));
  });
  const revoke = useAction(async () => {
    if (!(await confirm({ title: t('revokeTitle', { email: invite.email }), body: <p>{t('revokeBody')}</p>, action: t('revoke'), tone: 'bad' }))) return;
    await api.delete('/v1/workspaces/{ws}/invites/{inviteId}', { path });
    list.refresh();
    toast(t('revoked', { email: invite.email }));
  });
  const unavailable = notManaging();
  const isOpen = invite.status === 'pending' || invite.status === 'expired';
  const items = [
    ...(isOpen ? [
      { label: t('resend'), icon: 'refresh' as const, unavailable, onSelect: () => void resend.run('email') },
      { label: t('newLink'), icon: 'link' as const, unavailable, detail: t('newLinkHint'), onSelect: () => void resend.run('link') },
    ] : []),
    ...(invite.status === 'pending' ? [{ label: t('revoke'), icon: 'trash' as const, tone: 'bad' as const, unavailable, onSelect: () => void revoke.run() }] : []),
    ...(isOpen ? [null] : []),
    ...objectItems(urlOf('/v1/workspaces/{ws}/invites', { path: { ws } }), invite),
  ];
  return <Menu icon="more" size="small" variant="plain" label={t('actionsFor', { name: invite.email })} items={items} />;
}
