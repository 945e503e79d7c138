import assert from 'node:assert/strict';
import test from 'node:test';
import { causesOf } from './causes.ts';

const letter = (id, message, more = {}) => ({ id, appId: 'app_1', appName: 'Payments', kind: 'run', reason: 'run_failed', message, createdAt: `2026-11-28T12:00:0${id}Z`, ...more });

test('failures at one place are one cause, whatever their message says of the call', () => {
  const causes = causesOf([letter(1, 'No customer 17 (main.js:6:20)'), letter(2, 'No customer 18 (main.js:6:20)'), letter(3, 'No customer 17 (main.js:9:1)')]);
  assert.deepEqual(causes.map(({ letters, first, last }) => [letters.length, first, last]), [[2, '2026-11-28T12:00:01Z', '2026-11-28T12:00:02Z'], [1, '2026-11-28T12:00:03Z', '2026-11-28T12:00:03Z']]);
});

test('without a place, what differs from call to call is left out of the message', () => {
  assert.equal(causesOf([letter(1, 'Order 17 of "Aru" is unknown'), letter(2, 'Order 9 of "Bek" is unknown')]).length, 1);
  assert.equal(causesOf([letter(1, 'Order is unknown'), letter(2, 'Order is closed')]).length, 2);
  assert.equal(causesOf([letter(1, 'x'), letter(2, 'x', { appId: 'app_2' }), letter(3, 'x', { reason: 'timeout' }), letter(4, 'x', { kind: 'delivery' })]).length, 4);
});
