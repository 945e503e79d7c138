import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundsOf, convexHull, frontal, isEdgeOn, isometric, polygonPath, UNIT } from './projection';

test('isometric: height is straight up, and both ground axes come to the front', () => {
  const [x0, y0] = isometric([2, 3, 0]);
  const [x1, y1] = isometric([2, 3, 1]);
  assert.equal(x0, x1);
  assert.equal(y0 - y1, UNIT);
  assert.ok(isometric([1, 0, 0])[0] > 0 && isometric([1, 0, 0])[1] > 0);
  assert.ok(isometric([0, 1, 0])[0] < 0 && isometric([0, 1, 0])[1] > 0);
});

test('frontal: depth makes no difference, so that sides and tops are edge-on', () => {
  assert.deepEqual(frontal([1, 5, 2]), frontal([1, -5, 2]));
  assert.ok(isEdgeOn([[1, 0, 0], [1, 2, 0], [1, 2, 3], [1, 0, 3]].map(frontal)));
  assert.ok(isEdgeOn([[0, 0, 1], [2, 0, 1], [2, 2, 1], [0, 2, 1]].map(frontal)));
  assert.ok(!isEdgeOn([[0, 2, 0], [2, 2, 0], [2, 2, 1], [0, 2, 1]].map(frontal)));
});

test('the hull of points leaves out those inside', () => {
  const hull = convexHull([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 3]]);
  assert.equal(hull.length, 4);
  assert.deepEqual(boundsOf(hull), { left: 0, top: 0, right: 4, bottom: 4 });
});

test('a path closes and has no more than one decimal', () => {
  assert.equal(polygonPath([[0, 0], [1.26, 0], [1 / 3, 2]]), 'M0 0L1.3 0L0.3 2Z');
});
