import assert from 'node:assert/strict';
import { test } from 'node:test';
import { factsOf, lampOf, totalsOf } from './facts';
import { planTown } from './plan';
import { KnownRuns } from './runs';

const app = (id, more = {}) => ({ id, name: id, archetype: 'bank', createdAt: `2026-11-0${id.length}`, createdBy: 'usr_1', status: 'healthy', statusReasons: [], observedAt: null, waitingApprovals: 0, ...more });
const run = (id, appId, status, at) => ({ id, appId, status, at, trigger: 'webhook' });
const sources = (more) => ({ apps: [], automations: [], projects: [], gates: [], members: [{ user: { id: 'usr_1', color: 'leaf' } }], overview: undefined, runs: [], hasAllRuns: true, ...more });

test('an app that runs is running, unless something is wrong with it', () => {
  const { apps } = factsOf(sources({ apps: [app('a'), app('bb', { status: 'failing' }), app('ccc', { createdBy: 'gone' })], runs: [run('r1', 'a', 'running', '2'), run('r0', 'a', 'failed', '1'), run('r2', 'bb', 'running', '2')] }));
  assert.deepEqual(apps.map(({ state }) => state), ['healthy', 'failing', 'healthy']);
  assert.deepEqual(apps.map(({ running }) => running), [1, 1, 0]);
  assert.deepEqual(apps.map(({ color }) => color), ['leaf', 'leaf', null]);
  assert.equal(apps[0].lastRun.id, 'r1');
});

test('dead letters are counted by the overview, else by the state', () => {
  const reasons = [{ code: 'dead_letters', count: 112 }];
  const overview = { items: [{ ...app('a'), deadLetters: 7 }] };
  const { apps } = factsOf(sources({ apps: [app('a'), app('bb', { statusReasons: reasons }), app('ccc')], overview }));
  assert.deepEqual(apps.map(({ deadLetters }) => deadLetters), [7, 112, 0]);
});

test('an app without a run among the latest is not said to have none', () => {
  const runs = [run('r1', 'a', 'succeeded', '1')];
  const { apps } = factsOf(sources({ apps: [app('a'), app('bb')], runs, hasAllRuns: false }));
  assert.deepEqual(apps.map(({ lastRun, hasAllRuns }) => [lastRun?.id ?? null, hasAllRuns]), [['r1', false], [null, false]]);
});

test('automations are one trigger for each kind, off if none is active', () => {
  const automation = (type, status) => ({ appId: 'a', name: type, status, trigger: { type } });
  const { apps } = factsOf(sources({ apps: [app('a')], automations: [automation('event', 'paused'), automation('webhook', 'paused'), automation('webhook', 'active')] }));
  assert.deepEqual(apps[0].triggers.map(({ kind, isOff, names }) => [kind, isOff, names.length]), [['webhook', false, 2], ['event', true, 1]]);
});

test('a red lamp has the number of open dead letters; a failing app without any has a mark', () => {
  assert.deepEqual(lampOf({ state: 'healthy', deadLetters: 2 }), { tone: 'bad', text: '2' });
  assert.deepEqual(lampOf({ state: 'warning', deadLetters: 120 }), { tone: 'bad', text: '99+' });
  assert.deepEqual(lampOf({ state: 'failing', deadLetters: 0 }), { tone: 'bad', text: '!' });
  assert.deepEqual(lampOf({ state: 'warning', deadLetters: 0 }), { tone: 'warn', text: '!' });
  assert.equal(lampOf({ state: 'paused', deadLetters: 0, questions: 0 }), null);
  assert.deepEqual(lampOf({ state: 'healthy', deadLetters: 0, questions: 3 }), { tone: 'ask', text: '3?' });
});

test('the day is summed up only if all of it was read, else the hour of the queue', () => {
  const now = Date.parse('2026-11-24T12:00:00Z');
  const one = (status, finishedAt) => ({ status, finishedAt, acceptedAt: finishedAt ?? '2026-11-24T11:59:00Z', minutesSaved: 2 });
  const items = [one('running', null), one('succeeded', '2026-11-24T11:00:00Z'), one('failed', '2026-11-24T10:00:00Z'), one('succeeded', '2026-11-22T10:00:00Z')];
  const health = { finishedLastHour: { succeeded: 9, failed: 1, blocked: 0 } };
  assert.deepEqual(totalsOf({ items, nextCursor: null }, undefined, now), { over: 'day', runs: 2, succeeded: 0.5, minutesSaved: 4 });
  assert.equal(totalsOf({ items, nextCursor: 'x' }, health, now).over, 'day');
  assert.deepEqual(totalsOf({ items: items.slice(0, 2), nextCursor: 'x' }, health, now), { over: 'hour', runs: 10, succeeded: 0.9, minutesSaved: null });
  assert.equal(totalsOf(undefined, undefined, now), null);
});

test('an older event does not undo a newer one', () => {
  const runs = new KnownRuns();
  assert.equal(runs.take(run('r', 'a', 'running', '2')), true);
  assert.equal(runs.take(run('r', 'a', 'queued', '1')), false);
  assert.equal(runs.take(run('r', 'a', 'succeeded', '3')), false);
  assert.deepEqual([...runs].map(({ status }) => status), ['succeeded']);
});

test('the plan has every app once, at the plot it had, up to five hundred', () => {
  const facts = factsOf(sources({ apps: Array.from({ length: 520 }, (_, index) => app('a', { id: `a${index}`, createdAt: String(1_000 + index) })) }));
  const plan = planTown(facts, new Map());
  assert.equal(plan.standing.length, 500);
  assert.equal(plan.items.filter(({ type }) => type === 'building').length, 500);
  assert.deepEqual(planTown(facts, plan.plots).standing.map(({ cell }) => cell), plan.standing.map(({ cell }) => cell));
});
