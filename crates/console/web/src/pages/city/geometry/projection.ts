// How points of the town come to the screen. The ground is x (to the right front) and y (to the left front); z is up.

/** A point of the town, in units of its ground. */
export type Point3 = readonly [x: number, y: number, z: number];
/** A point of the drawing, in pixels at scale 1. */
export type Point = readonly [x: number, y: number];

export type Projection = (point: Point3) => Point;

/** Pixels of a unit of the ground at scale 1. */
export const UNIT = 40;
const COS_30 = Math.sqrt(3) / 2;

/** Looks from above a corner, without perspective. */
export const isometric: Projection = ([x, y, z]) => [(x - y) * COS_30 * UNIT, ((x + y) / 2 - z) * UNIT];

/** Looks straight at what faces +y. */
export const frontal: Projection = ([x, , z]) => [x * UNIT, -z * UNIT];

export interface Bounds {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Returns the smallest bounds around points; there has to be one. */
export function boundsOf(points: readonly Point[]): Bounds {
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  return { left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) };
}

/** Returns twice the area of a polygon, without its sign. */
function doubleArea(points: readonly Point[]): number {
  let sum = 0;
  points.forEach(([x, y], index) => {
    const [nextX, nextY] = points[(index + 1) % points.length] as Point;
    sum += x * nextY - nextX * y;
  });
  return Math.abs(sum);
}

/** Whether a polygon is seen edge-on, so that there is nothing to draw. */
export function isEdgeOn(points: readonly Point[]): boolean {
  return doubleArea(points) < 1;
}

const round = (value: number) => Math.round(value * 10) / 10;

/** Returns the path data of a polygon. */
export function polygonPath(points: readonly Point[]): string {
  return `M${points.map(([x, y]) => `${round(x)} ${round(y)}`).join('L')}Z`;
}

/** Returns the path data of a line. */
export function linePath(points: readonly Point[]): string {
  return `M${points.map(([x, y]) => `${round(x)} ${round(y)}`).join('L')}`;
}

/** Returns the convex hull of points, counterclockwise on the screen. */
export function convexHull(points: readonly Point[]): Point[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const chain = (ordered: readonly Point[]) => {
    const hull: Point[] = [];
    for (const point of ordered) {
      while (hull.length >= 2 && cross(hull.at(-2) as Point, hull.at(-1) as Point, point) <= 0) hull.pop();
      hull.push(point);
    }
    return hull.slice(0, -1);
  };
  return [...chain(sorted), ...chain(sorted.reverse())];
}

function cross(origin: Point, a: Point, b: Point): number {
  return (a[0] - origin[0]) * (b[1] - origin[1]) - (a[1] - origin[1]) * (b[0] - origin[0]);
}
