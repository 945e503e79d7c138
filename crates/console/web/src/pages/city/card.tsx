// What is said about a building that somebody points at.

import { useResource } from '#api/resource';
import { formatDuration, formatNumber } from '#i18n';
import { AppStatus, Badge, RunStatus, Sparkline, Time, triggerText } from '#ui';
import type { AppFact, Fact, ProjectFact, RunSummary } from './facts';
import type { Point } from './geometry/projection';
import { t } from './messages';
import { runOf } from './runs';

const WIDTH = 272;
/** Runs that the line shows. */
const RUNS = 24;

/** The card beside a point of the window, on the side that has more room. */
export function Card({ ws, fact, at: [x, y], room, loaded }: { ws: string; fact: Fact; at: Point; room: number; loaded: readonly RunSummary[] | null }) {
  const isLeft = x > room / 2;
  return (
    <div class={`city-card ${isLeft ? 'is-left' : ''}`} role="tooltip" style={{ '--x': `${Math.round(x)}px`, '--y': `${Math.round(y)}px`, '--width': `${WIDTH}px` }}>
      {fact.type === 'app' ? <AppCard key={fact.id} ws={ws} fact={fact} loaded={loaded} /> : <ProjectCard fact={fact} />}
    </div>
  );
}

function AppCard({ ws, fact, loaded }: { ws: string; fact: AppFact; loaded: readonly RunSummary[] | null }) {
  const read = useResource('/v1/workspaces/{ws}/runs', loaded === null ? { path: { ws }, query: { appId: fact.id, limit: RUNS } } : null);
  const runs = loaded ?? read.data?.items ?? [];
  const last = fact.lastRun ?? (runs[0] ? runOf(runs[0]) : null);
  const isRead = loaded !== null || read.data !== undefined;
  return (
    <>
      <div class="city-card-head"><b>{fact.name}</b><AppStatus app={fact.health} /></div>
      <dl>
        <div><dt>{t('lastRun')}</dt><dd>{last ? <><Time at={last.at} /> <RunStatus status={last.status} /></> : isRead ? t('noRun') : '–'}</dd></div>
        {fact.deadLetters > 0 && <div><dt>{t('deadLetters')}</dt><dd><Badge tone="bad">{formatNumber(fact.deadLetters)}</Badge></dd></div>}
        {fact.triggers.map(({ kind, names, isOff }) => <div key={kind}><dt>{triggerText(kind)}</dt><dd class={isOff ? 'muted' : ''}>{names.join(', ')}</dd></div>)}
        {fact.gates.length > 0 && <div><dt>{t('hosts')}</dt><dd>{fact.gates.map(({ host }) => host).join(', ')}</dd></div>}
      </dl>
      <Durations runs={runs} />
    </>
  );
}

/** A line of how long the latest runs took. */
function Durations({ runs }: { runs: readonly RunSummary[] }) {
  const durations = runs.slice(0, RUNS).map(({ durationMs }) => durationMs).filter((ms) => ms !== null).reverse();
  if (durations.length < 2) return null;
  const last = durations.at(-1) ?? 0;
  return <div class="city-card-line"><Sparkline values={durations} label={t('durations', { count: durations.length })} /><span>{t('lastTook', { duration: formatDuration(last) })}</span></div>;
}

function ProjectCard({ fact }: { fact: ProjectFact }) {
  return (
    <>
      <div class="city-card-head"><b>{fact.name}</b></div>
      <dl>
        <div><dt>{t('project')}</dt><dd>{t('tables', { count: fact.tables })}</dd></div>
        <div><dt>{t('requestsPerMinute')}</dt><dd>{formatNumber(fact.requestsPerMin, { maximumFractionDigits: 1 })}</dd></div>
      </dl>
    </>
  );
}
