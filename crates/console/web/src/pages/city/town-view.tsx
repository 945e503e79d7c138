// The town from above a corner: to look at, to move over, and to walk through with the keyboard.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { signal, type Signal } from '@preact/signals';
import { navigate, useCommands } from '#frame';
import { Button } from '#ui';
import { Post, ShutterPattern, Tree } from './art';
import { BuildingView, Lamp } from './building';
import { Card } from './card';
import type { AppFact, CityFacts, Fact, RunSummary } from './facts';
import { isometric, type Point } from './geometry/projection';
import { roadToDoor } from './geometry/town';
import { nextInDirection, type Direction } from './geometry/walk';
import { GateLamps, Gates, Ground, Roads } from './ground';
import { t } from './messages';
import { Names } from './names';
import { MAX_BUILDINGS, planTown, type Plan, type Standing } from './plan';
import { Travellers } from './travel';
import { useCamera, type CameraControl } from './use-camera';
import type { RunListener } from './use-city';
import { hrefOf, sentenceOf } from './wording';

const POINT_DELAY = 90;
/** Below this scale there are only buildings: what is smaller would be specks. */
const FAR = 0.28;
/** Triggers are larger than life, so that one knows them by sight. */
const POST_SCALE = 1.2;
/** Lamps are not drawn smaller than at this scale: they are what one looks for in a large town. */
const LAMP_SCALE = 0.5;

interface TownProps {
  readonly ws: string;
  readonly facts: CityFacts;
  readonly lit: ReadonlySet<string>;
  readonly onRun: (listener: RunListener) => () => void;
  readonly runsOf: (app: AppFact) => readonly RunSummary[] | null;
}

export function TownView({ ws, facts, lit, onRun, runsOf }: TownProps) {
  const view = useRef<HTMLDivElement>(null);
  const plane = useRef<HTMLDivElement>(null);
  const dots = useRef<HTMLCanvasElement>(null);
  const plan = usePlan(facts, ws);
  const camera = useCamera(view, plane, plan.bounds);
  const pointed = useMemo(() => signal<string | null>(null), [ws]);
  const pointer = usePointed(pointed);
  const [current, setCurrent] = useState<string | null>(null);
  const placed = useRef(camera.place);
  placed.current = camera.place;
  const travellers = useMemo(() => new Travellers(() => dots.current, (point) => placed.current(point)), []);
  useEffect(() => () => travellers.dispose(), [travellers]);
  useTravel(plan, onRun, travellers);
  useCommands([
    { id: 'city.zoomIn', label: t('zoomIn'), keys: '+', run: camera.zoomIn },
    { id: 'city.zoomInToo', label: t('zoomIn'), keys: '=', isHidden: true, run: camera.zoomIn },
    { id: 'city.zoomOut', label: t('zoomOut'), keys: '-', run: camera.zoomOut },
    { id: 'city.showAll', label: t('showAll'), keys: '0', run: camera.showAll },
    { id: 'city.closeCard', label: t('closeCard'), keys: 'escape', isHidden: true, when: () => pointed.peek() !== null, run: () => { pointed.value = null; } },
  ]);
  const tabStop = plan.standing.some(({ fact }) => fact.id === current) ? current : (inOrder(plan)[0]?.fact.id ?? null);

  const walk = (event: KeyboardEvent) => {
    if (!isDirection(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const [dx, dy] = AWAY[event.key];
    if (event.shiftKey) return camera.move(dx, dy);
    const places = plan.standing.map(({ middle }) => middle);
    const from = plan.standing.findIndex(({ fact }) => fact.id === tabStop);
    const next = nextInDirection(places, from, event.key);
    const standing = next === null ? undefined : plan.standing[next];
    if (standing) focusOn(standing);
    return undefined;
  };
  const focusOn = ({ fact, middle }: Standing) => {
    setCurrent(fact.id);
    camera.reveal(middle);
    plane.current?.querySelector<SVGAElement>(`[data-id="${fact.id}"]`)?.focus({ preventScroll: true });
  };
  const onFocus = (event: FocusEvent) => {
    const id = idOf(event.target);
    const standing = plan.standing.find(({ fact }) => fact.id === id);
    if (!standing) return;
    setCurrent(standing.fact.id);
    if (!(event.target as Element).matches(':focus-visible')) return;
    camera.reveal(standing.middle);
    pointer.now(standing.fact.id);
  };
  const open = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link) return;
    if (camera.wasDragged()) event.preventDefault();
    else if (!event.metaKey && !event.ctrlKey && !event.shiftKey && link instanceof SVGAElement) {
      event.preventDefault();
      void navigate(link.href.baseVal);
    }
  };

  const left = facts.apps.length + facts.projects.length - plan.standing.length;
  return (
    <div
      class="city-view" ref={view} onClick={open} onKeyDown={walk} onFocusIn={onFocus} onFocusOut={() => pointer.soon(null)}
      onPointerOver={(event) => event.pointerType === 'mouse' && pointer.soon(idOf(event.target))} onPointerLeave={() => pointer.soon(null)}
    >
      <div class="city-plane" ref={plane}>
        <Drawing ws={ws} plan={plan} lit={lit} scale={camera.scale} tabStop={tabStop} pointed={pointed} />
      </div>
      <canvas class="city-dots" ref={dots} aria-hidden="true" />
      <PointedCard ws={ws} plan={plan} pointed={pointed} camera={camera} runsOf={runsOf} onHold={() => pointer.soon(pointed.peek())} onLeave={() => pointer.soon(null)} />
      <div class="city-notes">
        {left > 0 && <span>{t('notDrawn', { count: left, limit: MAX_BUILDINGS })}</span>}
        <HeldBack travellers={travellers} />
      </div>
      <div class="city-zoom" role="group" aria-label={t('zoom')}>
        <Button icon="plus" label={t('zoomIn')} command="city.zoomIn" onClick={camera.zoomIn} />
        <Button icon="minus" label={t('zoomOut')} command="city.zoomOut" onClick={camera.zoomOut} />
        <Button icon="refresh" label={t('showAll')} command="city.showAll" onClick={camera.showAll} />
      </div>
    </div>
  );
}

