// The latest requests to the data API of a project, and what they were like over the last hour.

import { useMemo } from 'preact/hooks';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { query, type RouteProps } from '#frame';
import { formatNumber } from '#i18n';
import { Button, Chart, DurationBar, Empty, Facts, FilterBar, Loaded, ObjectMenu, Status, Table as FewRows, Time } from '#ui';
import { t } from '../messages';
import { ProjectPage, projectPath, type Place, type Project } from './frame';

type Entry = Schemas['RequestEntry'];
type Metrics = Schemas['RequestMetrics'];

const LIMIT = 200;
const EVERY = 5_000;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const url = (project: string) => `/v1/backend/projects/${project}/logs?limit=${LIMIT}`;

export default function Requests({ params: { ws, project } }: RouteProps<'/w/:ws/data/:project/-/requests'>) {
  return (
    <ProjectPage ws={ws} id={project} title={t('requests')} lead={t('requestsLead')} actions={() => <ObjectMenu url={url(project)} value={{ project }} />}>
      {(loaded) => <Log ws={ws} project={loaded} />}
    </ProjectPage>
  );
}

function Log({ ws, project }: Place) {
  const log = useResource('/v1/backend/projects/{projectId}/logs', { path: { projectId: project.id }, query: { limit: LIMIT } }, { every: EVERY });
  return (
    <Loaded resource={log}>
      {({ logs, metrics }) => (
        <div class="data-sections">
          <Numbers metrics={metrics} newest={logs[0]} />
          <Filters project={project} logs={logs} />
          <Entries ws={ws} project={project} logs={logs} />
        </div>
      )}
    </Loaded>
  );
}

function Numbers({ metrics, newest }: { metrics: Metrics; newest: Entry | undefined }) {
  const { perMinute, total, errors, p50Ms, p95Ms, lastRequestAt } = metrics;
  // The metrics are those of the last hour.
  const last = lastRequestAt ?? newest?.at ?? null;
  const minute = Math.floor(Date.now() / 60_000) * 60;
  // The chart is drawn anew only if its numbers are other ones.
  const key = `${minute} ${perMinute.join()}`;
  const { times, series } = useMemo(() => ({
    times: perMinute.map((_, index) => minute - (perMinute.length - 1 - index) * 60),
    series: [{ label: t('requestsAMinute'), tone: 'accent' as const, values: perMinute }],
  }), [key]);
  const ms = (value: number | null) => (value === null ? '–' : t('milliseconds', { value: formatNumber(value, { maximumFractionDigits: 1 }) }));
  return (
    <>
      <Facts
        facts={[
          [t('inLastHour'), formatNumber(total)],
          [t('errors'), total === 0 ? '–' : t('errorShare', { errors: formatNumber(errors), share: formatNumber(errors / total, { style: 'percent', maximumFractionDigits: 1 }) })],
          [t('median'), ms(p50Ms)], [t('p95'), ms(p95Ms)],
          [t('lastRequest'), last === null ? t('noRequestKept') : <Time at={last} />],
        ]}
      />
      {total > 0 && <Chart label={t('requestsAMinute')} times={times} series={series} height={120} />}
    </>
  );
}

function Filters({ project, logs }: { project: Project; logs: readonly Entry[] }) {
  const keys = [...new Set(logs.flatMap(({ keyName }) => keyName ?? []))].sort();
  const same = (values: readonly string[]) => values.map((value) => ({ value, label: value }));
  return (
    <FilterBar
      views={`requests.${project.id}`}
      filters={[
        { name: 'table', label: t('table'), options: same(project.tables.map(({ name }) => name)) },
        { name: 'method', label: t('method'), options: same(METHODS) },
        { name: 'outcome', label: t('outcome'), options: [{ value: 'ok', label: t('outcome_ok') }, { value: 'refused', label: t('outcome_refused') }, { value: 'failed', label: t('outcome_failed') }] },
        { name: 'key', label: t('key'), options: same(keys) },
      ]}
    />
  );
}

function outcomeOf({ status }: Entry): 'ok' | 'refused' | 'failed' {
  return status < 400 ? 'ok' : status < 500 ? 'refused' : 'failed';
}

function isShown(entry: Entry): boolean {
  const fits = (name: string, value: string | null) => !query.value.has(name) || query.value.get(name) === value;
  return fits('table', entry.table) && fits('method', entry.method) && fits('outcome', outcomeOf(entry)) && fits('key', entry.keyName);
}

function Entries({ ws, project, logs }: Place & { logs: readonly Entry[] }) {
  const shown = logs.filter(isShown);
  if (logs.length === 0) return <Empty title={t('noRequests')} action={<Button href={`${projectPath(ws, project.id)}/-/api`}>{t('examples')}</Button>}><p>{t('noRequestsBody')}</p></Empty>;
  if (shown.length === 0) return <Empty title={t('noRequestsFound', { number: formatNumber(logs.length) })}><p>{t('noRequestsFoundBody')}</p></Empty>;
  const slowest = Math.max(...shown.map(({ durationMs }) => durationMs));
  return (
    <>
      <FewRows label={t('requests')} head={[t('when'), t('method'), t('path'), t('outcome'), t('key'), { text: t('rows'), align: 'end' }, { text: t('took'), align: 'end' }]}>
        {shown.map((entry) => (
          <tr key={entry.id}>
            <td class="muted"><Time at={entry.at} as="time" /></td>
            <td><code>{entry.method}</code></td>
            <td class="data-path"><code title={entry.path}>{entry.path.replace(/^\/v1\/projects\/[^/]+/, '')}</code></td>
            <td><Outcome entry={entry} /></td>
            <td class="muted" title={entry.keyPrefix ?? undefined}>{entry.keyName ?? '–'}</td>
            <td class="is-end">{entry.rows === null ? '–' : formatNumber(entry.rows)}</td>
            <td class="is-end"><DurationBar ms={entry.durationMs} of={slowest} /></td>
          </tr>
        ))}
      </FewRows>
      <p class="muted data-note">{t('latestShown', { count: shown.length })}</p>
    </>
  );
}

function Outcome({ entry }: { entry: Entry }) {
  const outcome = outcomeOf(entry);
  const [tone, icon] = outcome === 'ok' ? ['ok', 'check'] as const : outcome === 'refused' ? ['warn', 'shield'] as const : ['bad', 'cross'] as const;
  return <Status tone={tone} icon={icon}>{entry.errorCode === null ? String(entry.status) : t('statusWithCode', { status: String(entry.status), code: entry.errorCode })}</Status>;
}
