// What lies on the ground, the wall, and its gates.

import { useMemo } from 'preact/hooks';
import { t } from './messages';
import { isometric, linePath, polygonPath, type Point3 } from './geometry/projection';
import { pathsOf } from './geometry/solids';
import { corners, gateFaces, gateLamp, gateRoad, groundOf, pathsOnLot, roadToDoor, roadToGate, streetsOf, wallOf, type Area } from './geometry/town';
import { LampView } from './art';
import { MAX_COUNT } from './facts';
import type { Plan, Standing } from './plan';

const areas = (list: readonly Area[]) => list.map((area) => polygonPath(corners(area).map(isometric))).join('');

export function Ground({ plan }: { plan: Plan }) {
  const { ground, streets, paths, wall } = useMemo(() => ({
    ground: areas([groundOf(plan.extent)]),
    streets: areas([...streetsOf(plan.extent), ...plan.gates.map(({ place }) => gateRoad(place))]),
    paths: areas(plan.standing.flatMap(({ cell, fact }) => pathsOnLot(cell, fact.type === 'app' ? fact.triggers.length : 0))),
    wall: pathsOf(wallOf(plan.extent, plan.gates.map(({ place }) => place)), isometric),
  }), [plan]);
  return (
    <g>
      <path class="city-ground" d={ground} /><path class="city-street" d={streets} /><path class="city-street" d={paths} />
      {wall.map(({ paint, d }, index) => <path key={index} class={`city-${paint}`} d={d} />)}
    </g>
  );
}

export function Gates({ plan, ws }: { plan: Plan; ws: string }) {
  return (
    <g>
      {plan.gates.map(({ fact, place }) => {
        const label = fact.isClosed ? t('gateClosedTo', { host: fact.host }) : t('gateOpenTo', { host: fact.host });
        return (
          <a key={fact.id} class={`city-gate ${fact.isClosed ? 'is-closed' : ''}`} href={`/w/${ws}/gates/${fact.id}`} aria-label={label} tabIndex={-1} data-id={fact.id}>
            {pathsOf(gateFaces(place, fact.isClosed), isometric).map(({ paint, d }, index) => <path key={index} class={`city-${paint}`} d={d} />)}
          </a>
        );
      })}
    </g>
  );
}

/** Lamps over gates that refused requests in the last day. */
export function GateLamps({ plan }: { plan: Plan }) {
  return (
    <>
      {plan.gates.filter(({ fact }) => fact.refused > 0).map(({ fact, place }) => {
        const [x, y] = isometric(gateLamp(place));
        return <g key={fact.id} transform={`translate(${x} ${y})`}><LampView tone="warn" text={fact.refused > MAX_COUNT ? `${MAX_COUNT}+` : String(fact.refused)} /></g>;
      })}
    </>
  );
}

/** The roads of the building that somebody points at: from what starts it, and to the hosts that it may reach. */
export function Roads({ plan, standing }: { plan: Plan; standing: Standing }) {
  const { fact, cell } = standing;
  if (fact.type !== 'app') return null;
  const path = (points: readonly Point3[]) => linePath(points.map(isometric));
  const out = plan.gates.filter((gate) => fact.gates.some(({ id }) => id === gate.fact.id));
  return (
    <g class="city-roads">
      {out.map(({ fact: gate, place }) => <path key={gate.id} class="city-road-out" d={path(roadToGate(cell, place))} />)}
      {fact.triggers.map(({ kind }, index) => <path key={kind} class="city-road-in" d={path(roadToDoor(cell, index))} />)}
    </g>
  );
}
