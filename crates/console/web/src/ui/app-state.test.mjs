import assert from 'node:assert/strict';
import test from 'node:test';
import { daysSince, knownState, shownState } from './app-state';

const NOW = Date.parse('2026-11-28T12:00:00Z');
const app = (more) => ({ status: 'healthy', observedAt: null, ...more });

test('an app is healthy only if it was seen to work within seven days', () => {
  assert.equal(shownState(app({ observedAt: '2026-11-21T12:00:01Z' }), NOW), 'healthy');
  assert.equal(shownState(app({ observedAt: '2026-11-21T12:00:00Z' }), NOW), 'stale');
  assert.equal(daysSince('2026-11-19T11:00:00Z', NOW), 9);
});

test('an app that ran and failed less often than people are told of was not seen to work', () => {
  assert.equal(shownState(app({}), NOW), 'unseen');
  assert.equal(shownState(app({ running: 1 }), NOW), 'running');
});

test('any other state comes before what was seen', () => {
  for (const status of ['failing', 'warning', 'paused', 'draft', 'building']) assert.equal(shownState(app({ status, observedAt: '2026-11-28T11:00:00Z' }), NOW), status);
  assert.equal(shownState(app({ status: 'failing', running: 2 }), NOW), 'failing');
});

test('a filter for healthy apps leaves out those that were not seen to work', () => {
  assert.equal(knownState(app({ observedAt: '2026-11-28T11:00:00Z' }), NOW), 'healthy');
  assert.equal(knownState(app({ observedAt: '2026-11-01T00:00:00Z' }), NOW), 'unobserved');
  assert.equal(knownState(app({ running: 1 }), NOW), 'unobserved');
  assert.equal(knownState(app({ status: 'draft', running: 1 }), NOW), 'draft');
});
