// Keys of the pages: each leads to one place.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';

const PAGES = new URL('../src/pages/', import.meta.url);

test('no two pages have the same key', () => {
  const keys = readdirSync(PAGES).flatMap((name) => {
    let text;
    try {
      text = readFileSync(new URL(`${name}/page.ts`, PAGES), 'utf8');
    } catch {
      return [];
    }
    return [...text.matchAll(/\bkey: '(\w)'/g)].map(([, key]) => `g ${key}`).concat([...text.matchAll(/\bkeys: '([^']+)'/g)].map(([, stroke]) => stroke));
  });
  const twice = keys.filter((key, index) => keys.indexOf(key) !== index);
  assert.ok(keys.length > 8, 'the pages have keys');
  assert.deepEqual(twice, []);
});
