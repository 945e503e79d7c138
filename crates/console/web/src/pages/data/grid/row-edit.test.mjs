// What an edit of a row writes while others change the row.

import assert from 'node:assert/strict';
import test from 'node:test';
import { NO_EDIT, readEdit, withDraft, withoutColumn } from './row-edit.ts';

const columns = [['name', 'text'], ['stock', 'integer'], ['price', 'real']].map(([name, type]) => ({ name, type, nullable: true, system: false }));
const TEA = { name: 'Tea', stock: '12', price: '1' };
const read = (edit, saved) => readEdit(columns, edit, saved);
const typed = withDraft(NO_EDIT, { name: 'Green tea' }, TEA);

test('only what the person changed is written, and what only others changed stays theirs', () => {
  const { changes, conflicts, edit } = read(typed, { ...TEA, stock: '99' });
  assert.deepEqual([changes, conflicts, Object.keys(edit.draft)], [{ name: 'Green tea' }, [], ['name']]);
  const next = withDraft(edit, { ...edit.draft, stock: '100' }, { ...TEA, stock: '99' });
  assert.deepEqual(next.base, { name: 'Tea', stock: '99' }, 'An edit of a column begins from what is saved then.');
});

test('a column that both changed is a conflict until the person chooses', () => {
  const saved = { ...TEA, name: 'Black tea' };
  const { edit, conflicts } = read(typed, saved);
  assert.deepEqual(conflicts, ['name']);
  assert.deepEqual(read(withDraft(edit, { name: 'Green tea!' }, saved), saved).conflicts, ['name'], 'To go on typing chooses nothing.');
  assert.deepEqual(read({ ...edit, base: { name: 'Black tea' } }, saved), { edit: { draft: { name: 'Green tea' }, base: { name: 'Black tea' } }, changes: { name: 'Green tea' }, problems: {}, conflicts: [] });
  assert.deepEqual(withoutColumn(edit, 'name'), NO_EDIT);
  assert.deepEqual(read(typed, { ...TEA, name: 'Green tea' }).conflicts, [], 'Both want the same value.');
});

test('what was put back to its old value gives way to what others save', () => {
  const back = withDraft(typed, { name: 'Tea', price: '1.0' }, TEA);
  assert.deepEqual(read(back, TEA).edit.draft, { name: 'Tea', price: '1.0' }, 'What is typed stays as it is written.');
  assert.deepEqual(read(back, { name: 'Black tea', stock: '12', price: '2' }), { edit: NO_EDIT, changes: {}, problems: {}, conflicts: [] });
});

test('a text that is no value stays, and is neither written nor lost', () => {
  const { edit, changes, problems } = read(withDraft(NO_EDIT, { stock: 'many' }, TEA), { ...TEA, stock: '13' });
  assert.deepEqual([edit.draft, changes, problems], [{ stock: 'many' }, {}, { stock: 'integer' }]);
  assert.deepEqual(read(withDraft(edit, { stock: '14' }, { ...TEA, stock: '13' }), { ...TEA, stock: '13' }).conflicts, ['stock']);
});
