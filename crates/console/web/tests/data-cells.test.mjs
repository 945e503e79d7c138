// The values of cells, and text with delimiters.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

const { parseCell, isSame, bodyOf, selectOf, rowOf } = await load('pages/data/grid/cells.ts');
const { readDelimited, delimiterOf, toDelimited } = await load('pages/data/grid/delimited.ts');

const column = (type, nullable = true) => ({ name: 'c', type, nullable, system: false });

test('what a person types becomes a value of its column, or names what is wrong', () => {
  const cases = [
    ['text', '', { cell: '' }], ['text', null, { cell: null }], ['text', ' a ', { cell: ' a ' }],
    ['integer', '007', { cell: '7' }], ['integer', '+5', { cell: '5' }], ['integer', '9223372036854775807', { cell: '9223372036854775807' }],
    ['integer', '9223372036854775808', { problem: 'integer' }], ['integer', '1.5', { problem: 'integer' }], ['integer', ' ', { cell: null }],
    ['real', '1e3', { cell: '1000' }], ['real', '.5', { cell: '0.5' }], ['real', '1e999', { problem: 'real' }], ['real', '1,5', { problem: 'real' }],
    ['boolean', 'Yes', { cell: 'true' }], ['boolean', '0', { cell: 'false' }], ['boolean', 'maybe', { problem: 'boolean' }],
    ['timestamp', '2026-11-24', { cell: '2026-11-24' }], ['timestamp', '2026-11-24 13:30', { cell: '2026-11-24T13:30:00' }],
    ['timestamp', '2026-11-24 13:30 +0500', { cell: '2026-11-24T13:30:00+05:00' }], ['timestamp', '2026-02-31', { problem: 'timestamp' }], ['timestamp', 'tomorrow', { problem: 'timestamp' }],
    ['json', '{"a":1}', { cell: '{"a":1}' }], ['json', '{a:1}', { problem: 'json' }],
  ];
  for (const [type, input, expected] of cases) assert.deepEqual(parseCell(column(type), input), expected, `${type} ${input}`);
});

test('a column that cannot be null refuses nothing, but takes empty text', () => {
  assert.deepEqual(parseCell(column('integer', false), ''), { problem: 'required' });
  assert.deepEqual(parseCell(column('text', false), null), { problem: 'required' });
  assert.deepEqual(parseCell(column('text', false), ''), { cell: '' });
});

test('numbers of 64 bits and documents are read and sent without loss', () => {
  const columns = [{ name: 'id', type: 'text' }, { name: 'n', type: 'integer' }, { name: 'j', type: 'json' }, { name: 'b', type: 'boolean' }, { name: 'x', type: 'text' }];
  assert.equal(selectOf(columns), 'id,n::text,j::text,b,x');
  const row = rowOf(columns, { id: 'a', n: '9223372036854775807', j: '{"big": 12345678901234567890}', b: false, x: null });
  assert.deepEqual(row, { id: 'a', cells: { id: 'a', n: '9223372036854775807', j: '{"big": 12345678901234567890}', b: 'false', x: null } });
  assert.equal(bodyOf(columns, { n: '9223372036854775807', j: '{"big": 12345678901234567890}', b: 'false', x: 'say "hi"' }), '{"n":9223372036854775807,"j":{"big": 12345678901234567890},"b":false,"x":"say \\"hi\\""}');
  assert.equal(bodyOf(columns, { x: null }), '{"x":null}');
});

test('the same value may be written in several ways', () => {
  assert.ok(isSame('real', '1.0', '1'));
  assert.ok(isSame('timestamp', '2026-01-02T03:04:05+05:00', '2026-01-01T22:04:05.000000Z'));
  assert.ok(!isSame('timestamp', '2026-01-01T22:04:05.000001Z', '2026-01-01T22:04:05Z'));
  assert.ok(isSame('json', '{"a": 1, "b": [2]}', '{"b":[2],"a":1}'));
  assert.ok(!isSame('json', '[1,2]', '[2,1]'));
  assert.ok(!isSame('json', '{"a":9007199254740993}', '{"a":9007199254740992}'));
  assert.ok(!isSame('text', '', null));
  assert.ok(!isSame('integer', '1', '2'));
});

function records(text, delimiter = ',') {
  const all = [];
  return { open: readDelimited(text, delimiter, (record) => all.push(record)), all };
}

test('null and empty text are told apart in CSV', () => {
  assert.deepEqual(records('a,"",,NULL,"NULL"\n').all, [['a', '', null, null, 'NULL']]);
  assert.deepEqual(records('a,\r\n,b').all, [['a', null], [null, 'b']]);
  assert.deepEqual(records('a,').all, [['a', null]]);
});

test('quotes keep delimiters, lines and quotes', () => {
  assert.deepEqual(records('"a,b","two\nlines","say ""hi"""\nc,d,e').all, [['a,b', 'two\nlines', 'say "hi"'], ['c', 'd', 'e']]);
  assert.deepEqual(records('5" pipe,x').all, [['5" pipe', 'x']]);
  assert.equal(records('a\n"b\nc').open, 2);
});

test('what is written is read back as it was', () => {
  const rows = [['a', '', null, 'NULL'], ['x,y', 'two\nlines', '"q"', 'tab\there']];
  for (const delimiter of [',', '\t', ';']) assert.deepEqual(records(toDelimited(rows, delimiter), delimiter).all, rows, JSON.stringify(delimiter));
});

test('the delimiter is seen in the first line', () => {
  assert.equal(delimiterOf('a\tb,c\n1;2;3'), '\t');
  assert.equal(delimiterOf('a;b;c\n1,2'), ';');
  assert.equal(delimiterOf('one'), ',');
});
