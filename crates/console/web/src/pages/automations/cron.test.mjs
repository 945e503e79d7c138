import assert from 'node:assert/strict';
import test from 'node:test';
import { cronMistake, nextTimes, parseCron } from './cron.ts';

test('the field that is wrong is named with its range', () => {
  assert.deepEqual(cronMistake('61 5 * * *'), { field: 'minute', from: 0, to: 59 });
  assert.deepEqual(cronMistake('0 24 * * *'), { field: 'hour', from: 0, to: 23 });
  assert.deepEqual(cronMistake('0 5 0 * *'), { field: 'day', from: 1, to: 31 });
  assert.deepEqual(cronMistake('0 5 * 13 *'), { field: 'month', from: 1, to: 12 });
  assert.deepEqual(cronMistake('0 5 * * fry'), { field: 'weekday', from: 0, to: 7 });
  assert.deepEqual(cronMistake('0 5 * *'), { field: null });
  assert.deepEqual(cronMistake('0 5 * * * *'), { field: null });
});

// The cases of the server's tests: crates/runs/src/automations/schedule.
test('what the server refuses is named, with its field', () => {
  const refused = {
    minute: [
      '*/90 * * * *', '0-59/100 * * * *', '*/65536 * * * *', '*/0 * * * *', '*/ * * * *', '*/5/5 * * * *', '*/-5 * * * *', '*/+5 * * * *', '*/0x5 * * * *', '*/1.0 * * * *', '5/10 * * * *', '/10 * * * *', 'MON * * * *', '60 * * * *',
      '0,,5 * * * *', ', * * * *', '0, * * * *', '*,5 * * * *', '5,* * * * *', '? * * * *', 'L * * * *', '15W * * * *', 'H * * * *', '٣ * * * *', '5- * * * *', '-5 * * * *', '5-1 * * * *',
    ],
    hour: ['0 */36 * * *', '0 22-6 * * *', '0 9-17-20 * * *', '0 L * * *', '0 ? * * *'],
    day: ['0 0 */45 * *', '0 0 Monday * *', '0 0 jan * *', '0 0 1MON * *', '0 0 0 * *', '0 0 32W * *', '0 0 W * *', '0 0 ?/2 * *', '0 0 ?,5 * *', '0 0 *,L * *', '0 0 L, * *', '0 0 L-3 * *', '0 0 1#2 * *'],
    month: ['0 0 1 */13 *', '0 0 * january *', '0 0 * MON *', '0 0 1 13 *', '0 0 * L *', '0 0 * DEC-JAN *'],
    weekday: ['0 0 * * */8', '0 0 * * Monday', '0 0 * * MON-Friday', '0 0 * * JAN', '0 0 * * MONTUE', '0 0 * * 8', '0 0 * * FRI-MON', '0 0 * * SUN-SUN', '0 0 * * L', '0 0 * * 1W', '0 0 * * MON#6', '0 0 * * MON#0', '0 0 * * MON#', '0 0 * * +MON', '0 0 * * ПН', '0 0 * * MON-FRI#2'],
  };
  for (const [field, texts] of Object.entries(refused)) for (const text of texts) assert.equal(cronMistake(text)?.field, field, text);
  for (const text of ['', '@daily', `0 0 * * ${'1,'.repeat(70)}1`]) assert.deepEqual(cronMistake(text), { field: null }, text);
});

test('what the server takes is no mistake', () => {
  for (const text of [
    '0 9 L * *', '0 9 15W * *', '0 9 LW * *', '0 9 1,L * *', '0 9 * * MON#1', '0 9 * * 0#5', '0 9 * * 5L', '0 9 * * fril', '0 9 * * MON#1,FRI#3', '*/5 9-17 * JAN-MAR mon-fri', '0 9 ? * SAT-SUN', '0 9 31 JUL-AUG ?',
    '0 10 * * SAT-SUN', '0 10 * * MON-SUN', '0 10 * * fri-sun', '0 10 * * 7-SUN', '0 10 * * MON-SUN/2', '0 */24 2 * *', '  00 09 * * 7 ', '*/60 * * * *', '0 0 * * */7', '0\t9 * * 1,3-5',
  ]) assert.equal(cronMistake(text), null, text);
});

test('a week may end on a Sunday', () => {
  const weekdays = (field) => parseCron(`0 10 * * ${field}`)?.weekdays;
  assert.deepEqual(weekdays('SAT-SUN'), [0, 6]);
  assert.deepEqual(weekdays('Fri-Sun'), [0, 5, 6]);
  assert.deepEqual(weekdays('MON-SUN'), [0, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual(weekdays('MON-SUN/2'), [0, 1, 3, 5]);
  assert.deepEqual(weekdays('SUN-TUE'), [0, 1, 2]);
  assert.deepEqual(weekdays('SUN'), [0]);
  assert.deepEqual(weekdays('5-7'), [0, 5, 6]);
  assert.deepEqual(weekdays('*/2'), [0, 2, 4, 6]);
});

test('a question mark is any day', () => {
  const next = (text) => nextTimes(parseCron(text), 'UTC', Date.parse('2026-08-01T00:00:00Z'), 4).map((time) => time.toISOString().slice(5, 16));
  assert.deepEqual(next('0 9 ? * SAT-SUN'), ['08-01T09:00', '08-02T09:00', '08-08T09:00', '08-09T09:00']);
  assert.deepEqual(next('0 9 31 JUL-AUG ?'), ['08-31T09:00', '07-31T09:00', '08-31T09:00', '07-31T09:00']);
});

test('days that depend on the month have no preview', () => {
  for (const text of ['0 9 L * *', '0 9 15W * *', '0 9 * * MON#1', '0 9 * * FRIL', '0 9 * *']) assert.equal(parseCron(text), null, text);
});
