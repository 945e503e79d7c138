// The names in the town.

import { useMemo } from 'preact/hooks';
import { t } from './messages';
import { buildingOf } from './geometry/buildings';
import type { Paint } from './geometry/solids';
import { convexHull, isometric, type Point } from './geometry/projection';
import { cornersOf, ObstacleIndex, placeLabels, type LabelRequest, type Obstacle } from './geometry/labels';
import { gateFaces, gateLabelAt, labelPlaces } from './geometry/town';
import type { Item, Plan, Standing } from './plan';

const FONT_SIZE = 12.5;
const LINE = 17;
const MAX_LETTERS = 22;
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

const outlines = new Map<string, readonly Obstacle[]>();

/** Faces that make up the outline of a building; windows and doors are inside of them. */
const isInside = (paint: Paint) => paint === 'window' || paint === 'door' || paint === 'glass';

/** Returns the faces of a building on the drawing: what stands out, such as the arm of a crane, leaves room beside it. */
function outlineOf({ kind, hasCrane, origin: [x, y] }: Standing): readonly Obstacle[] {
  const name = `${kind} ${hasCrane}`;
  const faces = outlines.get(name) ?? buildingOf(kind, hasCrane).faces.filter(({ paint }) => !isInside(paint)).map(({ points }) => points.map(isometric));
  outlines.set(name, faces);
  return faces.map((face) => face.map(([dx, dy]) => [dx + x, dy + y] as const));
}

const rectangle = ([x, y]: Point, left: number, top: number, right: number, bottom: number): Obstacle => cornersOf({ left: x + left, top: y + top, right: x + right, bottom: y + bottom });

function obstaclesOf(item: Item): readonly Obstacle[] {
  if (item.type === 'building') return outlineOf(item.standing);
  return [item.type === 'post' ? rectangle(item.at, -11, -30, 11, 2) : rectangle(item.at, -9, -28, 9, 0)];
}

function lampObstacle({ origin: [x, y], building }: Standing): Obstacle {
  const [lx, ly] = isometric(building.lamp);
  return rectangle([x + lx, y + ly], -16, -19, 16, 4);
}

interface Name {
  readonly id: string;
  readonly lines: readonly string[];
  readonly at: Point;
  readonly anchor: 'start' | 'middle' | 'end';
  readonly isHost: boolean;
}

/** Returns a name in two lines about as long, or `null` if it is one word. */
export function inTwoLines(name: string): readonly [string, string] | null {
  const breaks = [...name.matchAll(/ /g)].map(({ index }) => index);
  if (breaks.length === 0) return null;
  const middle = breaks.reduce((best, at) => (Math.abs(at - name.length / 2) < Math.abs(best - name.length / 2) ? at : best));
  return [name.slice(0, middle), name.slice(middle + 1)];
}

interface Written extends LabelRequest {
  readonly lines: readonly string[];
}

function requestOf({ fact, cell }: Standing, lines: readonly string[], scale: number): Written {
  const width = Math.max(...lines.map((line) => widthOf(line, `500 ${FONT_SIZE}px Inter, system-ui, sans-serif`)));
  return { id: fact.id, lines, width: (width + 8) / scale, height: (LINE * lines.length) / scale, places: labelPlaces(cell).map(isometric) };
}

/** Returns the names that have a place at this scale: in one line, else in two, and over trees rather than not at all. */
function namesAt(plan: Plan, scale: number): Name[] {
  if (scale < MIN_SCALE) return [];
  const obstacles = plan.items.filter((item) => item.type !== 'tree').flatMap(obstaclesOf);
  obstacles.push(...plan.standing.filter(({ lamp }) => lamp !== null).map(lampObstacle));
  obstacles.push(...plan.gates.map(({ place }) => convexHull(gateFaces(place, true).flatMap(({ points }) => points.map(isometric)))));
  const index = new ObstacleIndex(obstacles);
  const trees = new ObstacleIndex(plan.items.filter((item) => item.type === 'tree').flatMap(obstaclesOf));
  // Who needs somebody is named first, where there is no room for all.
  const rank = ({ lamp, fact }: Standing) => (lamp !== null ? 2 : fact.type === 'app' && fact.running > 0 ? 1 : 0);
  const urgent = [...plan.standing].sort((a, b) => rank(b) - rank(a));
  const names = new Map<string, Name>();
  const attempt = (linesOf: (name: string) => readonly string[] | null, avoided: readonly ObstacleIndex[]) => {
    const requests = urgent.filter(({ fact }) => !names.has(fact.id)).flatMap((one) => {
      const lines = linesOf(shortened(one.fact.name));
      return lines === null ? [] : [requestOf(one, lines, scale)];
    });
    const placed = placeLabels(requests, [index, ...avoided]);
    for (const { id, lines } of requests) {
      const at = placed.get(id);
      if (at !== undefined) names.set(id, { id, lines, at, anchor: 'middle', isHost: false });
    }
  };
  for (const avoided of [[trees], []]) {
    attempt((name) => [name], avoided);
    attempt(inTwoLines, avoided);
  }
  return [...names.values()];
}

function hostsAt(plan: Plan, scale: number): Name[] {
  if (scale < MIN_SCALE) return [];
  return plan.gates.map(({ fact, place }, index) => {
    const isLast = index === plan.gates.length - 1 && plan.gatesLeft > 0;
    return { id: fact.id, lines: [isLast ? t('hostAndMore', { host: shortened(fact.host), count: plan.gatesLeft }) : shortened(fact.host)], at: isometric(gateLabelAt(place)), anchor: place.side === 'west' ? 'end' as const : 'start' as const, isHost: true };
  });
}

export function Names({ plan, scale }: { plan: Plan; scale: number }) {
  const names = useMemo(() => [...namesAt(plan, scale), ...hostsAt(plan, scale)], [plan, scale]);
  return (
    <g class="city-names" font-size={FONT_SIZE / scale} stroke-width={4 / scale} aria-hidden="true">
      {names.map(({ id, lines, at: [x, y], anchor, isHost }) => (
        <text key={id} class={isHost ? 'is-host' : ''} text-anchor={anchor}>
          {lines.map((line, index) => <tspan key={line} x={x} y={y + ((index - (lines.length - 1) / 2) * LINE * 0.88) / scale} dy=".35em">{line}</tspan>)}
        </text>
      ))}
    </g>
  );
}