/** Plans the town anew when the facts change, and keeps everybody's plot. */
function usePlan(facts: CityFacts, ws: string): Plan {
  const memory = useMemo(() => ({ plots: new Map<string, number>() as ReadonlyMap<string, number> }), [ws]);
  return useMemo(() => {
    const plan = planTown(facts, memory.plots);
    memory.plots = plan.plots;
    return plan;
  }, [facts, memory]);
}

function Drawing({ ws, plan, lit, scale, tabStop, pointed }: { ws: string; plan: Plan; lit: ReadonlySet<string>; scale: number; tabStop: string | null; pointed: Signal<string | null> }) {
  const { left, top, right, bottom } = plan.bounds;
  const isFar = scale < FAR;
  const items = useMemo(() => (isFar ? plan.items.filter(({ type }) => type === 'building') : plan.items), [plan, isFar]);
  const standing = useMemo(() => items.map((item) => {
    if (item.type === 'building') {
      const { fact } = item.standing;
      return <BuildingView key={fact.id} standing={item.standing} href={hrefOf(ws, fact)} label={sentenceOf(fact)} isLit={lit.has(fact.id)} isCurrent={tabStop === fact.id} />;
    }
    return item.type === 'post'
      ? <g key={item.key} transform={`translate(${item.at[0]} ${item.at[1]}) scale(${POST_SCALE})`}><Post kind={item.kind} isOff={item.isOff} /></g>
      : <Tree key={item.key} at={item.at} />;
  }), [items, lit, tabStop, ws]);
  const lamps = useMemo(() => <g class="city-lamps" aria-hidden="true"><GateLamps plan={plan} />{plan.standing.map((one) => <Lamp key={one.fact.id} standing={one} />)}</g>, [plan]);
  const ground = useMemo(() => <><Ground plan={plan} /><Gates plan={plan} ws={ws} /></>, [plan, ws]);
  return (
    <svg class={`city-town ${isFar ? 'is-far' : ''}`} width={(right - left) * scale} height={(bottom - top) * scale} viewBox={`${left} ${top} ${right - left} ${bottom - top}`} role="group" aria-label={t('townLabel')} style={{ '--city-lamp': String(Math.max(1, LAMP_SCALE / scale)) }}>
      <ShutterPattern />
      {ground}
      <PointedRoads plan={plan} pointed={pointed} />
      {standing}
      {lamps}
      <Names plan={plan} scale={scale} />
    </svg>
  );
}

