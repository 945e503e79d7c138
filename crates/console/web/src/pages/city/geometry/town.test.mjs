import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isometric } from './projection';
import { gatePlace, gateRoom, groundOf, labelPlaces, PITCH, postAt, roadToDoor, roadToGate, streetsOf, treesOf, wallOf } from './town';

const EXTENT = { columns: 4, rows: 3 };
const within = ([x, y], { x: left, y: top, w, d }) => x >= left && x <= left + w && y >= top && y <= top + d;

test('gates stand on two walls, each at a place of its own, as many as there is room for', () => {
  const room = gateRoom(EXTENT);
  const places = Array.from({ length: room }, (_, index) => gatePlace(index, EXTENT));
  assert.equal(new Set(places.map(({ side, at }) => `${side} ${at}`)).size, room);
  for (const { side, at } of places) assert.ok(at < (side === 'west' ? EXTENT.rows : EXTENT.columns) * PITCH);
});

test('a gate does not move when the town grows', () => {
  for (let number = 0; number < 6; number += 1) assert.deepEqual(gatePlace(number, { columns: 2, rows: 2 }), gatePlace(number, { columns: 9, rows: 8 }));
});

test('the wall is open at its gates', () => {
  const gate = gatePlace(0, EXTENT);
  const tops = wallOf(EXTENT, [gate]).filter(({ paint }) => paint === 'top');
  const covers = tops.some(({ points }) => {
    const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
    return gate.side === 'west' && Math.max(...xs) < 0 && Math.min(...ys) < gate.at && Math.max(...ys) > gate.at;
  });
  assert.equal(covers, false);
});

test('roads bend only on streets', () => {
  const streets = streetsOf(EXTENT);
  const cell = { column: 2, row: 1 };
  for (const point of roadToDoor(cell, 3).slice(1, -1)) assert.ok(streets.some((street) => within(point, street)));
  for (const number of [0, 1]) {
    for (const point of roadToGate(cell, gatePlace(number, EXTENT)).slice(1, -1)) assert.ok(streets.some((street) => within(point, street)), `${point}`);
  }
  assert.deepEqual(roadToDoor(cell, 3)[0], postAt(cell, 3));
});

test('roads turn at right angles', () => {
  const road = roadToGate({ column: 1, row: 2 }, gatePlace(1, EXTENT));
  road.slice(1).forEach(([x, y], index) => {
    const [bx, by] = road[index];
    assert.ok(x === bx || y === by, `from ${bx} ${by} to ${x} ${y}`);
  });
});

test('trees are the same every time and stay on the ground', () => {
  const trees = treesOf({ column: 2, row: 1 }, true);
  assert.deepEqual(trees, treesOf({ column: 2, row: 1 }, true));
  for (const tree of trees) assert.ok(within(tree, groundOf(EXTENT)));
  assert.notDeepEqual(treesOf({ column: 0, row: 0 }, false).map(isometric), treesOf({ column: 1, row: 0 }, false).map(([x, y, z]) => isometric([x - PITCH, y, z])));
});

test('names are written on ground that is never built on', () => {
  for (const [x, y] of labelPlaces({ column: 0, row: 0 })) assert.ok(x > 3.4 || y > 2.6 || x < -0.2, `${x} ${y}`);
});
