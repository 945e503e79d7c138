// The schedule of an automation: when it fires next, and what became of each time that it was due.

import { useList } from '#api/list';
import type { Schemas } from '#api/types';
import type { RouteProps } from '#frame';
import { Badge, Card, Empty, Facts, List, Notice, Status, Time, type Column, type IconName, type Tone } from '#ui';
import { AutomationPage, type Automation } from './automation-page';
import { isZone, nextTimes, parseCron } from './cron';
import { t } from './messages';
import { Times } from './schedule-preview';
import { cronWords } from './words';

type Occurrence = Schemas['Occurrence'];

const NEXT_SHOWN = 5;
const OUTCOMES: Readonly<Record<Occurrence['outcome'], readonly [Tone, IconName]>> = { ran: ['ok', 'check'], caught_up: ['warn', 'clock'], skipped: ['neutral', 'bar'] };

export default function Schedule({ params: { ws, id } }: RouteProps<'/w/:ws/automations/:id/schedule'>) {
  return (
    <AutomationPage ws={ws} id={id}>
      {({ automation }) => (automation.trigger.type === 'schedule' ? <Both ws={ws} automation={automation} /> : <Notice>{t('notScheduled')}</Notice>)}
    </AutomationPage>
  );
}

function Both({ ws, automation }: { ws: string; automation: Automation }) {
  return <div class="automations-columns"><Past ws={ws} automation={automation} /><Next automation={automation} /></div>;
}

const zoneOf = ({ timezone }: Automation['trigger']) => timezone ?? 'UTC';

/** The next time is the server's; those after it follow from the expression. */
function Next({ automation: { nextRunAt, status, trigger } }: { automation: Automation }) {
  const zone = zoneOf(trigger);
  const cron = parseCron(trigger.cron ?? '');
  const isDue = nextRunAt !== null && status === 'active';
  const rest = isDue && cron && isZone(zone) ? nextTimes(cron, zone, new Date(nextRunAt).getTime(), NEXT_SHOWN - 1) : [];
  const catchUp = trigger.catchUp ?? 'last';
  return (
    <Card title={t('upcoming')}>
      <div class="card-body automations-stack">
        <p class="automations-words">{cronWords(trigger.cron ?? '') ?? trigger.cron}</p>
        <Facts facts={[[t('cron'), <code>{trigger.cron}</code>], [t('zone'), zone], [t('catchUp'), t(`catchUp_${catchUp}`)], [t('overlap'), t(`overlap_${trigger.overlap ?? 'allow'}`)]]} />
        {isDue ? <Times times={[new Date(nextRunAt), ...rest]} zone={zone} /> : <Notice tone="warn">{t('notDue')}</Notice>}
      </div>
    </Card>
  );
}

function Past({ ws, automation: { id, trigger } }: { ws: string; automation: Automation }) {
  const zone = zoneOf(trigger);
  const list = useList('/v1/automations/{id}/occurrences', { path: { id } }, { on: [`automation-runs:${id}`] });
  const columns: readonly Column<Occurrence>[] = [
    { key: 'due', header: t('due'), isMain: true, cell: ({ dueAt }) => <Time at={dueAt} as="moment" zone={zone} /> },
    { key: 'outcome', header: t('outcome'), cell: ({ outcome }) => <Outcome outcome={outcome} /> },
    { key: 'reason', header: t('reason'), cell: ({ reason }) => reason !== null && <span class="automations-reason muted">{t.find(`skipped_${reason}`) ?? reason}</span> },
    { key: 'run', header: t('run'), cell: ({ runId }) => runId !== null && <a class="link" href={`/w/${ws}/runs/${runId}`}><code>{runId.slice(-8)}</code></a> },
  ];
  return <Card title={<>{t('past')} <Badge>{t('keptDays')}</Badge></>}><List label={t('past')} list={list} columns={columns} id={(item) => item.id} empty={<Empty title={t('noOccurrences')}><p>{t('noOccurrencesBody')}</p></Empty>} /></Card>;
}

function Outcome({ outcome }: { outcome: Occurrence['outcome'] }) {
  const [tone, icon] = OUTCOMES[outcome];
  return <Status tone={tone} icon={icon}>{t(`outcome_${outcome}`)}</Status>;
}
