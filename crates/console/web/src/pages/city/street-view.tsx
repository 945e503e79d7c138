// The town as a street, seen from the front: for phones, where a map is too small to read.

import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Icon, triggerText } from '#ui';
import { LampView, Post, ShutterPattern } from './art';
import { buildingClass, pathsOfKind } from './building';
import { lampOf, type AppFact, type CityFacts, type Fact, type GateFact } from './facts';
import { DOOR, buildingOf } from './geometry/buildings';
import { assignPlots } from './geometry/plots';
import { frontal, UNIT } from './geometry/projection';
import { t } from './messages';
import { kindOfFact } from './plan';
import { mayMove, TRAVEL } from './travel';
import { Traffic } from './geometry/traffic';
import type { RunListener } from './use-city';
import { hrefOf, sentenceOf } from './wording';

/** The drawing of a house: in units of the town, with room for triggers beside the door. */
const VIEW = { left: -1.1 * UNIT, width: 5.2 * UNIT };
/** Room over the lamp, and below the ground. */
const ABOVE = 24;
const BELOW = 1;
const FIRST_POST = -0.7 * UNIT;
const POST_STEP = 0.55 * UNIT;

interface StreetProps {
  readonly ws: string;
  readonly facts: CityFacts;
  readonly lit: ReadonlySet<string>;
  readonly onRun: (listener: RunListener) => () => void;
}

export function StreetView({ ws, facts, lit, onRun }: StreetProps) {
  const list = useRef<HTMLUListElement>(null);
  const ordered = useMemo(() => {
    const all: readonly Fact[] = [...facts.apps, ...facts.projects];
    const plots = assignPlots(all);
    return [...all].sort((a, b) => (plots.get(a.id) ?? 0) - (plots.get(b.id) ?? 0));
  }, [facts]);
  useTravel(list, facts, onRun);
  return (
    <>
      <svg class="hidden-text" aria-hidden="true"><ShutterPattern /></svg>
      <ul class="city-street" ref={list}>{ordered.map((fact) => <House key={fact.id} ws={ws} fact={fact} isLit={lit.has(fact.id)} />)}</ul>
      {facts.gates.length > 0 && <GateRow ws={ws} gates={facts.gates} />}
    </>
  );
}

function House({ ws, fact, isLit }: { ws: string; fact: Fact; isLit: boolean }) {
  const kind = kindOfFact(fact);
  const hasCrane = fact.type === 'app' && fact.state === 'building';
  const lamp = fact.type === 'app' ? lampOf(fact) : null;
  const building = buildingOf(kind, hasCrane);
  const [lampX, lampY] = frontal(building.lamp);
  const top = -Math.max(-lampY, building.height * UNIT) - ABOVE;
  return (
    <li class="city-house">
      <a class={`city-building ${buildingClass(fact, isLit)}`} href={hrefOf(ws, fact)} aria-label={sentenceOf(fact)}>
        <span class="city-facade" data-id={fact.id}>
          <svg viewBox={`${VIEW.left} ${top} ${VIEW.width} ${BELOW - top}`} aria-hidden="true">
            {pathsOfKind(kind, hasCrane, frontal).map(({ paint, d }, index) => <path key={index} class={`city-${paint}`} d={d} />)}
            {fact.type === 'app' && fact.triggers.map((trigger, index) => <g key={trigger.kind} transform={`translate(${postX(index)} 0)`}><Post kind={trigger.kind} isOff={trigger.isOff} /></g>)}
            {lamp && <g transform={`translate(${lampX} ${lampY})`}><LampView {...lamp} /></g>}
            <path class="city-curb" d={`M${VIEW.left} 0h${VIEW.width}`} />
          </svg>
        </span>
        <span class="city-house-name">{fact.name}</span>
      </a>
    </li>
  );
}

/** Triggers stand at the left of the door first, then at its right. */
function postX(index: number): number {
  return index < 2 ? FIRST_POST + index * POST_STEP * 0.9 : 3.1 * UNIT + (index - 2) * POST_STEP * 0.8;
}

function GateRow({ ws, gates }: { ws: string; gates: readonly GateFact[] }) {
  return (
    <div class="city-gates">
      <h2>{t('gates')}</h2>
      <ul>{gates.map(({ id, host, isClosed }) => <li key={id}><a href={`/w/${ws}/gates/${id}`} class={isClosed ? 'is-closed' : ''}><Icon d="M2.5 13.5v-8a5.5 3.5 0 0 1 11 0v8M5.5 13.5V6M8 13.5V5M10.5 13.5V6" /><span>{host}</span>{isClosed && <small>{t('closed')}</small>}</a></li>)}</ul>
    </div>
  );
}

/** Lets runs travel from their trigger to the door. */
function useTravel(list: { readonly current: HTMLUListElement | null }, facts: CityFacts, onRun: StreetProps['onRun']): void {
  const latest = useRef(facts);
  latest.current = facts;
  useEffect(() => {
    const traffic = new Traffic();
    return onRun((run) => {
      const app = latest.current.apps.find(({ id }) => id === run.appId);
      const house = list.current?.querySelector(`[data-id="${run.appId}"]`);
      if (!app || !house || !mayMove() || !traffic.admit(performance.now())) return;
      const scale = house.clientWidth / VIEW.width;
      const ground = house.clientHeight - BELOW * scale;
      const at = (x: number, y: number) => ({ transform: `translate(${(x - VIEW.left) * scale}px, ${ground - y * scale}px)` });
      const dot = document.createElement('span');
      dot.className = 'city-dot';
      house.append(dot);
      const animation = dot.animate([at(triggerX(app, run.trigger), 0), at(DOOR * UNIT, 0), at(DOOR * UNIT, 10)], { duration: TRAVEL.shortest, easing: 'ease-in-out' });
      animation.onfinish = animation.oncancel = () => dot.remove();
    });
  }, [list, onRun]);
}

function triggerX({ triggers }: AppFact, kind: string): number {
  const index = triggers.findIndex((trigger) => trigger.kind === kind);
  return index === -1 ? VIEW.left : postX(index);
}

/** Returns the words for what starts an app. */
export function triggersText({ triggers }: AppFact): string[] {
  return triggers.map(({ kind }) => triggerText(kind));
}
