import assert from 'node:assert/strict';
import test from 'node:test';
import { filteredOf } from './filtered';

const list = (items, more) => ({ items, held: [], hasMore: false, isComplete: true, ...more });
const isEven = (item) => item % 2 === 0;

test('what fits is shown while the rest is read', () => {
  const { items, held, isComplete } = filteredOf(list([1, 2, 3, 4], { held: [5, 6], hasMore: true }), isEven);
  assert.deepEqual([items, held, isComplete], [[2, 4], [6], true]);
});

test('that nothing fits is said only at the end of the list', () => {
  assert.equal(filteredOf(list([1, 3], { hasMore: true }), isEven).isComplete, false);
  assert.equal(filteredOf(list([1, 3], { hasMore: true, error: new Error('Not now') }), isEven).isComplete, false, 'nor where the rest cannot be read');
  assert.equal(filteredOf(list([1, 3]), isEven).isComplete, true);
  assert.equal(filteredOf(list([2], { isComplete: false }), isEven).isComplete, false);
});