function PointedRoads({ plan, pointed }: { plan: Plan; pointed: Signal<string | null> }) {
  const standing = plan.standing.find(({ fact }) => fact.id === pointed.value);
  return standing ? <Roads plan={plan} standing={standing} /> : null;
}

interface PointedCardProps {
  readonly ws: string;
  readonly plan: Plan;
  readonly pointed: Signal<string | null>;
  readonly camera: CameraControl;
  readonly runsOf: TownProps['runsOf'];
  readonly onHold: () => void;
  readonly onLeave: () => void;
}

function PointedCard({ ws, plan, pointed, camera, runsOf, onHold, onLeave }: PointedCardProps) {
  const standing = plan.standing.find(({ fact }) => fact.id === pointed.value);
  const [, moved] = useState(0);
  useEffect(() => (standing ? camera.onMove(() => moved((count) => count + 1)) : undefined), [standing !== undefined, camera]);
  if (!standing) return null;
  const [x, y] = isometric(standing.building.lamp);
  const place = camera.place([standing.origin[0] + x, standing.origin[1] + y + 40]);
  return <div onPointerEnter={onHold} onPointerLeave={onLeave}><Card ws={ws} fact={standing.fact} at={place} room={camera.width()} loaded={standing.fact.type === 'app' ? runsOf(standing.fact) : null} /></div>;
}

/** Number of runs that are under way without a dot of their own. */
function HeldBack({ travellers }: { travellers: Travellers }) {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setCount(travellers.heldBack()), 500);
    return () => clearInterval(timer);
  }, [travellers]);
  return count > 0 ? <span>{t('heldBack', { count })}</span> : null;
}

function useTravel(plan: Plan, onRun: TownProps['onRun'], travellers: Travellers): void {
  const latest = useRef(plan);
  latest.current = plan;
  useEffect(() => onRun((run) => {
    const standing = latest.current.standing.find(({ fact }) => fact.id === run.appId);
    if (standing?.fact.type !== 'app') return;
    const post = standing.fact.triggers.findIndex(({ kind }) => kind === run.trigger);
    const road: readonly Point[] = roadToDoor(standing.cell, post === -1 ? null : post).map(isometric);
    travellers.send(road);
  }), [onRun, travellers]);
}

/** Points after a moment, so that passing over the town does not flicker. */
function usePointed(pointed: Signal<string | null>) {
  return useMemo(() => {
    let timer: ReturnType<typeof setTimeout>;
    return {
      now: (id: string | null) => {
        clearTimeout(timer);
        pointed.value = id;
      },
      soon: (id: string | null) => {
        clearTimeout(timer);
        timer = setTimeout(() => { pointed.value = id; }, id === null ? POINT_DELAY * 2 : POINT_DELAY);
      },
    };
  }, [pointed]);
}

const AWAY: Readonly<Record<Direction, Point>> = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function isDirection(key: string): key is Direction {
  return key in AWAY;
}

function idOf(target: EventTarget | null): string | null {
  return target instanceof Element ? (target.closest('.city-building')?.getAttribute('data-id') ?? null) : null;
}

/** Buildings in the order of their plots: the first one built comes first. */
function inOrder(plan: Plan): Standing[] {
  const plotOf = ({ fact }: { readonly fact: Fact }) => plan.plots.get(fact.id) ?? 0;
  return [...plan.standing].sort((a, b) => plotOf(a) - plotOf(b));
}
