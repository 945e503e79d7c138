import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fit, keepInSight, MAX_SCALE, reveal, toWindow, zoomAt } from './camera';

const BOUNDS = { left: -400, top: -100, right: 600, bottom: 500 };
const SIZE = { width: 900, height: 500 };

test('everything fits, in the middle', () => {
  const camera = fit(BOUNDS, SIZE);
  for (const corner of [[BOUNDS.left, BOUNDS.top], [BOUNDS.right, BOUNDS.bottom]]) {
    const [x, y] = toWindow(camera, corner);
    assert.ok(x >= 0 && x <= SIZE.width && y >= 0 && y <= SIZE.height);
  }
  assert.deepEqual(toWindow(camera, [100, 200]).map(Math.round), [450, 250]);
});

test('zooming keeps what is under the pointer, within limits', () => {
  const camera = fit(BOUNDS, SIZE);
  const under = [(300 - camera.x) / camera.scale, (120 - camera.y) / camera.scale];
  assert.deepEqual(toWindow(zoomAt(camera, 1.7, [300, 120], 0.1), under).map(Math.round), [300, 120]);
  assert.equal(zoomAt(camera, 1e6, [0, 0], 0.1).scale, MAX_SCALE);
  assert.equal(zoomAt(camera, 1e-6, [0, 0], 0.1).scale, 0.1);
});

test('one cannot move the town out of sight', () => {
  const camera = keepInSight({ scale: 1, x: 1e6, y: -1e6 }, BOUNDS, SIZE);
  const [x] = toWindow(camera, [BOUNDS.left, 0]);
  const [, y] = toWindow(camera, [0, BOUNDS.bottom]);
  assert.ok(x <= SIZE.width / 2 && y >= SIZE.height / 2);
});

test('revealing moves as little as needed', () => {
  const camera = { scale: 1, x: 0, y: 0 };
  assert.deepEqual(reveal(camera, [450, 250], SIZE), camera);
  const [x, y] = toWindow(reveal(camera, [2_000, -300], SIZE), [2_000, -300]);
  assert.ok(x > 0 && x < SIZE.width && y > 0 && y < SIZE.height);
});
