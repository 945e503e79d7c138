// Work in flight, and what waits for a person.

import type { ComponentChildren } from 'preact';
import { useList } from '#api/list';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { Page, type RouteProps } from '#frame';
import { formatNumber } from '#i18n';
import { Button, Card, Empty, Loaded, ObjectMenu, Time, now } from '#ui';
import { Waiting } from './waiting';
import { t } from './messages';

type Health = Schemas['QueueHealthView'];

/** What only time changes, such as a run that becomes due, no event reports. */
const LOOK_AGAIN = 10_000;
const SLOW_AFTER = 60_000;

export default function Queue({ params: { ws } }: RouteProps<'/w/:ws/queue'>) {
  const health = useResource('/v1/workspaces/{ws}/queue-health', { path: { ws } }, { on: ['health'], every: LOOK_AGAIN });
  return (
    <Page title={t('title')} lead={t('lead')} actions={health.data && <ObjectMenu url={`/v1/workspaces/${ws}/queue-health`} value={health.data} />}>
      <div class="queue-stack">
        <Loaded resource={health} lines={3}>{(data) => <Numbers ws={ws} health={data} />}</Loaded>
        <WaitingRuns ws={ws} />
      </div>
    </Page>
  );
}

function Numbers({ ws, health }: { ws: string; health: Health }) {
  const { queued, putOff, running, waitingApproval, oldestQueuedAt, finishedLastHour: { succeeded, failed, blocked }, deadLettersOpen } = health;
  const isSlow = oldestQueuedAt !== null && now.value - new Date(oldestQueuedAt).getTime() > SLOW_AFTER;
  const runs = (status: string) => `/w/${ws}/runs?status=${status}`;
  return (
    <>
      <section aria-label={t('inFlight')} class="queue-numbers">
        <Figure label={t('queued')} value={queued} href={runs('queued')}>{oldestQueuedAt !== null && <span class={isSlow ? 'queue-slow' : ''}>{t.rich('oldest', { when: <Time at={oldestQueuedAt} /> })}</span>}</Figure>
        <Figure label={t('running')} value={running} href={runs('running')} />
        <Figure label={t('putOff')} value={putOff}>{t('putOffAbout')}</Figure>
        <Figure label={t('waiting')} value={waitingApproval} href={runs('waiting_approval')} />
      </section>
      <section aria-label={t('lastHour')} class="queue-numbers">
        <Figure label={t('succeeded')} value={succeeded} href={runs('succeeded')}>{t('lastHour')}</Figure>
        <Figure label={t('failed')} value={failed} href={runs('failed')} isBad={failed > 0}>{t('lastHour')}</Figure>
        <Figure label={t('blocked')} value={blocked} href={runs('blocked')} isBad={blocked > 0}>{t('lastHour')}</Figure>
        <Figure label={t('deadLetters')} value={deadLettersOpen} href={`/w/${ws}/dead-letters`} isBad={deadLettersOpen > 0}>{t('open')}</Figure>
      </section>
    </>
  );
}

interface FigureProps {
  readonly label: string;
  readonly value: number;
  readonly href?: string;
  readonly isBad?: boolean;
  readonly children?: ComponentChildren;
}

function Figure({ label, value, href, isBad = false, children }: FigureProps) {
  const inside = <><span class="queue-label">{label}</span><b class={isBad ? 'queue-bad' : ''}>{formatNumber(value)}</b><small>{children}</small></>;
  return href === undefined ? <div class="queue-figure">{inside}</div> : <a class="queue-figure" href={href}>{inside}</a>;
}

function WaitingRuns({ ws }: { ws: string }) {
  const list = useList('/v1/workspaces/{ws}/runs', { path: { ws }, query: { status: 'waiting_approval', limit: 20 } }, { on: ['run'] });
  const items = [...list.held, ...list.items];
  return (
    <Card title={t('forApproval')} aside={list.isComplete && (list.hasMore ? `${formatNumber(items.length)}+` : formatNumber(items.length))}>
      <Loaded resource={{ data: list.isComplete ? items : undefined, error: list.error, refresh: list.refresh }} lines={3}>
        {(runs) => (runs.length === 0
          ? <Empty title={t('nobodyWaits')}><p>{t('nobodyWaitsBody')}</p></Empty>
          : <ul class="queue-waiting">{runs.map((run) => <Waiting key={run.id} ws={ws} run={run} decided={list.refresh} />)}</ul>)}
      </Loaded>
      {list.hasMore && <div class="card-body"><Button busy={list.loading} onClick={list.loadMore}>{t('more')}</Button></div>}
    </Card>
  );
}
