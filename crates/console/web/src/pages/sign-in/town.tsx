// What Qala is, as a picture: a small town in which somebody works.

import { Tree } from '../city/art';
import { buildingOf, type BuildingKind } from '../city/geometry/buildings';
import { isometric, polygonPath } from '../city/geometry/projection';
import { moved, pathsOf } from '../city/geometry/solids';
import { corners, lotOf } from '../city/geometry/town';

/** The buildings, the far ones first. */
const LOTS: readonly { readonly kind: BuildingKind; readonly color: string; readonly column: number; readonly row: number; readonly isLit?: boolean }[] = [
  { kind: 'tower', color: 'tangerine', column: 0, row: 0, isLit: true }, { kind: 'kiosk', color: 'sky', column: 1, row: 0 },
  { kind: 'house', color: 'leaf', column: 0, row: 1 }, { kind: 'well', color: 'lilac', column: 1, row: 1 },
];
const ground = (x: number, y: number, w: number, d: number) => polygonPath(corners({ x, y, w, d }).map(isometric));

export function TownPicture() {
  const [side] = lotOf({ column: 2, row: 0 });
  return (
    <svg class="sign-in-town" viewBox="-400 -110 800 530" aria-hidden="true">
      <path class="city-ground" d={ground(-1, -1, side + 1, side + 1)} />
      {[0, 1].map((index) => <path key={index} class="city-street" d={ground(-1, 3.7 + (index * side) / 2, side + 1, 0.9)} />)}
      {[0, 1].map((index) => <path key={index} class="city-street" d={ground(3.9 + (index * side) / 2, -1, 0.9, side + 1)} />)}
      {LOTS.map(({ kind, color, column, row, isLit = false }) => (
        <g key={kind} class={`person-${color} ${isLit ? 'is-lit' : ''}`}>
          {pathsOf(moved(buildingOf(kind, false).faces, lotOf({ column, row })), isometric).map(({ paint, d }, index) => <path key={index} class={`city-${paint}`} d={d} />)}
        </g>
      ))}
      <Tree at={isometric([-0.4, 3, 0])} />
    </svg>
  );
}
