// One run: what happened, why, and what can be done about it.

import { useMemo } from 'preact/hooks';
import { signal } from '@preact/signals';
import { api } from '#api/client';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { Page, hasRole, isReadOnly, navigate, toast, useAction, useCommands, type RouteProps } from '#frame';
import { formatClock, formatDuration, formatNumber } from '#i18n';
import { Button, Card, Copyable, Facts, Json, Loaded, Log, ObjectMenu, RunStatus, Time, confirm, runStatusText, starterText, type LogLine } from '#ui';
import { Approvals } from './approvals';
import { ErrorCode, RunInput } from './error-code';
import { Explanation } from './explanation';
import { t } from './messages';
import { Timeline, stepOfLine } from './timeline';

type Run = Schemas['Run'];

const ENDED: readonly Run['status'][] = ['succeeded', 'failed', 'blocked'];

export default function RunPage({ params: { ws, id } }: RouteProps<'/w/:ws/runs/:id'>) {
  const run = useResource('/v1/runs/{id}', { path: { id } }, { on: [`run:${id}`] });
  if (run.data) return <Detail ws={ws} run={run.data} />;
  return <Page title={t('run')} crumbs={[{ label: t('title'), href: `/w/${ws}/runs` }]}><Loaded resource={run}>{() => null}</Loaded></Page>;
}

function Detail({ ws, run }: { ws: string; run: Run }) {
  const hasFailed = run.status === 'failed' || run.status === 'blocked';
  return (
    <Page
      title={run.status === 'waiting_approval' ? t('titleWaiting') : t('titleOfRun', { status: runStatusText(run.status), time: formatClock(run.finishedAt ?? run.startedAt) })}
      aside={<Copyable value={run.id} />}
      crumbs={[{ label: t('title'), href: `/w/${ws}/runs` }, { label: run.appName, href: `/w/${ws}/runs?appId=${run.appId}` }]}
      actions={<Actions ws={ws} run={run} />}
    >
      <RunFacts ws={ws} run={run} />
      {run.status === 'waiting_approval' && <Approvals run={run} />}
      {hasFailed && <Explanation ws={ws} run={run} />}
      {hasFailed && <div class="run-columns run-error"><ErrorCode ws={ws} run={run} /><RunInput ws={ws} run={run} /></div>}
      {run.result !== null && <Card title={t('result')}><div class="card-body"><Json value={run.result} label={t('result')} /></div></Card>}
      <StepsAndLog run={run} />
    </Page>
  );
}

function Actions({ ws, run }: { ws: string; run: Run }) {
  const hasFailed = run.status === 'failed' || run.status === 'blocked';
  const isGoing = !ENDED.includes(run.status);
  const mayRun = hasRole('member') && !isReadOnly.value;
  const replay = () => void navigate(`/w/${ws}/runs/${run.id}/replay`);
  const cancel = useAction(async () => {
    if (!(await confirm({ title: t('cancelTitle'), body: t('cancelBody'), action: t('cancel'), tone: 'bad' }))) return;
    await api.post('/v1/runs/{id}/cancel', { path: { id: run.id } });
    toast(t('cancelled'));
  });
  useCommands([{ id: 'run.replay', label: t('replay'), keys: 'r', when: () => hasFailed && mayRun, run: replay }]);
  return (
    <>
      {isGoing && <Button icon="cross" busy={cancel.busy} unavailable={mayRun ? null : t('mayNotRun')} onClick={() => void cancel.run()}>{t('cancel')}</Button>}
      {hasFailed && <Button variant="primary" icon="replay" command="run.replay" unavailable={mayRun ? null : t('mayNotRun')} onClick={replay}>{t('replay')}</Button>}
      <ObjectMenu url={`/v1/runs/${run.id}`} value={run} />
    </>
  );
}

function RunFacts({ ws, run }: { ws: string; run: Run }) {
  const version = run.version?.number;
  return (
    <div class="run-facts">
      <Facts
        facts={[
          [t('status'), <RunStatus status={run.status} />],
          [t('automation'), run.roadId === null ? '–' : <a class="link" href={`/w/${ws}/automations/${run.roadId}`}>{run.roadName}</a>],
          [t('startedBy'), starterText(run)],
          [t('when'), <Time at={run.startedAt} />],
          run.durationMs === null ? null : [t('took'), formatDuration(run.durationMs)],
          version == null ? null : [t('version'), run.version?.isCurrent ? t('versionCurrent', { number: version }) : formatNumber(version)],
          run.attempt > 1 ? [t('attempt'), formatNumber(run.attempt)] : null,
          run.replayOf === null ? null : [t('replayOf'), <a class="link" href={`/w/${ws}/runs/${run.replayOf}`}><code>{run.replayOf.slice(-8)}</code></a>],
        ]}
      />
    </div>
  );
}

/** Steps and the log beside them. Pointing at one marks what belongs to it in the other. */
function StepsAndLog({ run }: { run: Run }) {
  const trace = useResource('/v1/runs/{id}/trace', { path: { id: run.id } }, { on: [`run:${run.id}`] });
  const pointed = useMemo(() => signal<number | null>(null), [run.id]);
  const belongs = (line: LogLine) => pointed.value !== null && pointed.value > 0 && stepOfLine(run.steps, line.at) === pointed.value;
  return (
    <div class="run-columns">
      <Card title={t('steps')}><Timeline run={run} gate={trace.data?.gate ?? []} pointed={pointed} /></Card>
      <Card title={<>{t('log')} {trace.data && <small class="muted">· {t('lines', { count: trace.data.lines.length })}</small>}</>}>
        <Loaded resource={trace} lines={4}>
          {({ lines }) => (lines.length === 0
            ? <p class="card-body muted">{t('noLines')}</p>
            : <Log label={t('log')} lines={lines} isLive={!ENDED.includes(run.status)} isMarked={belongs} onPoint={(line) => { pointed.value = line && stepOfLine(run.steps, line.at); }} />)}
        </Loaded>
      </Card>
    </div>
  );
}
