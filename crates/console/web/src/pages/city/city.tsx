// The first page of a workspace: everything in it as a town, and the same as tables.

import { useCallback, useMemo, useState, useEffect } from 'preact/hooks';
import { Page, hasRole, isReadOnly, navigate, useCommands, workspace, type RouteProps } from '#frame';
import { Button, ObjectMenu, ProblemView, Skeleton } from '#ui';
import { OpenPlans } from '../apps/changes/open-plans';
import { Begin } from './begin';
import { FactLine } from './fact-line';
import { FirstSteps } from './first-steps';
import { groupBy, type AppFact } from './facts';
import { leadOf, type Lead } from './lead';
import { t } from './messages';
import { StreetView } from './street-view';
import { TownView } from './town-view';
import { Twin } from './twin';
import { useCity, type City } from './use-city';

/** Runs of an app that make a line worth drawing, without asking for more. */
const ENOUGH_RUNS = 12;
/** Keeps the place of the sentence below the title until it is there. */
const NO_LEAD_YET = '\u00a0';
const PHONE = '(max-width: 720px)';

export default function CityPage({ params: { ws } }: RouteProps<'/w/:ws'>) {
  const city = useCity(ws);
  const mayBuild = hasRole('builder') && !isReadOnly.value;
  const create = () => void navigate(`/w/${ws}/apps/new`);
  useCommands([
    { id: 'city.table', label: t('goToTable'), keys: 't', when: () => document.getElementById('city-table') !== null, run: focusTable },
    { id: 'city.newApp', label: t('newApp'), keys: 'n', when: () => mayBuild, run: create },
  ]);
  const actions = (
    <>
      {mayBuild && <Button variant="primary" icon="plus" command="city.newApp" href={`/w/${ws}/apps/new`}>{t('newApp')}</Button>}
      <ObjectMenu url={`/v1/workspaces/${ws}/apps`} value={city.apps} />
    </>
  );
  const lead = city.facts && city.overview ? leadOf(city.overview, city.facts.apps.filter((app) => app.running > 0).length) : null;
  return (
    <Page title={t('city')} aside={<span class="muted">{workspace.value?.name}</span>} lead={city.facts?.apps.length === 0 ? undefined : lead ? <LeadLine ws={ws} lead={lead} /> : NO_LEAD_YET} actions={actions}>
      <Content ws={ws} city={city} />
    </Page>
  );
}

function Content({ ws, city }: { ws: string; city: City }) {
  const isPhone = useIsPhone();
  const { runs } = city;
  const byApp = useMemo(() => groupBy(runs?.items ?? [], ({ appId }) => appId), [runs]);
  const isWhole = runs !== undefined && runs.nextCursor === null;
  const runsOf = useCallback(({ id }: AppFact) => {
    const own = byApp.get(id) ?? [];
    return isWhole || own.length >= ENOUGH_RUNS ? own : null;
  }, [byApp, isWhole]);
  const { facts } = city;
  const isEmpty = facts?.apps.length === 0;
  // Runs are deleted after some time: an app that was seen to work has run though none is left.
  const isNew = useNewness(ws, facts !== null && !isEmpty && isWhole && runs.items.length === 0 && facts.apps.every(({ health }) => health.observedAt === null));
  if (!facts) return city.error ? <ProblemView problem={city.error} onRetry={city.retry} /> : <div class="card city-waiting"><Skeleton lines={5} /></div>;
  return (
    <div class="city">
      {city.error && <ProblemView problem={city.error} onRetry={city.retry} />}
      {isNew && <FirstSteps ws={ws} apps={city.apps} automations={city.automations} />}
      {isEmpty && <Begin ws={ws} />}
      {!isEmpty && (
        <section class="card city-town-card" aria-label={t('townLabel')}>
          {isPhone ? <StreetView ws={ws} facts={facts} lit={city.lit} onRun={city.onRun} /> : <TownView ws={ws} facts={facts} lit={city.lit} onRun={city.onRun} runsOf={runsOf} />}
          <FactLine ws={ws} totals={city.totals} openDeadLetters={city.overview?.deadLetters ?? null} isTown={!isPhone} />
        </section>
      )}
      <OpenPlans ws={ws} />
      <Twin ws={ws} facts={facts} />
    </div>
  );
}

/** Whether nothing had run when the page was opened: what to do first stays while somebody does it. */
function useNewness(ws: string, isNew: boolean): boolean {
  const [shownFor, setShownFor] = useState<string | null>(null);
  useEffect(() => { if (isNew) setShownFor(ws); }, [ws, isNew]);
  return shownFor === ws;
}

/** The sentence that matters most now. Nothing is said of what was not read. */
function LeadLine({ ws, lead }: { ws: string; lead: Lead }) {
  switch (lead.kind) {
    case 'questions': return <a href={`/w/${ws}/queue`}>{t('leadQuestions', { count: lead.count })}</a>;
    case 'failing': return <a href={`/w/${ws}/apps?status=failing`}>{t('leadFailing', { count: lead.count })}</a>;
    case 'letters': return <a href={`/w/${ws}/dead-letters?state=open`}>{t('leadLetters', { count: lead.count })}</a>;
    case 'warning': return <a href={`/w/${ws}/apps?status=warning`}>{t('leadWarning', { count: lead.count })}</a>;
    case 'running': return <>{t('leadRunning', { count: lead.count })}</>;
    case 'unobserved': return <a href={`/w/${ws}/apps?status=unobserved`}>{t('leadUnobserved', { quiet: lead.quiet, count: lead.count })}</a>;
    case 'paused': return <a href={`/w/${ws}/apps?status=paused`}>{t('leadPaused', { count: lead.count })}</a>;
    case 'drafts': return <a href={`/w/${ws}/apps?status=draft`}>{t('leadDrafts', { count: lead.count })}</a>;
    case 'inactive': return <>{t('leadInactive', { count: lead.count })}</>;
    case 'calm': return <>{t('leadCalm')}</>;
  }
}

function focusTable(): void {
  const table = document.getElementById('city-table');
  table?.scrollIntoView({ block: 'start' });
  table?.focus({ preventScroll: true });
}

function useIsPhone(): boolean {
  const [isPhone, setPhone] = useState(() => matchMedia(PHONE).matches);
  useEffect(() => {
    const media = matchMedia(PHONE);
    const change = () => setPhone(media.matches);
    media.addEventListener('change', change);
    return () => media.removeEventListener('change', change);
  }, []);
  return isPhone;
}
