import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextInDirection } from './walk';

const GRID = [[0, 0], [100, 0], [200, 0], [0, 100], [100, 100], [200, 100]];

test('an arrow leads to the neighbour in its direction, and nowhere at the edge', () => {
  assert.equal(nextInDirection(GRID, 0, 'ArrowRight'), 1);
  assert.equal(nextInDirection(GRID, 1, 'ArrowDown'), 4);
  assert.equal(nextInDirection(GRID, 4, 'ArrowUp'), 1);
  assert.equal(nextInDirection(GRID, 0, 'ArrowLeft'), null);
  assert.equal(nextInDirection([], 0, 'ArrowLeft'), null);
});

test('every place of a diamond can be reached', () => {
  const diamond = Array.from({ length: 25 }, (_, index) => [((index % 5) - Math.floor(index / 5)) * 35, ((index % 5) + Math.floor(index / 5)) * 20]);
  const reached = new Set([0]);
  for (const from of reached) {
    for (const key of ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown']) {
      const next = nextInDirection(diamond, from, key);
      if (next !== null) reached.add(next);
    }
  }
  assert.equal(reached.size, diamond.length);
});
