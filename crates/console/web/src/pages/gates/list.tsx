// The gates of a workspace: hosts that apps can reach.

import { useFiltered } from '#api/filtered';
import { navigate, Page, query, setQuery, useCommands, type RouteProps } from '#frame';
import { formatNumber } from '#i18n';
import { Badge, Button, Empty, FilterBar, List, Status, TextField, type Column } from '#ui';
import { t } from './messages';
import { GateStatus } from './status';
import { mayNotCreate, mayNotSet, useAppNames, useGates, useSetStatus, type Gate } from './use-gates';

const FILTERS = ['status', 'appId', 'q'] as const;

export default function Gates({ params: { ws } }: RouteProps<'/w/:ws/gates'>) {
  const list = useGates(ws);
  const { apps, nameOf } = useAppNames(ws);
  const change = useSetStatus(ws, list);
  const create = () => void navigate(`/w/${ws}/gates/new`);
  useCommands([{ id: 'gate.new', label: t('create'), keys: 'n', when: () => mayNotCreate() === null, run: create }]);
  const columns: readonly Column<Gate>[] = [
    { key: 'host', header: t('host'), isMain: true, cell: ({ host, connectionId, name }) => <span class="gate-name"><code class="gate-host">{host}</code>{connectionId !== null && <Badge>{t('throughConnection', { name })}</Badge>}</span> },
    { key: 'status', header: t('status'), cell: ({ status }) => <GateStatus status={status} /> },
    { key: 'methods', header: t('methods'), hide: 'tablet', cell: ({ methods }) => <span class="muted">{methods.join(', ')}</span> },
    { key: 'apps', header: t('apps'), hide: 'phone', cell: (gate) => <Apps ws={ws} gate={gate} nameOf={nameOf} /> },
    { key: 'blocked', header: t('blocked'), align: 'end', cell: ({ blocked24h }) => (blocked24h > 0 ? <Status tone="bad" icon="shield">{formatNumber(blocked24h)}</Status> : <span class="muted hide-phone">{formatNumber(0)}</span>) },
    { key: 'set', header: t('action'), align: 'end', cell: (gate) => <Button size="small" busy={change.busy} unavailable={mayNotSet()} onClick={() => void change.run(gate)}>{gate.status === 'open' ? t('close') : t('open')}</Button> },
  ];
  return (
    <Page title={t('title')} lead={t('lead')} actions={<Button variant="primary" icon="plus" command="gate.new" unavailable={mayNotCreate()} onClick={create}>{t('create')}</Button>}>
      <FilterBar
        views={`gates.${ws}`}
        filters={[
          { name: 'status', label: t('status'), options: [{ value: 'open', label: t('status_open') }, { value: 'closed', label: t('status_closed') }] },
          { name: 'appId', label: t('app'), options: apps.map(({ id, name }) => ({ value: id, label: name })) },
        ]}
      >
        <div class="gates-search"><TextField label={t('search')} isLabelHidden type="search" placeholder={t('search')} value={query.value.get('q') ?? ''} onInput={(q) => setQuery({ q })} /></div>
      </FilterBar>
      <List
        label={t('title')} list={useFiltered(list, filter())} columns={columns} id={({ id }) => id} href={({ id }) => `/w/${ws}/gates/${id}${location.search}`}
        empty={<NoGates ws={ws} hasAny={list.items.length > 0} />}
      />
    </Page>
  );
}

/** Returns whether a gate fits the query of the address, or `null` without a filter in it. The API has no filters for gates. */
function filter(): ((gate: Gate) => boolean) | null {
  if (!FILTERS.some((name) => query.value.get(name))) return null;
  const value = (name: (typeof FILTERS)[number]) => query.value.get(name);
  return ({ status, appIds, host, name }) =>
    (value('status') === null || status === value('status'))
    && (value('appId') === null || appIds.some((id) => id === value('appId')))
    && `${host}\n${name}`.toLowerCase().includes(value('q')?.toLowerCase() ?? '');
}

const APPS_SHOWN = 2;

function Apps({ ws, gate: { appIds }, nameOf }: { ws: string; gate: Gate; nameOf: (id: string) => string | undefined }) {
  const named = appIds.flatMap((id) => { const name = nameOf(id); return name === undefined ? [] : [{ id, name }]; });
  if (appIds.length === 0) return <span class="muted">{t('noApps')}</span>;
  const rest = appIds.length - Math.min(named.length, APPS_SHOWN);
  return (
    <span class="gate-apps">
      {named.slice(0, APPS_SHOWN).map(({ id, name }) => <a key={id} class="link" href={`/w/${ws}/apps/${id}`}>{name}</a>)}
      {rest > 0 && <span class="muted">{named.length > 0 ? t('moreApps', { count: rest }) : t('appCount', { count: rest })}</span>}
    </span>
  );
}

function NoGates({ ws, hasAny }: { ws: string; hasAny: boolean }) {
  if (hasAny) return <Empty title={t('noneFound')} action={<Button onClick={() => setQuery(Object.fromEntries(FILTERS.map((name) => [name, null])))}>{t('showAll')}</Button>} />;
  return <Empty title={t('none')} action={<Button variant="primary" href={`/w/${ws}/apps`}>{t('noneAction')}</Button>}><p>{t('noneBody')}</p></Empty>;
}
