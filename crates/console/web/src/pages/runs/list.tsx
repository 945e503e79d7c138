// The runs of a workspace.

import { useCallback } from 'preact/hooks';
import { useAll } from '#api/all';
import { urlOf } from '#api/client';
import { useEvents, type WorkspaceEvent } from '#api/events';
import { useList, type List as ListData } from '#api/list';
import type { Schemas } from '#api/types';
import { Page, query, type RouteProps } from '#frame';
import { formatNumber, formatUnit } from '#i18n';
import { Button, DurationBar, Empty, FilterBar, List, RunStatus, Time, runStatusText, starterText, triggerText, type Column } from '#ui';
import { t } from './messages';
import { RunBars } from './run-bars';

type Run = Schemas['RunSummary'];

const STATUSES: readonly Schemas['RunStatus'][] = ['running', 'queued', 'waiting_approval', 'succeeded', 'failed', 'blocked'];
const TRIGGERS: readonly Schemas['TriggerKind'][] = ['webhook', 'schedule', 'form', 'event', 'manual'];

export default function Runs({ params: { ws } }: RouteProps<'/w/:ws/runs'>) {
  const filter = (name: string) => query.value.get(name) ?? undefined;
  const filters = {
    appId: filter('appId'), automationId: filter('automationId'), status: filter('status') as Run['status'] | undefined,
    trigger: filter('trigger') as Run['trigger'] | undefined, from: filter('from'), to: filter('to'),
  };
  const list = useList('/v1/workspaces/{ws}/runs', { path: { ws }, query: filters }, { on: ['run'] });
  useLiveStatus(list);
  const slow = percentile95(list.items);
  return (
    <Page title={t('title')} lead={t('lead')}>
      <Filters ws={ws} />
      <RunBars ws={ws} filters={filters} />
      <List label={t('title')} list={list} columns={columns(slow)} id={(run) => run.id} href={(run) => `/w/${ws}/runs/${run.id}`} empty={<NoRuns ws={ws} />} />
    </Page>
  );
}

/** Shows the status of a run at once, before the list is read again. */
function useLiveStatus(list: ListData<Run>): void {
  const patch = list.patch;
  useEvents(useCallback(({ type, data }: WorkspaceEvent) => {
    if (type === 'run') patch(data['runId'] as string, { status: data['status'] as Run['status'] });
  }, [patch]));
}

/** Returns the duration that 95 of 100 runs stay below, to which the bars are drawn. */
function percentile95(runs: readonly Run[]): number {
  const durations = runs.flatMap(({ durationMs }) => durationMs ?? []).sort((a, b) => a - b);
  return durations[Math.floor(durations.length * 0.95)] ?? 0;
}

function columns(slow: number): readonly Column<Run>[] {
  return [
    { key: 'app', header: t('app'), isMain: true, cell: (run) => run.appName },
    { key: 'status', header: t('status'), cell: (run) => <RunStatus status={run.status} /> },
    { key: 'reason', header: t('reason'), hide: 'tablet', cell: (run) => run.errorMessage && <span class="runs-reason muted" title={run.errorMessage}>{run.errorMessage}</span> },
    { key: 'automation', header: t('automation'), hide: 'tablet', cell: (run) => <span class="runs-automation muted">{run.roadName ?? '–'}</span> },
    { key: 'trigger', header: t('startedBy'), hide: 'phone', cell: (run) => <span class="muted">{starterText(run)}</span> },
    { key: 'version', header: t('version'), align: 'end', hide: 'tablet', cell: (run) => run.version?.number != null && <span class="muted">{formatNumber(run.version.number)}</span> },
    { key: 'when', header: t('when'), cell: (run) => <span class="muted"><Time at={run.startedAt} /></span> },
    { key: 'duration', header: t('took'), align: 'end', cell: (run) => run.durationMs !== null && <DurationBar ms={run.durationMs} of={slow} tone={run.durationMs > slow ? 'warn' : 'neutral'} /> },
    { key: 'saved', header: t('saved'), align: 'end', hide: 'tablet', cell: (run) => run.minutesSaved > 0 && formatUnit(run.minutesSaved, 'minute', 1) },
  ];
}

function Filters({ ws }: { ws: string }) {
  const apps = useAll<Schemas['App']>(urlOf('/v1/workspaces/{ws}/apps', { path: { ws } }), ['app']);
  const automations = useAll<Schemas['Automation']>(urlOf('/v1/workspaces/{ws}/automations', { path: { ws } }), ['automation']);
  const named = (items: readonly { readonly id: string; readonly name: string }[] = []) => items.map(({ id, name }) => ({ value: id, label: name }));
  return (
    <FilterBar
      views={`runs.${ws}`}
      filters={[
        { name: 'status', label: t('status'), options: STATUSES.map((value) => ({ value, label: runStatusText(value) })) },
        { name: 'appId', label: t('app'), options: named(apps.items) },
        { name: 'automationId', label: t('automation'), options: named(automations.items) },
        { name: 'trigger', label: t('startedBy'), options: TRIGGERS.map((value) => ({ value, label: triggerText(value) })) },
      ]}
    />
  );
}

function NoRuns({ ws }: { ws: string }) {
  const isFiltered = ['status', 'appId', 'automationId', 'trigger', 'from', 'to'].some((name) => query.value.has(name));
  if (isFiltered) return <Empty title={t('noneFound')}><p>{t('noneFoundBody')}</p></Empty>;
  return <Empty title={t('none')} action={<Button variant="primary" href={`/w/${ws}/automations`}>{t('noneAction')}</Button>}><p>{t('noneBody')}</p></Empty>;
}
