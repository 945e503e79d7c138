// The first page of a workspace: everything in it as a town, and the same as tables.

import { useCallback, useMemo, useState, useEffect } from 'preact/hooks';
import { Page, hasRole, isReadOnly, navigate, useCommands, workspace, type RouteProps } from '#frame';
import { Button, ObjectMenu, ProblemView, Skeleton } from '#ui';
import { Begin } from './begin';
import { FactLine } from './fact-line';
import { groupBy, type AppFact, type CityFacts } from './facts';
import { t } from './messages';
import { StreetView } from './street-view';
import { TownView } from './town-view';
import { Twin } from './twin';
import { useCity, type City } from './use-city';

/** Runs of an app that make a line worth drawing, without asking for more. */
const ENOUGH_RUNS = 12;
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
  return (
    <Page title={t('city')} aside={<span class="muted">{workspace.value?.name}</span>} lead={city.facts && city.facts.apps.length > 0 ? leadOf(city.facts, city.openDeadLetters) : undefined} actions={actions}>
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
  if (!facts) return city.error ? <ProblemView problem={city.error} onRetry={city.retry} /> : <div class="card city-waiting"><Skeleton lines={5} /></div>;
  const isEmpty = facts.apps.length === 0;
  return (
    <div class="city">
      {city.error && <ProblemView problem={city.error} onRetry={city.retry} />}
      {isEmpty && <Begin ws={ws} />}
      {!isEmpty && (
        <section class="card city-town-card" aria-label={t('townLabel')}>
          {isPhone ? <StreetView ws={ws} facts={facts} lit={city.lit} onRun={city.onRun} /> : <TownView ws={ws} facts={facts} lit={city.lit} onRun={city.onRun} runsOf={runsOf} />}
          <FactLine ws={ws} totals={city.totals} openDeadLetters={city.openDeadLetters} isTown={!isPhone} />
        </section>
      )}
      <Twin ws={ws} facts={facts} />
    </div>
  );
}

/** Returns the sentence that matters most now. */
function leadOf({ apps }: CityFacts, openDeadLetters: number | null): string {
  const failing = apps.filter(({ state }) => state === 'failing').length;
  if (failing > 0) return t('leadFailing', { count: failing });
  if (openDeadLetters !== null && openDeadLetters > 0) return t('leadLetters', { count: openDeadLetters });
  const warning = apps.filter(({ state }) => state === 'warning').length;
  if (warning > 0) return t('leadWarning', { count: warning });
  const running = apps.filter((app) => app.running > 0).length;
  return running > 0 ? t('leadRunning', { count: running }) : t('leadCalm');
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
