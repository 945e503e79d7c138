// The buildings by archetype. Each stands with its front at y = FRONT and its door on the line x = DOOR of its lot.

import type { Point3 } from './projection';
import { box, drum, frontGable, gable, moved, onLeft, onRight, spire, windows, type Face } from './solids';

/** Kinds of buildings. The API's archetypes are an open set; what is not known here is a house. */
export const ARCHETYPES = ['kiosk', 'tower', 'warehouse', 'workshop', 'bank', 'townhall', 'clocktower', 'printhouse'] as const;
export type Archetype = (typeof ARCHETYPES)[number];
export type BuildingKind = Archetype | 'house' | 'well' | 'library' | 'site';

/** Line of a lot on which the fronts stand. */
export const FRONT = 2.6;
/** Line of a lot on which the doors are. */
export const DOOR = 1.8;

export interface Building {
  readonly faces: readonly Face[];
  /** Where its lamp hangs. */
  readonly lamp: Point3;
  readonly height: number;
}

interface Draft {
  /** Extent along x and y. */
  readonly size: readonly [width: number, depth: number];
  readonly faces: readonly Face[];
  readonly lamp: Point3;
}

export function kindOf(archetype: string): BuildingKind {
  return ARCHETYPES.find((known) => known === archetype) ?? 'house';
}

const door = (x: number, y: number, height = 0.55): Face => onLeft('door', y, x - 0.16, x + 0.16, 0, height);

function kiosk(): Draft {
  const [w, d] = [1.6, 1.4];
  return {
    size: [w, d], lamp: [w / 2, d / 2, 1.55],
    faces: [
      ...box([0, 0, 0], [w, d, 0.95]), onLeft('window', d, 0.5, w - 0.2, 0.42, 0.8), onRight('window', w, 0.25, d - 0.25, 0.42, 0.8), onLeft('door', d, 0.14, 0.4, 0, 0.6),
      ...box([-0.18, -0.18, 0.95], [w + 0.36, d + 0.36, 0.16], { paint: 'roof' }), ...box([w / 2 - 0.25, d / 2 - 0.2, 1.11], [0.5, 0.4, 0.2], { paint: 'roof' }),
    ],
  };
}

function tower(): Draft {
  const [w, d, h] = [1.6, 1.6, 2.7];
  return {
    size: [w, d], lamp: [w / 2, d / 2, 3.5],
    faces: [
      ...box([0, 0, 0], [w, d, h]), ...windows([0, 0, 0.35], [w, d, h - 0.4], { rows: 4, columns: 3, across: 3 }), door(w / 2, d, 0.42),
      ...box([0.18, 0.18, h], [w - 0.36, d - 0.36, 0.36], { paint: 'roof' }), ...box([0.55, 0.5, h + 0.36], [0.1, 0.1, 0.5], { paint: 'trim' }),
    ],
  };
}

function warehouse(): Draft {
  const [w, d, h] = [2.9, 2, 1.05];
  return {
    size: [w, d], lamp: [w - 0.5, d / 2, 1.8],
    faces: [
      ...box([0, 0, 0], [w, d, h]), ...windows([0, 0, 0.3], [w, d, h - 0.3], { rows: 1, columns: 3, across: 2, share: 0.36 }), onLeft('door', d, w / 2 - 0.34, w / 2 + 0.34, 0, 0.7),
      ...[0, 1, 2].flatMap((bay) => frontGable([(bay * w) / 3, 0, h], [w / 3, d, 0.42])),
    ],
  };
}

function workshop(): Draft {
  const [w, d, h] = [2.3, 1.8, 1];
  return {
    size: [w, d], lamp: [w - 0.4, d / 2, 1.95],
    faces: [
      ...box([0, 0, 0], [w, d, h]), ...windows([0, 0, 0.1], [w, d, h - 0.1], { rows: 1, columns: 4, across: 2 }), door(w / 2, d),
      ...box([0.35, 0.3, h], [0.3, 0.3, 1.05]), ...gable([-0.08, -0.08, h], [w + 0.16, d + 0.16, 0.68]),
    ],
  };
}

function bank(): Draft {
  const [w, d] = [2.5, 2];
  const columns = [0, 1, 2, 3, 4].map((index) => 0.24 + index * 0.47);
  return {
    size: [w, d], lamp: [w / 2, d / 2, 2.15],
    faces: [
      ...box([0, 0, 0], [w, d, 0.14], { paint: 'trim' }), ...box([0.12, 0.1, 0.14], [w - 0.24, d - 0.3, 1.1]), ...windows([0.12, 0.1, 0.2], [w - 0.24, d - 0.3, 1], { rows: 1, columns: 4, across: 3, share: 0.4 }), door(w / 2, d - 0.2, 0.75),
      ...columns.flatMap((x) => box([x, d - 0.2, 0.14], [0.13, 0.13, 1.1], { paint: 'trim' })), ...box([0, 0, 1.24], [w, d, 0.13], { paint: 'trim' }), ...frontGable([0, 0, 1.37], [w, d, 0.52]),
    ],
  };
}

