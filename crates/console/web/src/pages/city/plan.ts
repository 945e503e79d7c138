// The town as it is drawn: who stands where, in which order it is painted, and how far it reaches.

import { lampOf, LIBRARY_TABLES, type CityFacts, type Fact, type GateFact, type Lamp } from './facts';
import { buildingOf, kindOf, type Building, type BuildingKind } from './geometry/buildings';
import { assignPlots, cellOf, extentOf, type Cell, type Extent } from './geometry/plots';
import { boundsOf, isometric, UNIT, type Bounds, type Point, type Point3 } from './geometry/projection';
import { corners, gateLabelAt, gatePlace, gateRoom, groundOf, lotOf, postAt, treesOf, type GatePlace } from './geometry/town';

/** Buildings that are drawn. The tables have the others. */
export const MAX_BUILDINGS = 500;

export interface Standing {
  readonly fact: Fact;
  readonly cell: Cell;
  readonly kind: BuildingKind;
  readonly hasCrane: boolean;
  readonly building: Building;
  readonly lamp: Lamp | null;
  /** Corner of its lot on the drawing. */
  readonly origin: Point;
  /** Middle of its front wall on the drawing. */
  readonly middle: Point;
}

export interface PlacedGate {
  readonly fact: GateFact;
  readonly place: GatePlace;
}

/** What is painted over the ground, from the back to the front. */
export type Item =
  | { readonly type: 'building'; readonly standing: Standing }
  | { readonly type: 'post'; readonly at: Point; readonly kind: PostKind; readonly isOff: boolean; readonly key: string }
  | { readonly type: 'tree'; readonly at: Point; readonly key: string };

export type PostKind = 'webhook' | 'schedule' | 'form' | 'manual' | 'event';

export interface Plan {
  readonly extent: Extent;
  readonly standing: readonly Standing[];
  readonly items: readonly Item[];
  readonly gates: readonly PlacedGate[];
  /** Gates for which the walls have no room. */
  readonly gatesLeft: number;
  readonly bounds: Bounds;
  readonly plots: ReadonlyMap<string, number>;
}

export function kindOfFact(fact: Fact): BuildingKind {
  if (fact.type === 'project') return fact.tables >= LIBRARY_TABLES ? 'library' : 'well';
  return fact.state === 'draft' ? 'site' : kindOf(fact.archetype);
}

function standingOf(fact: Fact, cell: Cell): Standing {
  const kind = kindOfFact(fact);
  const hasCrane = fact.type === 'app' && fact.state === 'building';
  const [x, y] = lotOf(cell);
  return {
    fact, cell, kind, hasCrane, building: buildingOf(kind, hasCrane), lamp: fact.type === 'app' ? lampOf(fact) : null,
    origin: isometric([x, y, 0]), middle: isometric([x + 1.8, y + 1.6, 0.5]),
  };
}

/** Plans the town. Who had a plot in `before` keeps it. */
export function planTown({ apps, projects, gates }: CityFacts, before: ReadonlyMap<string, number>): Plan {
  const facts: readonly Fact[] = [...apps, ...projects];
  const plots = assignPlots(facts, before);
  const drawn = facts.filter(({ id }) => (plots.get(id) ?? 0) < MAX_BUILDINGS);
  const standing = drawn.map((fact) => standingOf(fact, cellOf(plots.get(fact.id) ?? 0)));
  const extent = extentOf(Math.max(0, ...drawn.map(({ id }) => (plots.get(id) ?? 0) + 1)));
  const room = gateRoom(extent);
  const placed = gates.slice(0, room).map((fact, index) => ({ fact, place: gatePlace(index, extent) }));
  return { extent, standing, items: itemsOf(standing, extent), gates: placed, gatesLeft: Math.max(0, gates.length - room), bounds: townBounds(extent, standing, placed), plots };
}

function itemsOf(standing: readonly Standing[], extent: Extent): Item[] {
  const items: { depth: number; item: Item }[] = [];
  const at = ([x, y]: Point3, item: Item) => items.push({ depth: x + y, item });
  const built = new Set(standing.map(({ cell }) => `${cell.column} ${cell.row}`));
  for (const one of standing) {
    const [x, y] = lotOf(one.cell);
    at([x + 1.8, y + 1.6, 0], { type: 'building', standing: one });
    if (one.fact.type === 'app') {
      one.fact.triggers.forEach(({ kind, isOff }, index) => {
        const place = postAt(one.cell, index);
        at(place, { type: 'post', at: isometric(place), kind, isOff, key: `${one.fact.id} ${kind}` });
      });
    }
  }
  for (let column = 0; column < extent.columns; column += 1) {
    for (let row = 0; row < extent.rows; row += 1) {
      treesOf({ column, row }, built.has(`${column} ${row}`)).forEach((tree, index) => at(tree, { type: 'tree', at: isometric(tree), key: `tree ${column} ${row} ${index}` }));
    }
  }
  return items.sort((a, b) => a.depth - b.depth).map(({ item }) => item);
}

const GATE_NAME_WIDTH = 150;
const LAMP_ROOM = 24;

function townBounds(extent: Extent, standing: readonly Standing[], gates: readonly PlacedGate[]): Bounds {
  const ground = corners(groundOf(extent)).map(isometric);
  const tops = standing.map(({ origin: [x, y], building }): Point => [x, y - building.height * UNIT - LAMP_ROOM]);
  const names = gates.flatMap(({ place }): Point[] => {
    const [x, y] = isometric(gateLabelAt(place));
    return [[x, y - 10], [x + (place.side === 'west' ? -GATE_NAME_WIDTH : GATE_NAME_WIDTH), y + 10]];
  });
  return boundsOf([...ground, ...tops, ...names]);
}
