// Where names are written: on free ground, never on a building, a trigger, or another name.

import { boundsOf, type Bounds, type Point } from './projection';

/** Something that a name may not lie on: a convex polygon. */
export type Obstacle = readonly Point[];

export interface LabelRequest {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  /** Centres at which it may be written, best first. */
  readonly places: readonly Point[];
}

const CELL = 160;

interface Entry {
  readonly obstacle: Obstacle;
  readonly bounds: Bounds;
}

/** What names may not lie on, by the squares of a grid. */
export class ObstacleIndex {
  private readonly squares = new Map<string, Entry[]>();

  constructor(obstacles: readonly Obstacle[] = []) {
    for (const obstacle of obstacles) this.add(obstacle);
  }

  add(obstacle: Obstacle): void {
    const entry = { obstacle, bounds: boundsOf(obstacle) };
    for (const name of squaresOf(entry.bounds)) {
      const list = this.squares.get(name);
      if (list) list.push(entry);
      else this.squares.set(name, [entry]);
    }
  }

  touches(bounds: Bounds): boolean {
    const rectangle = cornersOf(bounds);
    // Most of what is in a square is beside the name, which the bounds tell at once.
    return squaresOf(bounds).some((name) => this.squares.get(name)?.some((entry) => boundsOverlap(bounds, entry.bounds) && overlap(rectangle, entry.obstacle)) ?? false);
  }
}

function boundsOverlap(a: Bounds, b: Bounds): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

function squaresOf({ left, top, right, bottom }: Bounds): string[] {
  const names: string[] = [];
  for (let x = Math.floor(left / CELL); x <= Math.floor(right / CELL); x += 1) {
    for (let y = Math.floor(top / CELL); y <= Math.floor(bottom / CELL); y += 1) names.push(`${x} ${y}`);
  }
  return names;
}

export function cornersOf({ left, top, right, bottom }: Bounds): Point[] {
  return [[left, top], [right, top], [right, bottom], [left, bottom]];
}

/** Whether two convex polygons overlap: no line along an edge of either separates them. */
export function overlap(a: Obstacle, b: Obstacle): boolean {
  return !isSeparated(a, b) && !isSeparated(b, a);
}

function isSeparated(a: Obstacle, b: Obstacle): boolean {
  return a.some((from, index) => {
    const to = a[(index + 1) % a.length] as Point;
    const normal: Point = [to[1] - from[1], from[0] - to[0]];
    const along = (points: Obstacle) => points.map(([x, y]) => x * normal[0] + y * normal[1]);
    const [own, other] = [along(a), along(b)];
    return Math.max(...own) <= Math.min(...other) || Math.max(...other) <= Math.min(...own);
  });
}

function around([x, y]: Point, { width, height }: LabelRequest): Bounds {
  return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
}

/**
 * Returns the centre of each name that has a place outside of what `indexes` hold, in the order of the requests: who comes first is
 * served first. A name that is placed goes into the first index; one without a place is not written.
 */
export function placeLabels(requests: readonly LabelRequest[], indexes: readonly [ObstacleIndex, ...ObstacleIndex[]]): Map<string, Point> {
  const placed = new Map<string, Point>();
  for (const request of requests) {
    const centre = request.places.find((place) => !indexes.some((index) => index.touches(around(place, request))));
    if (centre === undefined) continue;
    placed.set(request.id, centre);
    indexes[0].add(cornersOf(around(centre, request)));
  }
  return placed;
}
