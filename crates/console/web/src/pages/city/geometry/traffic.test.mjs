import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_PER_SECOND, Traffic } from './traffic';

test('at most twenty in any second are let through, and the rest is counted', () => {
  const traffic = new Traffic();
  const times = Array.from({ length: 300 }, (_, index) => index * 10);
  const admitted = times.filter((time) => traffic.admit(time));
  for (const start of times) assert.ok(admitted.filter((time) => time >= start && time < start + 1_000).length <= MAX_PER_SECOND);
  assert.equal(traffic.heldBack(2_990), 80);
  assert.equal(traffic.heldBack(9_000), 0);
  assert.ok(traffic.admit(9_000));
});
