// The town with made-up data, to look at and to measure. In development builds only.

import { useEffect, useMemo } from 'preact/hooks';
import { Page, query } from '#frame';
import { FactLine } from '../city/fact-line';
import { StreetView } from '../city/street-view';
import { TownView } from '../city/town-view';
import { Twin } from '../city/twin';
import type { RunListener } from '../city/use-city';
import { madeUp, runNow } from './data';

const number = (name: string, otherwise: number) => Number(query.value.get(name) ?? otherwise);

export default function Fixture() {
  const [buildings, gates, runs] = [number('buildings', 12), number('gates', 6), number('runs', 0)];
  const facts = useMemo(() => madeUp(buildings, gates), [buildings, gates]);
  const lit = useMemo(() => new Set(facts.apps.filter((app) => app.running > 0).map(({ id }) => id)), [facts]);
  const listeners = useMemo(() => new Set<RunListener>(), []);
  const onRun = useMemo(() => (listener: RunListener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, [listeners]);
  useEffect(() => {
    if (runs === 0) return undefined;
    const timer = setInterval(() => { for (const listen of listeners) listen(runNow(facts)); }, 1_000 / runs);
    return () => clearInterval(timer);
  }, [runs, facts, listeners]);
  const isPhone = matchMedia('(max-width: 720px)').matches;
  return (
    <Page title="City" lead={`${buildings} buildings, ${gates} gates, ${runs} runs a second`}>
      <div class="city">
        <section class="card city-town-card" aria-label="Town">
          {isPhone ? <StreetView ws="ws_1" facts={facts} lit={lit} onRun={onRun} /> : <TownView ws="ws_1" facts={facts} lit={lit} onRun={onRun} runsOf={() => []} />}
          <FactLine ws="ws_1" totals={{ over: 'day', runs: 1_284, succeeded: 0.9942, minutesSaved: 1_284 }} openDeadLetters={4} isTown={!isPhone} />
        </section>
        <Twin ws="ws_1" facts={facts} />
      </div>
    </Page>
  );
}