function townhall(): Draft {
  const [w, d, h] = [2.7, 1.7, 1.25];
  return {
    size: [w, d], lamp: [w / 2, d / 2, 2.85],
    faces: [
      ...box([0, 0, 0], [w, d, h]), ...windows([0, 0, 0], [w, d, h], { rows: 2, columns: 5, across: 3 }), onLeft('door', d, w / 2 - 0.2, w / 2 + 0.2, 0, 0.5),
      ...box([-0.08, -0.08, h], [w + 0.16, d + 0.16, 0.14], { paint: 'roof' }), ...box([w / 2 - 0.38, d / 2 - 0.35, h + 0.14], [0.76, 0.7, 0.6]),
      ...windows([w / 2 - 0.38, d / 2 - 0.35, h + 0.14], [0.76, 0.7, 0.6], { rows: 1, columns: 2, across: 2 }), ...spire([w / 2 - 0.46, d / 2 - 0.43, h + 0.74], [0.92, 0.86, 0.62]),
    ],
  };
}

function clockFace(x: number, y: number, z: number, radius: number): Face[] {
  const ring = Array.from({ length: 16 }, (_, index): Point3 => [x + radius * Math.cos((index / 8) * Math.PI), y, z + radius * Math.sin((index / 8) * Math.PI)]);
  const hand = (dx: number, dz: number): Face => ({ paint: 'door', points: [[x - 0.03, y, z], [x + 0.03, y, z], [x + dx + 0.03, y, z + dz], [x + dx - 0.03, y, z + dz]] });
  return [{ paint: 'glass', points: ring }, hand(0, radius * 0.75), { paint: 'door', points: [[x, y, z - 0.03], [x, y, z + 0.03], [x + radius * 0.6, y, z + 0.1], [x + radius * 0.6, y, z + 0.04]] }];
}

function clocktower(): Draft {
  const [w, d, h] = [1.25, 1.25, 2.35];
  return {
    size: [2.3, 1.6], lamp: [0.62, 0.8, 3.35],
    faces: [
      ...box([0, 0.2, 0], [w, d, h]), ...windows([0, 0.2, 0.35], [w, d, 1.2], { rows: 2, columns: 2, across: 2 }), ...clockFace(w / 2, d + 0.2, 1.92, 0.3), ...spire([-0.1, 0.1, h], [w + 0.2, d + 0.2, 0.85]),
      ...box([w, 0.45, 0], [1.05, 1, 0.75]), ...windows([w, 0.45, 0], [1.05, 1, 0.75], { rows: 1, columns: 2, across: 2 }), ...box([w, 0.38, 0.75], [1.12, 1.14, 0.12], { paint: 'roof' }), door(w / 2 + 0.53 - 0.1, d + 0.2, 0.42),
    ],
  };
}

function printhouse(): Draft {
  const [w, d, h] = [2.6, 1.8, 0.9];
  const skylight = (x: number): Face[] => [
    ...box([x, 0.45, h + 0.14], [0.62, 0.9, 0.08]), { paint: 'window', points: [[x, 1.35, h + 0.22], [x + 0.62, 1.35, h + 0.22], [x + 0.62, 0.9, h + 0.55], [x, 0.9, h + 0.55]] },
    { paint: 'right', points: [[x + 0.62, 0.45, h + 0.22], [x + 0.62, 1.35, h + 0.22], [x + 0.62, 0.9, h + 0.55]] },
  ];
  return {
    size: [w, d], lamp: [w - 0.3, d / 2, 1.7],
    faces: [
      ...box([0, 0, 0], [w, d, h]), ...windows([0, 0, 0.05], [w, d, h], { rows: 1, columns: 5, across: 3, share: 0.6 }), door(w / 2, d, 0.5),
      ...box([-0.08, -0.08, h], [w + 0.16, d + 0.16, 0.14], { paint: 'roof' }), ...[0.3, 1.05, 1.8].flatMap(skylight),
    ],
  };
}

function house(): Draft {
  const [w, d, h] = [1.7, 1.9, 0.95];
  return {
    size: [w, d], lamp: [w / 2, d / 2, 2.05],
    faces: [
      ...box([0, 0, 0], [w, d, h]), ...windows([0, 0, 0.1], [w, d, h - 0.1], { rows: 1, columns: 3, across: 3 }), door(w / 2, d, 0.5),
      ...frontGable([-0.1, -0.06, h], [w + 0.2, d + 0.12, 0.85]), onLeft('window', d + 0.06, w / 2 - 0.15, w / 2 + 0.15, h + 0.18, h + 0.44),
    ],
  };
}

