// Who is in the workspace.

import { useSignal } from '@preact/signals';
import { useFiltered } from '#api/filtered';
import { useList } from '#api/list';
import type { Schemas } from '#api/types';
import { path, query, roleText, session, useTitle, type Role, type RouteProps } from '#frame';
import { Button, Empty, FilterBar, List, Person, Status, TextField, Time, type Column } from '#ui';
import { PeoplePage } from './frame';
import { t } from './messages';

type Member = Schemas['Member'];

const ROLES: readonly Role[] = ['owner', 'admin', 'builder', 'member', 'viewer'];
const userId = (member: Member) => member.user.id;

export default function Members({ params: { ws } }: RouteProps<'/w/:ws/people'>) {
  useTitle(t('title'));
  const search = useSignal('');
  const all = useList('/v1/workspaces/{ws}/members', { path: { ws }, query: { limit: 200 } }, { on: ['member'], key: userId });
  const role = query.value.get('role');
  const text = search.value.trim().toLowerCase();
  const matches = ({ role: theirs, user }: Member) => (role === null || theirs === role) && `${user.name} ${user.email}`.toLowerCase().includes(text);
  const list = useFiltered(all, role === null && text === '' ? null : matches);
  const href = (member: Member) => `/w/${ws}/people/members/${member.user.id}${location.search}`;
  return (
    <PeoplePage ws={ws}>
      <FilterBar filters={[{ name: 'role', label: t('role'), options: ROLES.map((value) => ({ value, label: roleText(value) })) }]}>
        <div class="people-search"><TextField label={t('search')} isLabelHidden type="search" placeholder={t('search')} value={search.value} onInput={(value) => { search.value = value; }} /></div>
      </FilterBar>
      <List
        label={t('members')} list={list} columns={columns()} id={userId} href={href}
        isCurrent={(member) => path.value.endsWith(`/members/${member.user.id}`)}
        empty={<Empty title={t('noneFound')} action={<Button href={`/w/${ws}/people`} onClick={() => { search.value = ''; }}>{t('showAll')}</Button>} />}
      />
    </PeoplePage>
  );
}

function columns(): readonly Column<Member>[] {
  return [
    { key: 'name', header: t('person'), isMain: true, cell: ({ user }) => <><Person user={user} />{user.id === session.value?.user.id && <small class="people-you">{t('you')}</small>}</> },
    { key: 'email', header: t('email'), hide: 'tablet', cell: ({ user }) => <span class="muted">{user.email}</span> },
    { key: 'role', header: t('role'), cell: ({ role }) => roleText(role) },
    { key: 'online', header: t('presence'), cell: ({ online }) => (online ? <Status tone="ok" icon="dot">{t('online')}</Status> : <span class="muted">{t('away')}</span>) },
    { key: 'ends', header: t('accessEnds'), hide: 'phone', cell: ({ accessEndsAt }) => (accessEndsAt === null ? <span class="muted">{t('never')}</span> : <Time at={accessEndsAt} />) },
    { key: 'joined', header: t('joined'), hide: 'phone', cell: ({ joinedAt }) => <span class="muted"><Time at={joinedAt} /></span> },
  ];
}
