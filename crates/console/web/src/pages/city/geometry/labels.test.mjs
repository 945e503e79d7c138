import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cornersOf, ObstacleIndex, overlap, placeLabels } from './labels';

const square = (x, y, size) => cornersOf({ left: x, top: y, right: x + size, bottom: y + size });
const request = (id, ...places) => ({ id, width: 10, height: 4, places });

test('polygons overlap if no edge separates them; touching is not overlapping', () => {
  assert.ok(overlap(square(0, 0, 10), square(5, 5, 10)));
  assert.ok(!overlap(square(0, 0, 10), square(10, 0, 10)));
  const diamond = [[15, 0], [30, 15], [15, 30], [0, 15]];
  assert.ok(!overlap(diamond, square(0, 0, 5)), 'the corner of the diamond’s bounds is free');
  assert.ok(overlap(diamond, square(12, 12, 4)), 'one inside of the other');
});

test('a name takes its first place that is free, and none on an obstacle', () => {
  const placed = placeLabels([request('a', [0, 0], [100, 0]), request('b', [0, 0])], [new ObstacleIndex([square(-5, -5, 10)])]);
  assert.deepEqual(placed.get('a'), [100, 0]);
  assert.equal(placed.has('b'), false);
});

test('names do not lie on each other, across the squares of the index', () => {
  const requests = Array.from({ length: 40 }, (_, index) => request(String(index), [index * 7, 0], [index * 7, 6], [index * 7, 12]));
  const boxes = [...placeLabels(requests, [new ObstacleIndex()]).values()].map(([x, y]) => cornersOf({ left: x - 5, right: x + 5, top: y - 2, bottom: y + 2 }));
  assert.ok(boxes.length > 30);
  boxes.forEach((box, index) => { for (const other of boxes.slice(index + 1)) assert.ok(!overlap(box, other)); });
});

test('names that were placed before are in the way of later ones', () => {
  const index = new ObstacleIndex();
  placeLabels([request('a', [0, 0])], [index]);
  assert.equal(placeLabels([request('b', [4, 0])], [index]).size, 0);
  assert.equal(placeLabels([request('b', [4, 0], [12, 0])], [index, new ObstacleIndex([square(8, -2, 4)])]).size, 0);
});
