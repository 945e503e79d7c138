// One automation: how it is set up, and what it ran.

import { useList } from '#api/list';
import type { Schemas } from '#api/types';
import { type RouteProps } from '#frame';
import { formatNumber, formatUnit } from '#i18n';
import { Button, Card, DurationBar, Empty, Facts, List, RunStatus, Time, starterText, type Column } from '#ui';
import { AutomationPage, type Automation } from './automation-page';
import { t } from './messages';
import { triggerWords } from './words';

type Run = Schemas['RunSummary'];

export default function Overview({ params: { ws, id } }: RouteProps<'/w/:ws/automations/:id'>) {
  return (
    <AutomationPage ws={ws} id={id}>
      {({ automation, appName, rights }) => (
        <>
          <SetUp ws={ws} automation={automation} appName={appName} />
          <Card title={t('latestRunsTitle')} aside={<a class="link" href={`/w/${ws}/runs?automationId=${id}`}>{t('allRuns')}</a>}><Runs ws={ws} id={id} mayRun={rights.mayRun} /></Card>
        </>
      )}
    </AutomationPage>
  );
}

function SetUp({ ws, automation, appName }: { ws: string; automation: Automation; appName: string }) {
  const { trigger, retries, maxConcurrency, nextRunAt, status, createdAt } = automation;
  return (
    <div class="automations-facts">
      <Facts
        facts={[
          [t('trigger'), triggerWords(trigger)],
          trigger.type === 'schedule' ? [t('zone'), trigger.timezone ?? 'UTC'] : null,
          nextRunAt !== null && status === 'active' ? [t('next'), <Time at={nextRunAt} zone={trigger.timezone ?? undefined} />] : null,
          [t('app'), <a class="link" href={`/w/${ws}/apps/${automation.appId}`}>{appName}</a>],
          [t('retries'), formatNumber(retries)],
          [t('concurrency'), maxConcurrency === null ? t('noLimit') : formatNumber(maxConcurrency)],
          [t('created'), <Time at={createdAt} />],
        ]}
      />
    </div>
  );
}

function Runs({ ws, id, mayRun }: { ws: string; id: string; mayRun: boolean }) {
  const list = useList('/v1/workspaces/{ws}/runs', { path: { ws }, query: { automationId: id, limit: 20 } }, { on: [`automation-runs:${id}`] });
  const slowest = Math.max(0, ...list.items.map(({ durationMs }) => durationMs ?? 0));
  const columns: readonly Column<Run>[] = [
    { key: 'when', header: t('when'), isMain: true, cell: (run) => <Time at={run.startedAt} /> },
    { key: 'status', header: t('status'), cell: (run) => <RunStatus status={run.status} /> },
    { key: 'trigger', header: t('startedBy'), hide: 'phone', cell: (run) => <span class="muted">{starterText(run)}</span> },
    { key: 'error', header: t('error'), hide: 'tablet', cell: (run) => run.errorMessage && <span class="automations-error muted" title={run.errorMessage}>{run.errorMessage}</span> },
    { key: 'took', header: t('took'), align: 'end', cell: (run) => run.durationMs !== null && <DurationBar ms={run.durationMs} of={slowest} /> },
    { key: 'saved', header: t('saved'), align: 'end', hide: 'tablet', cell: (run) => run.minutesSaved > 0 && formatUnit(run.minutesSaved, 'minute', 1) },
  ];
  const runNow = <Button variant="primary" icon="play" href={`/w/${ws}/automations/${id}/run`} unavailable={mayRun ? null : t('mayNotRun')}>{t('runNow')}</Button>;
  return <List label={t('latestRunsTitle')} list={list} columns={columns} id={(run) => run.id} href={(run) => `/w/${ws}/runs/${run.id}`} empty={<Empty title={t('noRuns')} action={runNow}><p>{t('noRunsBody')}</p></Empty>} />;
}
