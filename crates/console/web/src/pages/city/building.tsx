// One building of the town.

import { useMemo } from 'preact/hooks';
import { LampView } from './art';
import type { Fact } from './facts';
import { buildingOf, type BuildingKind } from './geometry/buildings';
import { isometric, polygonPath, type Projection } from './geometry/projection';
import type { Cell } from './geometry/plots';
import { moved, pathsOf, type PaintedPath } from './geometry/solids';
import { corners, lotOf } from './geometry/town';
import type { Standing } from './plan';

const painted = new Map<string, readonly PaintedPath[]>();

/** Returns what to draw for a kind of building, in coordinates of its lot. */
export function pathsOfKind(kind: BuildingKind, hasCrane: boolean, projection: Projection): readonly PaintedPath[] {
  const name = `${kind} ${hasCrane} ${projection.name}`;
  const known = painted.get(name);
  if (known) return known;
  const paths = pathsOf(buildingOf(kind, hasCrane).faces, projection);
  painted.set(name, paths);
  return paths;
}

/** Returns what to draw for a building where it stands. Moving each by a transformation would cost the browser more than these paths. */
function pathsAt({ kind, hasCrane, cell }: Standing): readonly PaintedPath[] {
  return pathsOf(moved(buildingOf(kind, hasCrane).faces, lotOf(cell)), isometric);
}

/** Returns the classes that colour and light a building. */
export function buildingClass(fact: Fact, isLit: boolean): string {
  const isPaused = fact.type === 'app' && fact.state === 'paused';
  return `${fact.color === null ? '' : `person-${fact.color}`} ${isLit ? 'is-lit' : ''} ${isPaused ? 'is-paused' : ''}`;
}

/** The ground of a lot, on which a building is pointed at. */
function lotPath(cell: Cell): string {
  const [x, y] = lotOf(cell);
  return polygonPath(corners({ x: x - 0.15, y: y - 0.1, w: 3.85, d: 3.7 }).map(isometric));
}

interface BuildingProps {
  readonly standing: Standing;
  readonly href: string;
  readonly label: string;
  readonly isLit: boolean;
  /** Whether Tab leads to it. */
  readonly isCurrent: boolean;
}

export function BuildingView({ standing, href, label, isLit, isCurrent }: BuildingProps) {
  const { fact, kind, hasCrane, cell } = standing;
  const shape = useMemo(() => (
    <>
      <path class="city-lot" d={lotPath(cell)} />
      {pathsAt(standing).map(({ paint, d }, index) => <path key={index} class={`city-${paint}`} d={d} />)}
    </>
  ), [kind, hasCrane, cell.column, cell.row]);
  return <a class={`city-building ${buildingClass(fact, isLit)}`} href={href} aria-label={label} tabIndex={isCurrent ? 0 : -1} data-id={fact.id}>{shape}</a>;
}

/** The lamp of a building. All lamps are over all buildings, so that none is hidden. */
export function Lamp({ standing: { lamp, building, origin } }: { standing: Standing }) {
  if (lamp === null) return null;
  const [x, y] = isometric(building.lamp);
  return <g transform={`translate(${origin[0] + x} ${origin[1] + y})`}><LampView {...lamp} /></g>;
}
