import assert from 'node:assert/strict';
import test from 'node:test';
import { KnownRuns } from './runs.ts';

const at = (second) => new Date(Date.UTC(2026, 10, 28, 12, 0, second)).toISOString();
const run = (id, status, second) => ({ id, appId: 'app', status, trigger: 'manual', at: at(second) });
const running = (known) => [...{ [Symbol.iterator]: () => known[Symbol.iterator]() }].filter(({ status }) => status === 'running').map(({ id }) => id);

test('a run whose end nobody told is dropped once a read does not have it', () => {
  const known = new KnownRuns();
  known.take(run('a', 'running', 1), 0);
  known.take(run('b', 'running', 1), 0);
  assert.equal(known.settle(new Set(['a']), 1_000), true, 'the event may be newer than the read');
  assert.deepEqual(running(known), ['a', 'b']);
  assert.equal(known.settle(new Set(['a']), 3_000), false);
  assert.deepEqual(running(known), ['a']);
});

test('without a whole list, what nothing renewed for a minute is dropped', () => {
  const known = new KnownRuns();
  known.take(run('a', 'running', 1), 0);
  known.take(run('b', 'running', 1), 0);
  known.take(run('b', 'running', 1), 50_000);
  known.settle(null, 61_000);
  assert.deepEqual(running(known), ['b']);
});

test('an end that arrives before the beginning stays the end', () => {
  const known = new KnownRuns();
  known.take(run('a', 'succeeded', 2), 0);
  known.take(run('a', 'running', 1), 10);
  assert.deepEqual(running(known), []);
});
