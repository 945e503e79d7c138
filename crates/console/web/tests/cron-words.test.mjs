// Schedules in words.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

Object.defineProperty(globalThis, 'navigator', { value: { languages: ['en-GB'] }, configurable: true });
globalThis.document ??= { querySelector: () => null, documentElement: { lang: 'en' } };
globalThis.localStorage ??= { getItem: () => null };
const { cronWords } = await load('pages/automations/words.ts');

test('words say on which days a schedule fires', () => {
  assert.equal(cronWords('0 10 * * MON-SUN'), cronWords('0 10 * * *'));
  assert.equal(cronWords('0 10 ? * ?'), cronWords('0 10 * * *'));
  assert.equal(cronWords('0 10 1 * ?'), cronWords('0 10 1 * *'));
  assert.equal(cronWords('0 10 * * SAT-SUN'), cronWords('0 10 * * 6,0'));
  // Either field counts: this is every day, and not the first of the month.
  assert.notEqual(cronWords('0 10 1 * MON-SUN'), cronWords('0 10 1 * *'));
});
