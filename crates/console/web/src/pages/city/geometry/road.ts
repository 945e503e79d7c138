// Points along a road.

import type { Point } from './projection';

export interface Road {
  readonly points: readonly Point[];
  /** Length up to each point. */
  readonly lengths: readonly number[];
  readonly length: number;
}

export function roadOf(points: readonly Point[]): Road {
  let length = 0;
  const lengths = points.map(([x, y], index) => {
    const before = points[index - 1];
    if (before) length += Math.hypot(x - before[0], y - before[1]);
    return length;
  });
  return { points, lengths, length };
}

/** Returns the point at a share of the length: 0 is the start, 1 the end. */
export function pointAlong({ points, lengths, length }: Road, share: number): Point {
  const gone = Math.min(1, Math.max(0, share)) * length;
  const next = Math.max(1, lengths.findIndex((at) => at >= gone));
  const [from, to] = [points[next - 1], points[next]];
  if (!from || !to) return points[0] ?? [0, 0];
  const [start, end] = [lengths[next - 1] ?? 0, lengths[next] ?? 0];
  const part = end === start ? 0 : (gone - start) / (end - start);
  return [from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part];
}
