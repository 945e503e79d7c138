// The text of an export, and the functions of an app that was imported.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

const { MAX_SOURCE, lengthOf, prepareSource } = await load('pages/imports/source.ts');
const { functionLines } = await load('pages/imports/function-lines.ts');

test('a text that fits is sent as it is', () => {
  assert.deepEqual(prepareSource('{ "a" : 1 }'), { source: '{ "a" : 1 }', minifiedFrom: null });
  assert.deepEqual(prepareSource('not JSON'), { source: 'not JSON', minifiedFrom: null }, 'the server says what is wrong');
  // Characters, not units of UTF-16.
  const wide = JSON.stringify('😀'.repeat(MAX_SOURCE - 2));
  assert.equal(lengthOf(wide), MAX_SOURCE);
  assert.equal(prepareSource(wide).minifiedFrom, null);
});

test('a text that is too long is minified, or named with its length', () => {
  const padded = `{${' '.repeat(MAX_SOURCE)}"a": 1}`;
  assert.deepEqual(prepareSource(padded), { source: '{"a":1}', minifiedFrom: padded.length });
  const long = `{${' '.repeat(MAX_SOURCE)}"id": 9007199254740993, "name": "\\u0430"}`;
  assert.equal(prepareSource(long).source, '{"id":9007199254740993,"name":"а"}', 'numbers keep their digits');
  assert.deepEqual(prepareSource('x'.repeat(MAX_SOURCE + 1)), { problem: 'json', length: MAX_SOURCE + 1 });
  assert.deepEqual(prepareSource(JSON.stringify('x'.repeat(MAX_SOURCE))), { problem: 'long', length: MAX_SOURCE + 2 });
});

const MODULE = `// Imported

import { run } from './flow.js';

/** Begin (a): exact */
function begin(items) {
  return [items];
}

/**
 * Tell (b): partial
 * Something is not kept.
 */
async function tell(items) {
  const text = \`{
}
\`;
  return [{ json: { text } }];
}

function beginAgain() { return []; }

const steps = [{ run: begin }, { run: tell }];
`;

test('a function is found with the comment above it and its lines', () => {
  assert.deepEqual(functionLines(MODULE, 'begin'), { first: 5, last: 8, text: '/** Begin (a): exact */\nfunction begin(items) {\n  return [items];\n}' });
  const tell = functionLines(MODULE, 'tell');
  assert.equal(tell.first, 10);
  assert.equal(tell.last, 19);
  assert.ok(tell.text.endsWith('return [{ json: { text } }];\n}'), 'a brace in a text does not end it');
  assert.deepEqual(functionLines(MODULE, 'beginAgain'), { first: 21, last: 21, text: 'function beginAgain() { return []; }' });
  assert.equal(functionLines(MODULE, 'gone'), null);
  assert.equal(functionLines('', 'begin'), null);
});
