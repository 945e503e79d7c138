// Walking from building to building with the arrow keys.

import type { Point } from './projection';

export type Direction = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown';

const AHEAD: Readonly<Record<Direction, Point>> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Distance to the side counts more than distance ahead, so that one keeps the direction. */
const ASIDE_WEIGHT = 2.2;

/** Returns the index of the next place in a direction, or `null` if there is none. */
export function nextInDirection(places: readonly Point[], from: number, direction: Direction): number | null {
  const origin = places[from];
  if (!origin) return null;
  const [ax, ay] = AHEAD[direction];
  let best: { readonly index: number; readonly cost: number } | null = null;
  places.forEach(([x, y], index) => {
    if (index === from) return;
    const [dx, dy] = [x - origin[0], y - origin[1]];
    const ahead = dx * ax + dy * ay;
    const aside = Math.abs(dx * ay) + Math.abs(dy * ax);
    if (ahead <= 1) return;
    const cost = ahead + aside * ASIDE_WEIGHT;
    if (best === null || cost < best.cost) best = { index, cost };
  });
  return (best as { readonly index: number } | null)?.index ?? null;
}
