// The ground plan: lots, streets, the wall and its gates, and the ways between them.

import { DOOR, FRONT } from './buildings';
import type { Cell, Extent } from './plots';
import type { Point3 } from './projection';
import { box, type Face } from './solids';

/** Distance from one lot to the next. */
export const PITCH = 5.5;
const STREET = { from: 3.75, to: 5.1, middle: 4.4 };
const AVENUE = { from: 4.05, to: 5.2, middle: 4.6 };
/** The way along the inside of the wall. */
const RING = { from: -1.5, to: -0.5, middle: -1 };
const WALL = { at: -1.9, thickness: 0.22, height: 0.5 };
/** Line in front of the buildings on which triggers stand. */
const POSTS = { first: 0.1, step: 0.62, y: 3.2 };
/** Green beyond the last streets. */
const EDGE = 0.35;
const GATES = { first: 0.35, step: 2.6, half: 0.5 };

/** A rectangle of the ground. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly d: number;
}

export type Side = 'west' | 'north';

export interface GatePlace {
  readonly side: Side;
  /** Where it stands along its wall. */
  readonly at: number;
}

export const corners = ({ x, y, w, d }: Area): Point3[] => [[x, y, 0], [x + w, y, 0], [x + w, y + d, 0], [x, y + d, 0]];

/** Returns the corner of a lot. */
export function lotOf({ column, row }: Cell): Point3 {
  return [column * PITCH, row * PITCH, 0];
}

const lastAvenue = (columns: number) => (columns - 1) * PITCH + AVENUE.to;
const lastStreet = (rows: number) => (rows - 1) * PITCH + STREET.to;

export function groundOf({ columns, rows }: Extent): Area {
  return { x: WALL.at, y: WALL.at, w: lastAvenue(columns) + EDGE - WALL.at, d: lastStreet(rows) + EDGE - WALL.at };
}

export function streetsOf({ columns, rows }: Extent): Area[] {
  const right = lastAvenue(columns);
  const front = lastStreet(rows);
  return [
    { x: RING.from, y: RING.from, w: RING.to - RING.from, d: front - RING.from },
    { x: RING.from, y: RING.from, w: right - RING.from, d: RING.to - RING.from },
    ...Array.from({ length: rows }, (_, row) => ({ x: RING.to, y: row * PITCH + STREET.from, w: right - RING.to, d: STREET.to - STREET.from })),
    ...Array.from({ length: columns }, (_, column) => ({ x: column * PITCH + AVENUE.from, y: RING.to, w: AVENUE.to - AVENUE.from, d: front - RING.to })),
  ];
}

/** Number of gates that the walls have room for. */
export function gateRoom({ columns, rows }: Extent): number {
  const along = (lots: number) => Math.floor((lots * PITCH - GATES.first - GATES.half) / GATES.step) + 1;
  return along(columns) + along(rows);
}

/** Returns where the gate with this number stands. They take turns on the two walls and do not move when the town grows. */
export function gatePlace(number: number, { columns, rows }: Extent): GatePlace {
  const room = (lots: number) => Math.floor((lots * PITCH - GATES.first - GATES.half) / GATES.step) + 1;
  const shorter = Math.min(room(columns), room(rows));
  const inTurn = number < shorter * 2;
  const side: Side = inTurn ? (number % 2 === 0 ? 'west' : 'north') : rows > columns ? 'west' : 'north';
  const index = inTurn ? Math.floor(number / 2) : number - shorter;
  return { side, at: GATES.first + index * GATES.step };
}

const turned = (side: Side, along: number, across: number, z: number): Point3 => (side === 'west' ? [across, along, z] : [along, across, z]);

/** Returns the wall, open at the gates. */
export function wallOf(extent: Extent, gates: readonly GatePlace[]): Face[] {
  return (['north', 'west'] as const).flatMap((side) => {
    const end = (side === 'west' ? lastStreet(extent.rows) : lastAvenue(extent.columns)) + EDGE;
    const openings = gates.filter((gate) => gate.side === side).map(({ at }) => at).sort((a, b) => a - b);
    const starts = [WALL.at, ...openings.map((at) => at + GATES.half)];
    const ends = [...openings.map((at) => at - GATES.half), end];
    return starts.flatMap((start, index) => {
      const length = (ends[index] ?? end) - start;
      if (length <= 0) return [];
      const size: Point3 = side === 'west' ? [WALL.thickness, length, WALL.height] : [length, WALL.thickness, WALL.height];
      return box(turned(side, start, WALL.at, 0), size);
    });
  });
}

/** Returns a gate: two pillars with a lintel, and a door if it is closed. */
export function gateFaces({ side, at }: GatePlace, isClosed: boolean): Face[] {
  const pillar = 0.26;
  const part = (along: number, length: number, z: number, height: number) => {
    const size: Point3 = side === 'west' ? [pillar, length, height] : [length, pillar, height];
    return box(turned(side, along, WALL.at, z), size);
  };
  const inner = WALL.at + pillar / 2;
  const leaf: Face = { paint: 'door', points: [turned(side, at - GATES.half + pillar, inner, 0), turned(side, at + GATES.half - pillar, inner, 0), turned(side, at + GATES.half - pillar, inner, 1), turned(side, at - GATES.half + pillar, inner, 1)] };
  return [...part(at - GATES.half, pillar, 0, 1), ...(isClosed ? [leaf] : []), ...part(at + GATES.half - pillar, pillar, 0, 1), ...part(at - GATES.half - 0.06, GATES.half * 2 + 0.12, 1, 0.2)];
}

