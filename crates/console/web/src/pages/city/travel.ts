// Runs that travel their road, as dots over the drawing.
//
// They are drawn on one canvas. An element for each would be a layer for each, and the browser would sort the layers of the whole
// town anew whenever a run begins or ends.

import { Traffic } from './geometry/traffic';
import type { Point } from './geometry/projection';
import { pointAlong, roadOf, type Road } from './geometry/road';

/** Milliseconds that a run is under way, and for each pixel of its road. */
export const TRAVEL = { shortest: 900, longest: 2_600, perPixel: 7 };
const RADIUS = 4.5;

interface Traveller {
  readonly road: Road;
  readonly start: number;
  readonly duration: number;
}

/** Where a point of a road is on the canvas now. */
export type Place = (point: Point) => Point;

/** Whether dots may move: not for people who asked for less motion, and not in a page that nobody sees. */
export function mayMove(): boolean {
  return !document.hidden && !matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** Begins slowly and ends slowly. */
function eased(share: number): number {
  return share < 0.5 ? 2 * share * share : 1 - (2 - 2 * share) ** 2 / 2;
}

export class Travellers {
  private readonly traffic = new Traffic();
  private list: Traveller[] = [];
  private frame = 0;

  constructor(private readonly canvas: () => HTMLCanvasElement | null, private readonly place: Place) {}

  /** Lets a dot travel over these points, unless too many do. */
  send(points: readonly Point[]): void {
    const now = performance.now();
    if (!mayMove() || !this.traffic.admit(now)) return;
    const road = roadOf(points);
    this.list.push({ road, start: now, duration: Math.min(TRAVEL.longest, Math.max(TRAVEL.shortest, road.length * TRAVEL.perPixel)) });
    this.frame ||= requestAnimationFrame((time) => this.draw(time));
  }

  /** Number of runs of the last second that no dot was shown for. */
  heldBack(): number {
    return this.traffic.heldBack(performance.now());
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    this.list = [];
  }

  private draw(now: number): void {
    const canvas = this.canvas();
    const context = canvas?.getContext('2d');
    this.list = this.list.filter(({ start, duration }) => now < start + duration);
    this.frame = canvas && this.list.length > 0 ? requestAnimationFrame((time) => this.draw(time)) : 0;
    if (!canvas || !context) return;
    const density = sized(canvas);
    const { color, outlineColor } = getComputedStyle(canvas);
    context.setTransform(density, 0, 0, density, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.fillStyle = color;
    context.strokeStyle = outlineColor;
    context.lineWidth = 1.5;
    for (const { road, start, duration } of this.list) {
      const [x, y] = this.place(pointAlong(road, eased(Math.max(0, now - start) / duration)));
      context.beginPath();
      context.arc(x, y, RADIUS, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    }
  }
}

/** Gives the canvas as many pixels as it covers, and returns how many of them are one of the page's. */
function sized(canvas: HTMLCanvasElement): number {
  const density = Math.min(2, window.devicePixelRatio || 1);
  const [width, height] = [Math.round(canvas.clientWidth * density), Math.round(canvas.clientHeight * density)];
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  return density;
}
