// Entries that one puts into a manifest with a click.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

Object.defineProperty(globalThis, 'navigator', { value: { languages: ['en-GB'] }, configurable: true });
globalThis.document ??= { querySelector: () => null, documentElement: { lang: 'en' } };
globalThis.localStorage ??= { getItem: () => null };
const { withHost } = await load('pages/apps/code/manifest-parts.ts');

const egress = (text) => JSON.parse(text).permissions.egress;
const manifest = (...entries) => JSON.stringify({ name: 'An app', permissions: { egress: entries } });

test('a host is added once and keeps what an admin agreed to', () => {
  const known = { host: 'api.example.com', methods: ['GET'], headers: ['authorization'] };
  assert.deepEqual(egress(withHost(manifest(known), 'api.example.com', ['POST'])), [{ ...known, methods: ['GET', 'POST'] }]);
  assert.deepEqual(egress(withHost(manifest(known), 'api.example.com', null)), [{ host: 'api.example.com', headers: ['authorization'] }]);
  assert.deepEqual(egress(withHost(manifest(known), 'b.example.com', ['GET'])), [known, { host: 'b.example.com', methods: ['GET'] }]);
  assert.deepEqual(egress(withHost(manifest(), 'b.example.com', null)), [{ host: 'b.example.com' }]);
});
