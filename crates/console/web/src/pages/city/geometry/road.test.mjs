import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pointAlong, roadOf } from './road';

test('one comes from the start to the end at one speed, around corners', () => {
  const road = roadOf([[0, 0], [30, 0], [30, 10]]);
  assert.equal(road.length, 40);
  assert.deepEqual(pointAlong(road, 0), [0, 0]);
  assert.deepEqual(pointAlong(road, 0.5), [20, 0]);
  assert.deepEqual(pointAlong(road, 0.75), [30, 0]);
  assert.deepEqual(pointAlong(road, 0.875), [30, 5]);
  assert.deepEqual(pointAlong(road, 1), [30, 10]);
  assert.deepEqual(pointAlong(road, 7), [30, 10]);
});

test('a road without length, or with one point, has a place', () => {
  assert.deepEqual(pointAlong(roadOf([[3, 4], [3, 4]]), 0.5), [3, 4]);
  assert.deepEqual(pointAlong(roadOf([[3, 4]]), 0.5), [3, 4]);
});