/** Returns the piece of road that goes out of a gate. */
export function gateRoad({ side, at }: GatePlace): Area {
  const across = { from: WALL.at - 1, length: RING.to - WALL.at + 1 };
  const width = { from: at - 0.28, length: 0.56 };
  return side === 'west' ? { x: across.from, y: width.from, w: across.length, d: width.length } : { x: width.from, y: across.from, w: width.length, d: across.length };
}

/** Where the name of a gate's host is written: outside, beside the road. */
export function gateLabelAt({ side, at }: GatePlace): Point3 {
  return turned(side, at, WALL.at - 1.5, 0);
}

export function gateLamp({ side, at }: GatePlace): Point3 {
  return turned(side, at, WALL.at + 0.13, 1.3);
}

/** Place of a trigger before a building, by its number there. */
export function postAt(cell: Cell, index: number): Point3 {
  const [x, y] = lotOf(cell);
  return [x + POSTS.first + index * POSTS.step, y + POSTS.y, 0];
}

/** Returns the paved ways of a lot: from its triggers and from its door to the street. */
export function pathsOnLot(cell: Cell, posts: number): Area[] {
  const [x, y] = lotOf(cell);
  const toStreet = Array.from({ length: posts }, (_, index) => ({ x: x + POSTS.first + index * POSTS.step - 0.1, y: y + POSTS.y, w: 0.2, d: STREET.from - POSTS.y }));
  return [...toStreet, { x: x + DOOR - 0.2, y: y + FRONT, w: 0.4, d: STREET.from - FRONT }];
}

/** Returns the road of a run: from a trigger, or from the ring if it has none, over the street to the door. */
export function roadToDoor(cell: Cell, post: number | null): Point3[] {
  const [x, y] = lotOf(cell);
  const street = y + STREET.middle;
  const start: Point3[] = post === null ? [[RING.middle, street, 0]] : [postAt(cell, post), [postAt(cell, post)[0], street, 0]];
  return [...start, [x + DOOR, street, 0], [x + DOOR, y + FRONT, 0]];
}

/** Returns the road from a door out through a gate. */
export function roadToGate(cell: Cell, { side, at }: GatePlace): Point3[] {
  const [x, y] = lotOf(cell);
  const street = y + STREET.middle;
  const avenue = x + AVENUE.middle;
  const leave: Point3[] = [[x + DOOR, y + FRONT, 0], [x + DOOR, street, 0]];
  const outside = turned(side, at, WALL.at - 1, 0);
  if (side === 'west') return [...leave, [RING.middle, street, 0], [RING.middle, at, 0], outside];
  return [...leave, [avenue, street, 0], [avenue, RING.middle, 0], [at, RING.middle, 0], outside];
}

/** Ground of a lot that is never built on: its yard and street, and the avenues at its sides. */
const FREE_GROUND = [
  { x: [-0.6, 5], y: [3, 5] },
  { x: [3.7, 5.1], y: [-0.3, 3] },
  { x: [-1.1, -0.2], y: [0.2, 3] },
] as const;
const LABEL_STEP = 0.2;
/** Where a name is looked for first: below the front corner. */
const LABEL_NEAR = [3.4, 3.7] as const;

const LABEL_OFFSETS = FREE_GROUND.flatMap(({ x: [left, right], y: [back, front] }) => {
  const places: [number, number][] = [];
  for (let x = left; x <= right; x += LABEL_STEP) for (let y = back; y <= front; y += LABEL_STEP) places.push([x, y]);
  return places;
}).sort((a, b) => distance(a) - distance(b));

function distance([x, y]: readonly [number, number]): number {
  return Math.hypot(x - LABEL_NEAR[0], y - LABEL_NEAR[1]);
}

/** Returns the places of a lot where its name may be written, nearest to its front corner first. */
export function labelPlaces(cell: Cell): Point3[] {
  const [x, y] = lotOf(cell);
  return LABEL_OFFSETS.map(([dx, dy]) => [x + dx, y + dy, 0]);
}

/** Returns the trees of a lot, the same for each cell every time; more of them where nothing is built. */
export function treesOf({ column, row }: Cell, isBuilt: boolean): Point3[] {
  const [x, y] = lotOf({ column, row });
  const spots: readonly (readonly [number, number])[] = isBuilt ? [[0, 0.15], [3.45, 0.3], [3.4, 3.3], [3.45, 1.4]] : [[0.5, 0.6], [2.6, 0.9], [1.4, 2.2], [3.1, 2.6], [0.4, 2.9]];
  const bits = hash(column * 7919 + row * 104_729 + 17);
  return spots.filter((_, index) => ((bits >> (index * 2)) & 3) < (isBuilt ? 2 : 3)).map(([dx, dy], index) => {
    const jitter = ((bits >> (8 + index * 3)) & 7) / 40;
    return [x + dx + jitter, y + dy - jitter, 0];
  });
}

/** Mixes the bits of a number (Murmur3's finalizer). */
function hash(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
