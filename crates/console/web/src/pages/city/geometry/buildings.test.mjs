import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ARCHETYPES, buildingOf, FRONT, kindOf } from './buildings';
import { frontal, isometric } from './projection';
import { pathsOf } from './solids';

const KINDS = [...ARCHETYPES, 'house', 'well', 'library', 'site'];

test('what is not known is a house', () => {
  assert.equal(kindOf('bank'), 'bank');
  assert.equal(kindOf('lighthouse'), 'house');
  assert.equal(kindOf('toString'), 'house');
});

test('every building fits on its lot, with its lamp over its roof', () => {
  for (const kind of KINDS) {
    const { faces, lamp } = buildingOf(kind);
    const points = faces.flatMap((face) => face.points);
    for (const [x, y, z] of points) {
      assert.ok(x >= -0.1 && x <= 3.8, `${kind} is too wide: ${x}`);
      assert.ok(y >= 0 && y <= FRONT + 0.2, `${kind} is too deep: ${y}`);
      assert.ok(z >= 0 && z <= 3.6, `${kind} is too high: ${z}`);
    }
    assert.ok(lamp[2] > 1, `${kind} has its lamp on the ground`);
  }
});

test('every building looks different, from both sides', () => {
  for (const projection of [isometric, frontal]) {
    const shapes = KINDS.map((kind) => JSON.stringify(pathsOf(buildingOf(kind).faces, projection)));
    assert.equal(new Set(shapes).size, KINDS.length);
  }
});

test('every building of an app has windows to light and a roof to colour', () => {
  for (const kind of [...ARCHETYPES, 'house']) {
    for (const projection of [isometric, frontal]) {
      const paints = pathsOf(buildingOf(kind).faces, projection).map(({ paint }) => paint);
      assert.ok(paints.includes('window'), `${kind} has no window`);
      assert.ok(paints.some((paint) => paint.startsWith('roof')), `${kind} has no roof`);
    }
  }
});

test('neighbours with one paint are one path, so that a building has few', () => {
  for (const kind of KINDS) assert.ok(pathsOf(buildingOf(kind).faces, isometric).length <= 48, kind);
});