/** A project with few tables. */
function well(): Draft {
  return {
    size: [1.5, 1.5], lamp: [0.75, 0.75, 1.75],
    faces: [
      ...drum([0.75, 0.75, 0], 0.62, 0.42, 'trim'), { paint: 'water', points: Array.from({ length: 12 }, (_, index): Point3 => [0.75 + 0.45 * Math.cos((index / 6) * Math.PI), 0.75 + 0.45 * Math.sin((index / 6) * Math.PI), 0.42]) },
      ...box([0.18, 0.69, 0.3], [0.1, 0.12, 0.75], { paint: 'trim' }), ...box([1.22, 0.69, 0.3], [0.1, 0.12, 0.75], { paint: 'trim' }), ...gable([0.02, 0.25, 1], [1.46, 1, 0.42]),
    ],
  };
}

/** A project with many tables. */
function library(): Draft {
  const [w, d] = [2.6, 1.8];
  const shelves = Array.from({ length: 9 }, (_, index) => 0.2 + index * 0.25).filter((x) => Math.abs(x + 0.06 - w / 2) > 0.2);
  return {
    size: [w, d], lamp: [w - 0.3, d / 2, 1.75],
    faces: [
      ...box([0, 0, 0], [w, d, 0.1], { paint: 'trim' }), ...box([0.08, 0.08, 0.1], [w - 0.16, d - 0.16, 1]), ...shelves.map((x) => onLeft('window', d - 0.08, x, x + 0.13, 0.3, 0.95)),
      ...[0.3, 0.58, 0.86, 1.14, 1.42].map((y) => onRight('window', w - 0.08, y - 0.07, y + 0.07, 0.3, 0.95)), door(w / 2, d - 0.08, 0.6),
      ...box([-0.06, -0.06, 1.1], [w + 0.12, d + 0.12, 0.12], { paint: 'roof' }), ...box([0.5, 0.4, 1.22], [w - 1, d - 0.8, 0.2], { paint: 'roof' }),
    ],
  };
}

/** A lot on which something is being built. */
function site(): Draft {
  const [w, d] = [2.2, 1.8];
  return {
    size: [w, d], lamp: [w / 2, d / 2, 1.2],
    faces: [
      ...box([0, 0, 0], [w, d, 0.12], { paint: 'trim' }), ...box([0.15, 0.15, 0.12], [w - 0.3, d - 0.3, 0.35]),
      ...[0.15, 0.9, 1.85].flatMap((x) => box([x, d - 0.35, 0.12], [0.12, 0.12, 0.75], { paint: 'site' })), ...crane([0.5, 0.45, 0.12]),
    ],
  };
}

/** A crane whose mast stands at a point. */
function crane([x, y, z]: Point3): Face[] {
  const top = z + 2.3;
  return [
    ...box([x, y, z], [0.14, 0.14, 2.6], { paint: 'crane' }), ...box([x - 0.6, y, top], [2.5, 0.12, 0.12], { paint: 'crane' }), ...box([x - 0.6, y - 0.05, top - 0.24], [0.36, 0.22, 0.24], { paint: 'trim' }),
    onLeft('crane', y + 0.06, x + 1.5, x + 1.53, top - 0.9, top), ...box([x + 1.36, y - 0.05, top - 1.12], [0.3, 0.24, 0.22], { paint: 'trim' }),
  ];
}

const DRAFTS: Readonly<Record<BuildingKind, () => Draft>> = { kiosk, tower, warehouse, workshop, bank, townhall, clocktower, printhouse, house, well, library, site };
const built = new Map<string, Building>();

/** Returns the building of a kind, in coordinates of its lot. With a crane while a version of it is being built. */
export function buildingOf(kind: BuildingKind, withCrane = false): Building {
  const name = `${kind} ${withCrane}`;
  const known = built.get(name);
  if (known) return known;
  const { size: [w, d], faces, lamp } = DRAFTS[kind]();
  const offset: Point3 = [DOOR - w / 2, FRONT - d, 0];
  const all = withCrane ? [...crane([-0.1, 0.1, 0]), ...faces] : faces;
  const building = { faces: moved(all, offset), lamp: [lamp[0] + offset[0], lamp[1] + offset[1], lamp[2]] as const, height: Math.max(...all.flatMap(({ points }) => points.map(([, , z]) => z))) };
  built.set(name, building);
  return building;
}
