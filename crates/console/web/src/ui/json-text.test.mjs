import assert from 'node:assert/strict';
import test from 'node:test';
import { changedNumber, comparableJson, formatJson, minifyJson } from './json-text.ts';

test('a number that JavaScript would send as another one is found', () => {
  for (const [text, number] of [
    ['{"a":9007199254740993}', '9007199254740993'], ['[1, -40817810099910004312]', '-40817810099910004312'], ['12345678901234567890', '12345678901234567890'], ['[1e400]', '1e400'],
  ]) assert.equal(changedNumber(text), number, text);
  for (const text of ['{"9007199254740993":"9007199254740993"}', '[9007199254740991,-1,0,1.5,1e3,0.1,100000000000000000000]', '"say \\"9007199254740993\\""', 'true', '""']) assert.equal(changedNumber(text), null, text);
});

test('a text is laid out without another value in it', () => {
  const text = '{"a" : [1.0,{"b":[ ],"c":{}}, "x, {\\"y\\": 1}"],\n"n":9007199254740993,"t":true}';
  assert.equal(formatJson(text), '{\n  "a": [\n    1.0,\n    {\n      "b": [],\n      "c": {}\n    },\n    "x, {\\"y\\": 1}"\n  ],\n  "n": 9007199254740993,\n  "t": true\n}');
  assert.equal(minifyJson(text), '{"a":[1.0,{"b":[],"c":{}},"x, {\\"y\\": 1}"],"n":9007199254740993,"t":true}');
  for (const value of [null, 'a', [], {}, [[]], [{}], { a: [], b: [1, [2, { c: null }]], d: { e: '\\ "\n' } }]) {
    assert.equal(formatJson(JSON.stringify(value)), JSON.stringify(value, null, 2));
    assert.equal(minifyJson(JSON.stringify(value, null, 2)), JSON.stringify(value));
  }
  assert.equal(minifyJson('"\\u0430\\/"'), '"а/"', 'strings take their shortest form');
  const long = JSON.stringify({ a: `${'x'.repeat(2_000_000)}\n` });
  assert.equal(minifyJson(long), long);
});

test('values that differ in digits beyond those of JavaScript are not the same', () => {
  assert.notDeepEqual(comparableJson('[9007199254740993]'), comparableJson('[9007199254740992]'));
  assert.deepEqual(comparableJson('[9007199254740993, "9007199254740993"]'), ['\u00009007199254740993', '9007199254740993']);
  assert.deepEqual(comparableJson('{"a": 1.0}'), { a: 1 });
});
