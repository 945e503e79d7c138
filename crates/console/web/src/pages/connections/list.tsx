// The connections of a workspace: services that apps call with a stored secret.

import { useFiltered } from '#api/filtered';
import type { Schemas } from '#api/types';
import { navigate, Page, path, query, setQuery, useCommands, type RouteProps } from '#frame';
import { formatNumber } from '#i18n';
import { Button, Empty, FilterBar, List, TextField, type Column } from '#ui';
import { Monogram, useCatalogue, type Connector } from './catalogue';
import { t } from './messages';
import { ConnectionStatus } from './status';
import { mayNotWrite, useConnections, type Connection } from './use-connections';

const FILTERS = ['status', 'connector', 'q'] as const;
const STATUSES: readonly Schemas['ConnectionStatus'][] = ['connected', 'expired', 'error', 'disconnected'];

export default function Connections({ params: { ws } }: RouteProps<'/w/:ws/connections'>) {
  const list = useConnections(ws);
  const catalogue = useCatalogue();
  const connectors = new Map((catalogue.data ?? []).map((connector) => [connector.id, connector]));
  const connect = () => void navigate(`/w/${ws}/connections/new`);
  useCommands([{ id: 'connection.new', label: t('connect'), keys: 'n', when: () => mayNotWrite() === null, run: connect }]);
  const used = [...new Set(list.items.map(({ connectorId }) => connectorId))];
  return (
    <Page title={t('title')} lead={t('lead')} actions={<Button variant="primary" icon="plus" command="connection.new" unavailable={mayNotWrite()} onClick={connect}>{t('connect')}</Button>}>
      <FilterBar
        views={`connections.${ws}`}
        filters={[
          { name: 'status', label: t('status'), options: STATUSES.map((value) => ({ value, label: t(`status_${value}`) })) },
          { name: 'connector', label: t('connector'), options: used.map((value) => ({ value, label: connectors.get(value)?.name ?? value })) },
        ]}
      >
        <div class="connections-search"><TextField label={t('search')} isLabelHidden type="search" placeholder={t('search')} value={query.value.get('q') ?? ''} onInput={(q) => setQuery({ q })} /></div>
      </FilterBar>
      <List
        label={t('title')} list={useFiltered(list, filter())} columns={columns(connectors)} id={({ id }) => id} href={({ id }) => `/w/${ws}/connections/${id}${location.search}`}
        isCurrent={({ id }) => path.value.startsWith(`/w/${ws}/connections/${id}`)}
        empty={<NoConnections hasAny={list.items.length > 0} connect={connect} />}
      />
    </Page>
  );
}

function columns(connectors: ReadonlyMap<string, Connector>): readonly Column<Connection>[] {
  return [
    { key: 'name', header: t('name'), isMain: true, cell: ({ displayName, connectorId }) => <span class="connections-name"><Monogram>{connectors.get(connectorId)?.monogram ?? '–'}</Monogram>{displayName}</span> },
    { key: 'connector', header: t('connector'), hide: 'tablet', cell: ({ connectorId }) => <span class="muted">{connectors.get(connectorId)?.name ?? connectorId}</span> },
    { key: 'host', header: t('host'), hide: 'phone', cell: ({ http }) => (http === null ? <span class="muted">–</span> : <code class="connections-host">{http.host}</code>) },
    { key: 'status', header: t('status'), cell: (connection) => <ConnectionStatus connection={connection} /> },
    { key: 'apps', header: t('usedBy'), cell: ({ usedBy }) => <span class={usedBy.length === 0 ? 'muted' : ''}>{usedBy.length === 0 ? t('noApps') : t('appCount', { count: usedBy.length })}</span> },
    { key: 'calls', header: t('calls'), align: 'end', hide: 'phone', cell: ({ health }) => formatNumber(health.calls24h) },
    { key: 'errors', header: t('errors'), align: 'end', hide: 'phone', cell: ({ health: { errors24h } }) => <span class={errors24h > 0 ? 'connections-errors' : 'muted'}>{formatNumber(errors24h)}</span> },
  ];
}

/** Returns whether a connection fits the query of the address, or `null` without a filter in it. The API has no filters for connections. */
function filter(): ((connection: Connection) => boolean) | null {
  if (!FILTERS.some((name) => query.value.get(name))) return null;
  const value = (name: (typeof FILTERS)[number]) => query.value.get(name);
  return ({ status, connectorId, displayName, http }) =>
    (value('status') === null || status === value('status'))
    && (value('connector') === null || connectorId === value('connector'))
    && `${displayName}\n${connectorId}\n${http?.host ?? ''}`.toLowerCase().includes(value('q')?.toLowerCase() ?? '');
}

function NoConnections({ hasAny, connect }: { hasAny: boolean; connect: () => void }) {
  if (hasAny) return <Empty title={t('noneFound')} action={<Button onClick={() => setQuery(Object.fromEntries(FILTERS.map((name) => [name, null])))}>{t('showAll')}</Button>} />;
  return <Empty title={t('none')} action={<Button variant="primary" icon="plus" unavailable={mayNotWrite()} onClick={connect}>{t('connect')}</Button>}><p>{t('noneBody')}</p></Empty>;
}
