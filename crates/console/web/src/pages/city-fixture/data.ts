// A town that is made up: `?buildings=500&gates=12&runs=40`, with runs a second.

import type { AppFact, CityFacts, GateFact, ProjectFact, TriggerFact } from '../city/facts';
import { ARCHETYPES } from '../city/geometry/buildings';
import type { KnownRun } from '../city/runs';

const COLORS = ['sky', 'pool', 'bubblegum', 'leaf', 'lilac', 'sun', 'tangerine', 'tomato'] as const;
const STATES = ['healthy', 'healthy', 'healthy', 'warning', 'healthy', 'paused', 'healthy', 'failing', 'building', 'healthy', 'draft'] as const;
const NAMES = ['Invoices', 'Support desk', 'Stock mirror', 'Daily brief', 'Orders API', 'Landing page for the spring campaign', 'Price watcher', 'Notebook', 'Отчёт по складу', 'Ай сайынғы есеп', 'Payroll', 'Refunds'] as const;
const KINDS = ['webhook', 'schedule', 'form', 'manual', 'event'] as const;
const EPOCH = Date.parse('2026-01-01T00:00:00Z');
const HOUR = 3_600_000;

const pick = <T,>(list: readonly T[], index: number): T => list[index % list.length] as T;

function triggersOf(index: number): TriggerFact[] {
  return KINDS.filter((_, kind) => (index * 7 + kind * 3) % 5 < 2).map((kind) => ({ kind, names: [`${kind} ${index}`], isOff: index % 11 === 0 }));
}

function appOf(index: number, gates: readonly GateFact[]): AppFact {
  const state = pick(STATES, index);
  const id = `app_${index}`;
  return {
    type: 'app', id, name: index < NAMES.length ? pick(NAMES, index) : `${pick(NAMES, index)} ${index}`, archetype: index % 9 === 8 ? 'cottage' : pick(ARCHETYPES, index), createdAt: new Date(EPOCH + index * HOUR).toISOString(),
    color: pick(COLORS, index * 3), state, running: index % 6 === 2 ? 1 : 0, deadLetters: index % 8 === 6 ? (index % 5) + 1 : 0, questions: index % 13 === 5 ? 2 : 0,
    health: { status: state, statusReasons: [], observedAt: new Date(Date.now() - index * HOUR).toISOString(), waitingApprovals: index % 13 === 5 ? 2 : 0, running: index % 6 === 2 ? 1 : 0 },
    lastRun: { id: `run_${index}`, appId: id, status: state === 'failing' ? 'failed' : 'succeeded', trigger: 'webhook', at: new Date(Date.now() - index * 60_000).toISOString() },
    hasAllRuns: true, triggers: triggersOf(index), gates: gates.filter((_, gate) => (index + gate) % 4 === 0).slice(0, 3),
  };
}

function projectOf(index: number): ProjectFact {
  return { type: 'project', id: `proj_${index}`, name: `Project ${index}`, createdAt: new Date(EPOCH + index * 8 * HOUR + 1).toISOString(), color: pick(COLORS, index), tables: 1 + ((index * 3) % 7), requestsPerMin: index * 1.5 };
}

export function madeUp(buildings: number, gateCount: number): CityFacts {
  const projects = Math.floor(buildings / 9);
  const gates = Array.from({ length: gateCount }, (_, index): GateFact => ({ id: `gate_${String(index).padStart(4, '0')}`, host: `api${index}.example.com`, isClosed: index % 5 === 3, refused: index % 6 === 2 ? index : 0, apps: 1 }));
  return { gates, apps: Array.from({ length: buildings - projects }, (_, index) => appOf(index, gates)), projects: Array.from({ length: projects }, (_, index) => projectOf(index)) };
}

let made = 0;

/** Returns a run that begins now. */
export function runNow({ apps }: CityFacts): KnownRun {
  made += 1;
  const app = pick(apps, made * 17);
  return { id: `made_${made}`, appId: app.id, status: 'running', trigger: app.triggers[0]?.kind ?? 'manual', at: new Date().toISOString() };
}
