// Times as people read them.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

Object.defineProperty(globalThis, 'navigator', { value: { languages: ['en-GB'] }, configurable: true });
globalThis.document ??= { querySelector: () => null, documentElement: { lang: 'en' } };
globalThis.localStorage ??= { getItem: () => null };
process.env.TZ = 'Europe/Berlin';
const { formatRelative, formatZoned } = await load('i18n/format.ts');

const SATURDAY = Date.parse('2026-11-28T12:30:00Z');
const of = (when, zone) => formatRelative(when, SATURDAY, zone);

test('from a day on, days of the calendar are counted', () => {
  assert.equal(of('2026-11-30T00:30:00Z', 'Asia/Almaty'), 'in 2 days', '36 hours are not tomorrow');
  assert.equal(of('2026-11-29T18:00:00Z', 'UTC'), 'tomorrow');
  assert.equal(of('2026-11-27T06:00:00Z', 'UTC'), 'yesterday');
  assert.equal(of('2026-11-26T23:00:00Z', 'UTC'), '2 days ago');
  assert.equal(of('2026-11-29T12:00:00Z', 'UTC'), 'in 23 hr');
});

test('the days are those of the zone', () => {
  // Sunday evening in UTC is Monday in Almaty, where it is Saturday now.
  assert.equal(of('2026-11-29T20:00:00Z', 'UTC'), 'tomorrow');
  assert.equal(of('2026-11-29T20:00:00Z', 'Asia/Almaty'), 'in 2 days');
});

test('a date is that of the zone, too', () => {
  assert.equal(of('2026-12-24T20:00:00Z'), '24 Dec 2026');
  assert.equal(of('2026-12-24T20:00:00Z', 'Asia/Almaty'), '25 Dec 2026');
});

test('a time on the clock of another zone names it', () => {
  assert.equal(formatZoned('2026-11-28T20:30:00Z', 'Asia/Almaty'), '29 Nov 2026, 01:30 (Asia/Almaty)');
  assert.equal(formatZoned('2026-11-28T20:30:00Z', 'Europe/Berlin'), '28 Nov 2026, 21:30');
  assert.equal(formatZoned('2026-11-28T20:30:00Z', 'Mars/Olympus'), '28 Nov 2026, 21:30', 'a zone that the browser does not know');
});
