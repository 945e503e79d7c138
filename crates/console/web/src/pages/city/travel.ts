// Runs that travel their road, as dots over the drawing.

import { Traffic } from './geometry/traffic';
import type { Point } from './geometry/projection';

const DOT_CLASS = 'city-dot';
const MS_PER_PIXEL = 7;
const SHORTEST = 900;
const LONGEST = 2_600;

export interface Travellers {
  /** Lets a dot travel over these points, unless too many do. */
  send(road: readonly Point[]): void;
  /** Number of runs of the last second that no dot was shown for. */
  heldBack(): number;
}

/** Whether dots may move: not for people who asked for less motion, and not in a page that nobody sees. */
function mayMove(): boolean {
  return !document.hidden && !matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** Returns the frames of an animation along a line, at one speed. */
export function framesAlong(road: readonly Point[]): { readonly frames: Keyframe[]; readonly length: number } {
  const lengths = road.map((point, index) => {
    const before = road[index - 1] ?? point;
    return Math.hypot(point[0] - before[0], point[1] - before[1]);
  });
  const length = lengths.reduce((sum, one) => sum + one, 0);
  let gone = 0;
  const frames = road.map(([x, y], index) => {
    gone += lengths[index] ?? 0;
    return { transform: `translate(${x}px, ${y}px)`, offset: length === 0 ? index / Math.max(1, road.length - 1) : Math.min(1, gone / length) };
  });
  return { frames, length };
}

/** Sends dots over the elements of a layer. */
export function travellersOn(layer: () => Element | null): Travellers {
  const traffic = new Traffic();
  return {
    send(road) {
      if (!mayMove() || !traffic.admit(performance.now())) return;
      const host = layer();
      if (!host) return;
      const dot = document.createElement('span');
      dot.className = DOT_CLASS;
      host.append(dot);
      const { frames, length } = framesAlong(road);
      const animation = dot.animate(frames, { duration: Math.min(LONGEST, Math.max(SHORTEST, length * MS_PER_PIXEL)), easing: 'cubic-bezier(.4, 0, .4, 1)' });
      animation.onfinish = animation.oncancel = () => dot.remove();
    },
    heldBack: () => traffic.heldBack(performance.now()),
  };
}
