import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assignPlots, cellOf, extentOf } from './plots';

const item = (id, day) => ({ id, createdAt: `2026-11-${String(day).padStart(2, '0')}T00:00:00Z` });

test('every plot has a cell of its own, inside of the extent', () => {
  const seen = new Set();
  for (let plot = 0; plot < 600; plot += 1) {
    const { column, row } = cellOf(plot);
    const { columns, rows } = extentOf(plot + 1);
    assert.ok(column < columns && row < rows, `plot ${plot} is outside of ${columns} × ${rows}`);
    seen.add(`${column} ${row}`);
  }
  assert.equal(seen.size, 600);
});

test('the town stays about as wide as deep', () => {
  for (let count = 1; count < 600; count += 1) {
    const { columns, rows } = extentOf(count);
    assert.ok(columns - rows === 0 || columns - rows === 1, `${count}: ${columns} × ${rows}`);
    assert.ok(columns * rows >= count);
  }
});

test('the same data makes the same town, in whatever order it comes', () => {
  const items = [item('c', 3), item('a', 1), item('d', 3), item('b', 2)];
  const plots = assignPlots(items);
  assert.deepEqual(plots, assignPlots([...items].reverse()));
  assert.deepEqual([...plots].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, plot]) => plot), [0, 1, 2, 3]);
});

test('who is new takes the next plot, and nobody else moves', () => {
  const before = assignPlots([item('a', 1), item('b', 2), item('c', 3)]);
  const after = assignPlots([item('d', 4), item('c', 3), item('b', 2), item('a', 1)], before);
  for (const [id, plot] of before) assert.equal(after.get(id), plot);
  assert.equal(after.get('d'), 3);
});

test('what is deleted leaves a gap that the next one fills', () => {
  const before = assignPlots([item('a', 1), item('b', 2), item('c', 3)]);
  const gap = assignPlots([item('a', 1), item('c', 3)], before);
  assert.deepEqual([gap.get('a'), gap.get('c')], [0, 2]);
  assert.equal(assignPlots([item('a', 1), item('c', 3), item('d', 4)], gap).get('d'), 1);
});
