// The names in the town.

import { useMemo } from 'preact/hooks';
import { t } from './messages';
import { buildingOf } from './geometry/buildings';
import { convexHull, isometric, type Point } from './geometry/projection';
import { cornersOf, placeLabels, type LabelRequest, type Obstacle } from './geometry/labels';
import { gateFaces, gateLabelAt, labelPlaces } from './geometry/town';
import type { Item, Plan, Standing } from './plan';

const FONT_SIZE = 12.5;
const LINE = 17;
const MAX_LETTERS = 26;
/** Below this scale there is no room for names. Pointing at a building shows its own. */
const MIN_SCALE = 0.32;

let context: CanvasRenderingContext2D | null = null;

function widthOf(text: string, font: string): number {
  context ??= document.createElement('canvas').getContext('2d');
  if (!context) return text.length * FONT_SIZE * 0.6;
  context.font = font;
  return context.measureText(text).width;
}

export function shortened(name: string): string {
  const letters = [...name];
  return letters.length > MAX_LETTERS ? `${letters.slice(0, MAX_LETTERS - 1).join('').trimEnd()}…` : name;
}

const hulls = new Map<string, readonly Point[]>();

function hullOf({ kind, hasCrane, origin: [x, y] }: Standing): Obstacle {
  const name = `${kind} ${hasCrane}`;
  const hull = hulls.get(name) ?? convexHull(buildingOf(kind, hasCrane).faces.flatMap(({ points }) => points.map(isometric)));
  hulls.set(name, hull);
  return hull.map(([dx, dy]) => [dx + x, dy + y]);
}

const rectangle = ([x, y]: Point, left: number, top: number, right: number, bottom: number): Obstacle => cornersOf({ left: x + left, top: y + top, right: x + right, bottom: y + bottom });

function obstacleOf(item: Item): Obstacle {
  if (item.type === 'building') return hullOf(item.standing);
  return item.type === 'post' ? rectangle(item.at, -10, -26, 10, 2) : rectangle(item.at, -9, -28, 9, 0);
}

function lampObstacle({ origin: [x, y], building }: Standing): Obstacle {
  const [lx, ly] = isometric(building.lamp);
  return rectangle([x + lx, y + ly], -16, -19, 16, 4);
}

interface Name {
  readonly id: string;
  readonly text: string;
  readonly at: Point;
  readonly anchor: 'start' | 'middle' | 'end';
  readonly isHost: boolean;
}

/** Returns the names that have a place at this scale. Those of hosts are outside, where nothing else is. */
function namesAt(plan: Plan, scale: number): Name[] {
  if (scale < MIN_SCALE) return [];
  const buildings = plan.items.filter((item) => item.type !== 'tree').map(obstacleOf);
  const trees = plan.items.filter((item) => item.type === 'tree').map(obstacleOf);
  const lamps = plan.standing.filter(({ lamp }) => lamp !== null).map(lampObstacle);
  const gates = plan.gates.map(({ place }) => convexHull(gateFaces(place, true).flatMap(({ points }) => points.map(isometric))));
  const requestOf = ({ fact, cell }: Standing): LabelRequest => ({
    id: fact.id, width: (widthOf(shortened(fact.name), `500 ${FONT_SIZE}px Inter, system-ui, sans-serif`) + 8) / scale, height: LINE / scale, places: labelPlaces(cell).map(isometric),
  });
  // Who needs somebody is named first, where there is no room for all.
  const urgent = [...plan.standing].sort((a, b) => Number(b.lamp !== null) - Number(a.lamp !== null));
  const hard = [...buildings, ...lamps, ...gates];
  const free = placeLabels(urgent.map(requestOf), [...hard, ...trees]);
  const missing = urgent.filter(({ fact }) => !free.has(fact.id));
  const written = urgent.flatMap((one) => {
    const at = free.get(one.fact.id);
    const { width, height } = requestOf(one);
    return at ? [rectangle(at, -width / 2, -height / 2, width / 2, height / 2)] : [];
  });
  const overTrees = placeLabels(missing.map(requestOf), [...hard, ...written]);
  return plan.standing.flatMap(({ fact }) => {
    const at = free.get(fact.id) ?? overTrees.get(fact.id);
    return at ? [{ id: fact.id, text: shortened(fact.name), at, anchor: 'middle' as const, isHost: false }] : [];
  });
}

function hostsAt(plan: Plan, scale: number): Name[] {
  if (scale < MIN_SCALE * 1.4) return [];
  return plan.gates.map(({ fact, place }, index) => {
    const isLast = index === plan.gates.length - 1 && plan.gatesLeft > 0;
    return { id: fact.id, text: isLast ? t('hostAndMore', { host: shortened(fact.host), count: plan.gatesLeft }) : shortened(fact.host), at: isometric(gateLabelAt(place)), anchor: place.side === 'west' ? 'end' as const : 'start' as const, isHost: true };
  });
}

export function Names({ plan, scale }: { plan: Plan; scale: number }) {
  const names = useMemo(() => [...namesAt(plan, scale), ...hostsAt(plan, scale)], [plan, scale]);
  return (
    <g class="city-names" font-size={FONT_SIZE / scale} stroke-width={4 / scale} aria-hidden="true">
      {names.map(({ id, text, at: [x, y], anchor, isHost }) => <text key={id} class={isHost ? 'is-host' : ''} x={x} y={y} dy=".35em" text-anchor={anchor}>{text}</text>)}
    </g>
  );
}
