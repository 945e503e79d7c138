// The automations of a workspace.

import { useEffect } from 'preact/hooks';
import { useAll } from '#api/all';
import { urlOf } from '#api/client';
import { useFiltered } from '#api/filtered';
import { useList } from '#api/list';
import type { Schemas } from '#api/types';
import { Page, hasRole, isReadOnly, navigate, query, useCommands, type RouteProps } from '#frame';
import { Button, Empty, FilterBar, List, Time, triggerText, type Column } from '#ui';
import { AutomationStatus, automationStatusText } from './automation-status';
import { t } from './messages';
import { Outcomes } from './outcomes';
import { triggerWords } from './words';

type Automation = Schemas['Automation'];
type Run = Schemas['LatestRun'];
type LatestRuns = ReadonlyMap<string, readonly Run[]>;

const FILTERS = ['appId', 'status', 'trigger'] as const;
const STATUSES: readonly Automation['status'][] = ['active', 'paused', 'draft'];
const TRIGGERS: readonly Schemas['TriggerKind'][] = ['webhook', 'schedule', 'form', 'event', 'manual'];

export default function Automations({ params: { ws } }: RouteProps<'/w/:ws/automations'>) {
  const all = useList('/v1/workspaces/{ws}/automations', { path: { ws }, query: { limit: 200 } }, { on: ['automation'] });
  const list = useFiltered(all, filter());
  const apps = useAll<Schemas['App']>(urlOf('/v1/workspaces/{ws}/apps', { path: { ws } }), ['app']);
  const latest = useLatestRuns(ws, all.items.length);
  const names = new Map((apps.items ?? []).map(({ id, name }) => [id, name]));
  const mayCreate = hasRole('builder') && !isReadOnly.value;
  const create = () => void navigate(`/w/${ws}/automations/new`);
  useCommands([{ id: 'automation.new', label: t('create'), keys: 'n', when: () => mayCreate, run: create }]);
  return (
    <Page
      title={t('title')} lead={t('lead')}
      actions={<><Button href={`/w/${ws}/queue`}>{t('queue')}</Button><Button variant="primary" icon="plus" command="automation.new" unavailable={mayCreate ? null : t('mayNotCreate')} onClick={create}>{t('create')}</Button></>}
    >
      <FilterBar
        views={`automations.${ws}`}
        filters={[
          { name: 'status', label: t('status'), options: STATUSES.map((value) => ({ value, label: automationStatusText(value) })) },
          { name: 'trigger', label: t('trigger'), options: TRIGGERS.map((value) => ({ value, label: triggerText(value) })) },
          { name: 'appId', label: t('app'), options: [...names].map(([value, label]) => ({ value, label })) },
        ]}
      />
      <List
        label={t('title')} list={list} columns={columns(names, latest)} id={({ id }) => id} href={({ id }) => `/w/${ws}/automations/${id}`}
        empty={<NoAutomations mayCreate={mayCreate} create={create} />}
      />
    </Page>
  );
}

/** The latest runs of each automation, as far as they were read: in the pages of the list itself. */
function useLatestRuns(ws: string, count: number): LatestRuns {
  const list = useList('/v1/workspaces/{ws}/automations/latest-runs', { path: { ws }, query: { limit: 200 } }, { on: ['run', 'automation'], key: ({ automationId }) => automationId });
  const needsMore = list.items.length < count && list.hasMore && !list.loading && list.error === undefined;
  useEffect(() => { if (needsMore) list.loadMore(); }, [needsMore, list.items.length]);
  return new Map([...list.items, ...list.held].map(({ automationId, runs }) => [automationId, runs]));
}

/** Returns whether an automation fits the query of the address, or `null` without a filter in it. The API has no filters for automations. */
function filter(): ((item: Automation) => boolean) | null {
  const [appId, status, trigger] = FILTERS.map((name) => query.value.get(name));
  if (!appId && !status && !trigger) return null;
  return (item) => (!appId || item.appId === appId) && (!status || item.status === status) && (!trigger || item.trigger.type === trigger);
}

function columns(names: ReadonlyMap<string, string>, latest: LatestRuns): readonly Column<Automation>[] {
  return [
    { key: 'name', header: t('name'), isMain: true, cell: ({ name }) => name },
    { key: 'status', header: t('status'), cell: ({ status }) => <AutomationStatus status={status} /> },
    { key: 'trigger', header: t('trigger'), cell: ({ trigger }) => <span class="automations-trigger">{triggerWords(trigger)}</span> },
    { key: 'app', header: t('app'), hide: 'tablet', cell: ({ appId }) => <span class="automations-app muted">{names.get(appId) ?? '–'}</span> },
    { key: 'when', header: t('when'), hide: 'phone', cell: (automation) => <When automation={automation} last={latest.get(automation.id)?.[0]} /> },
    { key: 'outcome', header: t('outcome'), cell: ({ id }) => <Outcomes runs={latest.get(id)} /> },
  ];
}

/** When it starts next, if that is known, else when it started last. */
function When({ automation: { nextRunAt, status, trigger }, last }: { automation: Automation; last: Run | undefined }) {
  if (nextRunAt !== null && status === 'active') return <span class="muted">{t.rich('nextAt', { when: <Time at={nextRunAt} zone={trigger.timezone ?? undefined} /> })}</span>;
  if (last === undefined) return <span class="muted">–</span>;
  return <span class="muted">{t.rich('lastAt', { when: <Time at={last.acceptedAt} /> })}</span>;
}

function NoAutomations({ mayCreate, create }: { mayCreate: boolean; create: () => void }) {
  if (FILTERS.some((name) => query.value.has(name))) return <Empty title={t('noneFound')}><p>{t('noneFoundBody')}</p></Empty>;
  return <Empty title={t('none')} action={<Button variant="primary" icon="plus" unavailable={mayCreate ? null : t('mayNotCreate')} onClick={create}>{t('create')}</Button>}><p>{t('noneBody')}</p></Empty>;
}
