// What was done in the workspace, by whom and from where.

import { urlOf } from '#api/client';
import { useList } from '#api/list';
import { useResource } from '#api/resource';
import type { Input, Schemas } from '#api/types';
import { hasRole, query, setQuery, type RouteProps } from '#frame';
import { formatFull } from '#i18n';
import { Badge, Button, Copyable, Dialog, Empty, FilterBar, Json, List, Menu, objectItems, openDialog, Particulars, Time, TimeRange, timeRange, type Column, type MenuItem } from '#ui';
import { SettingsPage } from '../frame';
import { t } from './messages';
import { actionText, actorName, objectOf, Sentence } from './sentence';

type Entry = Schemas['AuditEntry'];
type Query = NonNullable<Input<'/v1/workspaces/{ws}/audit', 'get'>['query']>;

/** Parameters of the address that restrict the log. */
const FILTERS = ['action', 'actor', 'grantId', 'appId', 'target', 'from', 'to'] as const;
const NO_FILTERS = Object.fromEntries(FILTERS.map((name) => [name, null]));

export default function Audit({ params: { ws } }: RouteProps<'/w/:ws/settings/audit'>) {
  return <SettingsPage ws={ws} lead={t('lead')}>{hasRole('admin') ? <Log ws={ws} /> : <Empty title={t('forAdmins')} />}</SettingsPage>;
}

function filtersOf(address: URLSearchParams): Query {
  const { from, to } = timeRange(address);
  const given = Object.fromEntries(['action', 'actor', 'grantId', 'appId', 'target'].map((name) => [name, address.get(name) ?? undefined]));
  return { ...given, from, to };
}

function Log({ ws }: { ws: string }) {
  const filters = filtersOf(query.value);
  const list = useList('/v1/workspaces/{ws}/audit', { path: { ws }, query: filters }, { on: ['changed', 'run'] });
  const actions = useResource('/v1/workspaces/{ws}/audit/actions', { path: { ws } }, { on: ['changed', 'run'] });
  const members = useResource('/v1/workspaces/{ws}/members', { path: { ws }, query: { limit: 200 } }, { on: ['member'] });
  const people = members.data?.items.map(({ user }) => ({ value: user.id, label: user.name })) ?? [];
  const empty = <Empty title={t('noEntries')} action={<Button onClick={() => setQuery(NO_FILTERS)}>{t('showAll')}</Button>}><p>{t('noEntriesBody')}</p></Empty>;
  return (
    <>
      <FilterBar
        views={`audit.${ws}`}
        filters={[
          { name: 'action', label: t('action'), options: (actions.data?.items ?? []).map((value) => ({ value, label: actionText(value) })) },
          { name: 'actor', label: t('actor'), options: [{ value: 'agents', label: t('agents') }, ...people] },
        ]}
        others={['from', 'to', 'appId', 'target', 'grantId']}
      >
        <TimeRange />
        <Chips ws={ws} first={list.items[0]} />
        <Button size="small" icon="refresh" onClick={list.refresh}>{t('refresh')}</Button>
      </FilterBar>
      <List label={t('title')} list={list} columns={columns(ws)} id={({ id }) => id} empty={empty} />
    </>
  );
}

/** The filters that are chosen on an entry or an object's page, each with a way to remove it. */
function Chips({ ws, first }: { ws: string; first: Entry | undefined }) {
  const target = query.value.get('target');
  const grant = query.value.get('grantId');
  const app = query.value.get('appId');
  return (
    <>
      {app !== null && <Chip text={t.rich('filteredObject', { name: <b>{first?.object?.appId === app ? first.object.appName ?? app : app}</b> })} filter="appId" />}
      {target !== null && <Chip text={t.rich('filteredObject', { name: <b>{first?.target === target ? objectOf(ws, first).name : target}</b> })} filter="target" />}
      {grant !== null && <Chip text={t.rich('filteredAgent', { name: <b>{first?.actor.grantId === grant ? first.actor.clientName ?? grant : grant}</b> })} filter="grantId" />}
    </>
  );
}

function Chip({ text, filter }: { text: preact.ComponentChildren; filter: string }) {
  return <span class="audit-chip">{text}<Button size="small" variant="plain" icon="cross" label={t('remove')} onClick={() => setQuery({ [filter]: null })} /></span>;
}

function columns(ws: string): readonly Column<Entry>[] {
  return [
    { key: 'action', header: t('action'), isMain: true, cell: (entry) => <Sentence ws={ws} entry={entry} /> },
    { key: 'address', header: t('address'), hide: 'tablet', cell: ({ address }) => <span class="muted">{address}</span> },
    { key: 'at', header: t('when'), align: 'end', cell: ({ at }) => <span class="muted"><Time at={at} /></span> },
    { key: 'menu', header: '', align: 'end', cell: (entry) => <Menu icon="more" size="small" variant="plain" label={t('actionsFor', { name: actionText(entry.action) })} items={items(ws, entry)} /> },
  ];
}

function items(ws: string, entry: Entry): readonly (MenuItem | null)[] {
  const { target, actor } = entry;
  const only = (label: string, filter: string, value: string): MenuItem => ({ label, icon: 'search', onSelect: () => setQuery({ [filter]: value }) });
  return [
    { label: t('details'), icon: 'info', onSelect: () => void show(ws, entry) },
    ...(target === null ? [] : [only(t('onlyObject'), target.startsWith('app_') ? 'appId' : 'target', target)]),
    ...(actor.grantId === null ? [] : [only(t('onlyAgent'), 'grantId', actor.grantId)]),
    ...(actor.id.startsWith('usr_') ? [only(t('onlyActor'), 'actor', actor.id)] : []),
    null,
    ...objectItems(urlOf('/v1/workspaces/{ws}/audit', { path: { ws }, query: { action: entry.action } }), entry),
  ];
}

/** Shows an entry with all that is known about it. */
function show(ws: string, entry: Entry): Promise<void> {
  const { action, actor, target, address, at, requestId, detail, id } = entry;
  return openDialog<void>((close) => (
    <Dialog title={actionText(action)} onClose={() => close()}>
      <p><Sentence ws={ws} entry={entry} /></p>
      <Particulars
        facts={[
          [t('when'), formatFull(at)],
          [t('action'), <Badge>{action}</Badge>],
          [t('actor'), <>{actorName(actor)} <small><Copyable value={actor.id} /></small></>],
          actor.tokenId === null ? null : [t('token'), <Copyable value={actor.tokenId} />],
          actor.grantId === null ? null : [t('agent'), <>{actor.clientName} <small><Copyable value={actor.grantId} /></small></>],
          target === null ? null : [t('object'), <Copyable value={target} />],
          address === null ? null : [t('address'), <Copyable value={address} />],
          [t('request'), <Copyable value={requestId} />],
          [t('id'), <Copyable value={id} />],
        ]}
      />
      {detail !== null && <Json value={detail} label={t('details')} />}
    </Dialog>
  ));
}
