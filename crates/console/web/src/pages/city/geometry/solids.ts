// What buildings are made of: faces of boxes and roofs, listed from the back to the front.

import { isEdgeOn, polygonPath, type Point3, type Projection } from './projection';

/** What a face is painted with. `left` faces +y, `right` faces +x; the roof is in its owner's colour. */
export type Paint = 'left' | 'right' | 'top' | 'roof-left' | 'roof-right' | 'roof-top' | 'window' | 'glass' | 'door' | 'trim' | 'water' | 'site' | 'crane';

export interface Face {
  readonly paint: Paint;
  readonly points: readonly Point3[];
}

export interface BoxOptions {
  readonly paint?: 'wall' | 'roof' | 'trim' | 'site' | 'crane';
}

const PAINTS: Readonly<Record<NonNullable<BoxOptions['paint']>, readonly [left: Paint, right: Paint, top: Paint]>> = {
  wall: ['left', 'right', 'top'], roof: ['roof-left', 'roof-right', 'roof-top'], trim: ['trim', 'right', 'top'], site: ['site', 'site', 'site'], crane: ['crane', 'crane', 'crane'],
};

/** A box at a corner, with its width along x, depth along y and height. */
export function box([x, y, z]: Point3, [w, d, h]: Point3, { paint = 'wall' }: BoxOptions = {}): Face[] {
  const [left, right, top] = PAINTS[paint];
  return [
    { paint: left, points: [[x, y + d, z], [x + w, y + d, z], [x + w, y + d, z + h], [x, y + d, z + h]] },
    { paint: right, points: [[x + w, y, z], [x + w, y + d, z], [x + w, y + d, z + h], [x + w, y, z + h]] },
    { paint: top, points: [[x, y, z + h], [x + w, y, z + h], [x + w, y + d, z + h], [x, y + d, z + h]] },
  ];
}

/** A roof with its ridge along x. */
export function gable([x, y, z]: Point3, [w, d, h]: Point3): Face[] {
  const back: Point3 = [x, y + d / 2, z + h];
  const front: Point3 = [x + w, y + d / 2, z + h];
  return [
    { paint: 'roof-top', points: [[x, y, z], [x + w, y, z], front, back] },
    { paint: 'right', points: [[x + w, y, z], [x + w, y + d, z], front] },
    { paint: 'roof-left', points: [[x, y + d, z], [x + w, y + d, z], front, back] },
  ];
}

/** Share of a gable that the edge of its roof takes at each side: what one sees of the roof's colour from the front. */
const BARGE = 0.13;

/** A roof with its ridge along y: its gable is over the front. */
export function frontGable([x, y, z]: Point3, [w, d, h]: Point3): Face[] {
  const back: Point3 = [x + w / 2, y, z + h];
  const front: Point3 = [x + w / 2, y + d, z + h];
  return [
    { paint: 'roof-top', points: [[x, y, z], back, front, [x, y + d, z]] },
    { paint: 'roof-left', points: [[x, y + d, z], [x + w, y + d, z], front] },
    { paint: 'left', points: [[x + w * BARGE, y + d, z], [x + w * (1 - BARGE), y + d, z], [x + w / 2, y + d, z + h * (1 - 2 * BARGE)]] },
    { paint: 'roof-right', points: [[x + w, y, z], [x + w, y + d, z], front, back] },
  ];
}

/** A roof that ends in a point. */
export function spire([x, y, z]: Point3, [w, d, h]: Point3): Face[] {
  const top: Point3 = [x + w / 2, y + d / 2, z + h];
  return [
    { paint: 'roof-left', points: [[x, y + d, z], [x + w, y + d, z], top] },
    { paint: 'roof-right', points: [[x + w, y, z], [x + w, y + d, z], top] },
  ];
}

/** A round wall, as a prism. */
export function drum([x, y, z]: Point3, radius: number, height: number, cover: Paint): Face[] {
  const sides = 12;
  const corner = (index: number, up: number): Point3 => {
    const angle = (index / sides) * 2 * Math.PI;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle), up];
  };
  const walls: Face[] = [];
  // From the side that faces right to the one that faces left; the others are behind.
  for (let index = -2; index < 5; index += 1) {
    walls.push({ paint: index < 1 ? 'right' : 'left', points: [corner(index, z), corner(index + 1, z), corner(index + 1, z + height), corner(index, z + height)] });
  }
  const ring = Array.from({ length: sides }, (_, index) => corner(index, z + height));
  return [...walls, { paint: cover, points: ring }];
}

/** A rectangle on the wall that faces left (at depth `y`) or right (at `x`), between two heights. */
export function onLeft(paint: Paint, y: number, from: number, to: number, low: number, high: number): Face {
  return { paint, points: [[from, y, low], [to, y, low], [to, y, high], [from, y, high]] };
}

export function onRight(paint: Paint, x: number, from: number, to: number, low: number, high: number): Face {
  return { paint, points: [[x, from, low], [x, to, low], [x, to, high], [x, from, high]] };
}

interface Grid {
  readonly rows: number;
  readonly columns: number;
  /** Columns on the right wall. */
  readonly across: number;
  /** Share of a column that a window takes. */
  readonly share?: number;
}

/** Windows on both visible walls of a box, in rows and columns. */
export function windows([x, y, z]: Point3, [w, d, h]: Point3, { rows, columns, across, share = 0.46 }: Grid): Face[] {
  const story = h / rows;
  const faces: Face[] = [];
  for (let row = 0; row < rows; row += 1) {
    const low = z + row * story + story * 0.32;
    const high = low + Math.min(0.55, story * 0.46);
    for (const [start, step] of spans(x, w, columns, share)) faces.push(onLeft('window', y + d, start, step, low, high));
    for (const [start, step] of spans(y, d, across, share)) faces.push(onRight('window', x + w, start, step, low, high));
  }
  return faces;
}

function spans(from: number, length: number, count: number, share: number): [number, number][] {
  const step = length / count;
  return Array.from({ length: count }, (_, index) => {
    const start = from + index * step + (step * (1 - share)) / 2;
    return [start, start + step * share];
  });
}

/** Moves faces. */
export function moved(faces: readonly Face[], [dx, dy, dz]: Point3): Face[] {
  return faces.map(({ paint, points }) => ({ paint, points: points.map(([x, y, z]) => [x + dx, y + dy, z + dz] as const) }));
}

export interface PaintedPath {
  readonly paint: Paint;
  readonly d: string;
}

/** Returns what to draw for faces. Neighbours with one paint become one path, which keeps a town of hundreds fast. */
export function pathsOf(faces: readonly Face[], projection: Projection): PaintedPath[] {
  const paths: { paint: Paint; d: string }[] = [];
  for (const { paint, points } of faces) {
    const projected = points.map(projection);
    if (isEdgeOn(projected)) continue;
    const last = paths.at(-1);
    if (last?.paint === paint) last.d += polygonPath(projected);
    else paths.push({ paint, d: polygonPath(projected) });
  }
  return paths;
}
