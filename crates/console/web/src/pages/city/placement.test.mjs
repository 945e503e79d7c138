import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planTown } from './plan';

const app = (id, day, more = {}) => ({ type: 'app', id, name: id, archetype: 'tower', createdAt: `2026-11-${day}T00:00:00Z`, color: null, state: 'healthy', running: 0, deadLetters: 0, lastRun: null, triggers: [], gates: [], ...more });
const project = (id, day) => ({ type: 'project', id, name: id, createdAt: `2026-11-${day}T00:00:00Z`, color: null, tables: 1, requestsPerMin: 0 });
const cells = ({ standing }) => Object.fromEntries(standing.map(({ fact, cell }) => [fact.id, `${cell.column} ${cell.row}`]));

test('apps and projects share the plots by their age', () => {
  const town = { apps: [app('c', 12), app('a', 10)], projects: [project('b', 11)], gates: [] };
  assert.deepEqual(cells(planTown(town, new Map())), { a: '0 0', b: '1 0', c: '0 1' });
});

test('a state, a name or a run moves nobody', () => {
  const apps = [app('a', 10), app('b', 11), app('c', 12)];
  const before = planTown({ apps, projects: [], gates: [] }, new Map());
  const after = planTown({ apps: apps.map((one) => ({ ...one, name: 'Other', state: 'failing', running: 3, deadLetters: 9 })), projects: [], gates: [] }, before.plots);
  assert.deepEqual(cells(after), cells(before));
});

test('the bounds hold every building, and gates that have no room are counted', () => {
  const gates = Array.from({ length: 30 }, (_, index) => ({ id: `g${index}`, host: `h${index}`, isClosed: false, refused: 0, apps: 0 }));
  const plan = planTown({ apps: [app('a', 10), app('b', 11)], projects: [], gates }, new Map());
  assert.equal(plan.gates.length + plan.gatesLeft, 30);
  assert.ok(plan.gatesLeft > 0);
  for (const { origin: [x, y], building } of plan.standing) {
    assert.ok(x > plan.bounds.left && x < plan.bounds.right);
    assert.ok(y - building.height * 40 > plan.bounds.top);
  }
});
