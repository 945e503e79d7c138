import assert from 'node:assert/strict';
import test from 'node:test';
import { cronMistake, parseCron } from './cron.ts';

test('the field that is wrong is named with its range', () => {
  assert.deepEqual(cronMistake('61 5 * * *'), { field: 'minute', from: 0, to: 59 });
  assert.deepEqual(cronMistake('0 24 * * *'), { field: 'hour', from: 0, to: 23 });
  assert.deepEqual(cronMistake('0 5 0 * *'), { field: 'day', from: 1, to: 31 });
  assert.deepEqual(cronMistake('0 5 * 13 *'), { field: 'month', from: 1, to: 12 });
  assert.deepEqual(cronMistake('0 5 * * fry'), { field: 'weekday', from: 0, to: 7 });
  assert.deepEqual(cronMistake('0 5 * *'), { field: null });
  assert.deepEqual(cronMistake('0 5 * * * *'), { field: null });
});

test('what only the server can judge is no mistake', () => {
  for (const text of ['0 9 L * *', '0 9 15W * *', '0 9 * * MON#1', '*/5 9-17 * JAN-MAR mon-fri']) assert.equal(cronMistake(text), null, text);
  assert.equal(parseCron('0 9 L * *'), null);
});
