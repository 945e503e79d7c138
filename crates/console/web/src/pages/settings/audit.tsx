// What was done in the workspace, by whom and from where.

import { urlOf } from '#api/client';
import { useList } from '#api/list';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { hasRole, query, setQuery, type RouteProps } from '#frame';
import { formatFull } from '#i18n';
import { Badge, Button, Copyable, Dialog, Empty, FilterBar, Json, List, Menu, objectItems, openDialog, Particulars, Time, type Column } from '#ui';
import { ACTIONS } from './actions';
import { SettingsPage } from './frame';
import { t } from './messages';

type Entry = Schemas['AuditEntry'];

export default function Audit({ params: { ws } }: RouteProps<'/w/:ws/settings/audit'>) {
  return <SettingsPage ws={ws} lead={t('auditLead')}>{hasRole('admin') ? <Log ws={ws} /> : <Empty title={t('auditForAdmins')} />}</SettingsPage>;
}

function Log({ ws }: { ws: string }) {
  const filters = { action: query.value.get('action') ?? undefined, actor: query.value.get('actor') ?? undefined };
  const list = useList('/v1/workspaces/{ws}/audit', { path: { ws }, query: filters }, { on: ['changed', 'run'] });
  const members = useResource('/v1/workspaces/{ws}/members', { path: { ws }, query: { limit: 200 } }, { on: ['member'] });
  const people = members.data?.items.map(({ user }) => ({ value: user.id, label: user.name })) ?? [];
  const empty = <Empty title={t('noEntries')} action={<Button onClick={() => setQuery({ action: null, actor: null })}>{t('showAll')}</Button>}><p>{t('noEntriesBody')}</p></Empty>;
  return (
    <>
      <FilterBar
        views={`audit.${ws}`}
        filters={[{ name: 'action', label: t('action'), options: ACTIONS.map((value) => ({ value, label: value })) }, { name: 'actor', label: t('actor'), options: people }]}
      >
        <Button size="small" icon="refresh" onClick={list.refresh}>{t('refresh')}</Button>
      </FilterBar>
      <List label={t('audit')} list={list} columns={columns(ws)} id={({ id }) => id} empty={empty} />
    </>
  );
}

function columns(ws: string): readonly Column<Entry>[] {
  return [
    { key: 'action', header: t('action'), isMain: true, cell: (entry) => <button type="button" class="link settings-action" onClick={() => void show(entry)}>{entry.action}</button> },
    { key: 'actor', header: t('actor'), cell: ({ actor }) => <>{actor.name ?? actor.id}{actor.tokenId !== null && <> <Badge>{t('token')}</Badge></>}</> },
    { key: 'target', header: t('target'), hide: 'tablet', cell: ({ target }) => target !== null && <code class="muted">{target}</code> },
    { key: 'address', header: t('address'), hide: 'tablet', cell: ({ address }) => <span class="muted">{address}</span> },
    { key: 'at', header: t('when'), align: 'end', cell: ({ at }) => <span class="muted"><Time at={at} /></span> },
    { key: 'menu', header: '', align: 'end', hide: 'phone', cell: (entry) => <Menu icon="more" size="small" variant="plain" label={t('actionsFor', { name: entry.action })} items={[{ label: t('details'), icon: 'info', onSelect: () => void show(entry) }, null, ...objectItems(urlOf('/v1/workspaces/{ws}/audit', { path: { ws }, query: { action: entry.action } }), entry)]} /> },
  ];
}

/** Shows an entry with all that is known about it. */
function show(entry: Entry): Promise<void> {
  const { action, actor, target, address, at, requestId, detail, id } = entry;
  return openDialog<void>((close) => (
    <Dialog title={action} onClose={() => close()}>
      <Particulars
        facts={[
          [t('when'), formatFull(at)],
          [t('actor'), <>{actor.name}<small><Copyable value={actor.id} /></small></>],
          actor.tokenId === null ? null : [t('token'), <Copyable value={actor.tokenId} />],
          target === null ? null : [t('target'), <Copyable value={target} />],
          address === null ? null : [t('address'), <Copyable value={address} />],
          [t('request'), <Copyable value={requestId} />],
          [t('id'), <Copyable value={id} />],
        ]}
      />
      {detail !== null && <Json value={detail} label={t('details')} />}
    </Dialog>
  ));
}
