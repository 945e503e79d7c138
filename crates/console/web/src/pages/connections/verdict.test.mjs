import assert from 'node:assert/strict';
import test from 'node:test';
import { verdictOf } from './verdict';

const NOW = Date.parse('2026-11-28T12:00:00Z');
const check = (at, more) => ({ at, checked: 'gate', ok: true, status: 200, latencyMs: 84, reason: null, ...more });
const judge = (lastCheck, [calls24h, errors24h, lastCallAt = null], updatedAt = '2026-11-01T00:00:00Z') => verdictOf({ lastCheck, updatedAt, health: { calls24h, errors24h, blocked24h: 0, lastCallAt } }, NOW);
const kind = (...known) => judge(...known).kind;

const EARLIER = '2026-11-28T08:00:00Z';
const LATER = '2026-11-28T11:00:00Z';

test('without a test and a call nothing is known', () => {
  assert.equal(kind(null, [0, 0]), 'untried');
  assert.equal(kind(check(LATER, { checked: 'format', status: null }), [0, 0]), 'untried', 'a secret of the right form was not tried');
});

test('the newer of the last test and the last call decides', () => {
  assert.deepEqual(judge(check(EARLIER), [500, 499, LATER]), { kind: 'calls', failed: 499, all: 500 });
  assert.deepEqual(judge(check(EARLIER, { ok: false, status: 401 }), [500, 0, LATER]), { kind: 'calls', failed: 0, all: 500 });
  assert.equal(kind(check(LATER), [500, 499, EARLIER]), 'works');
  assert.equal(kind(check(LATER, { ok: false, status: 401 }), [500, 0, EARLIER]), 'failed');
  assert.equal(kind(check(LATER, { ok: null, status: null, reason: 'dns_failed' }), [1, 1, LATER]), 'unreached', 'a test counts as a call itself');
});

test('calls alone never say that it works: those that the code aborted count as sent and not as failed', () => {
  assert.deepEqual(judge(null, [1, 0, LATER]), { kind: 'calls', failed: 0, all: 1 });
  assert.deepEqual(judge(null, [500, 499, LATER]), { kind: 'calls', failed: 499, all: 500 });
});

test('calls without a failure leave a success of the last seven days as it is', () => {
  assert.equal(kind(check(EARLIER), [500, 0, LATER]), 'works');
  assert.equal(kind(check('2026-11-22T12:00:00Z'), [500, 0, LATER]), 'works');
  assert.equal(kind(check('2026-11-20T12:00:00Z'), [500, 0, LATER]), 'calls');
});

test('a success of long ago is told as such', () => {
  assert.equal(kind(check('2026-11-21T12:00:01Z'), [0, 0]), 'works');
  assert.equal(kind(check('2026-11-21T12:00:00Z'), [0, 0]), 'worked');
});

test('calls before the last change say nothing of the connection as it is', () => {
  assert.equal(kind(null, [500, 500, EARLIER], LATER), 'untried');
  assert.equal(kind(null, [500, 500, LATER], EARLIER), 'calls');
});
