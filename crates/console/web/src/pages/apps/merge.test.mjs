import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeJson, mergeManifests, onTop } from './merge';

const source = (files, manifest = {}) => ({ files, manifest: JSON.stringify(manifest, null, 2) });
const egress = (...hosts) => ({ permissions: { egress: hosts.map((host) => ({ host })) } });

test('what only others changed is theirs, and what both changed is mine', () => {
  const base = source({ 'main.js': '1', 'a.js': 'a', 'b.js': 'b', 'gone.js': '' });
  const theirs = source({ 'main.js': '2', 'a.js': 'A', 'new.js': '', 'gone.js': '' });
  const mine = source({ 'main.js': '3', 'a.js': 'a', 'b.js': 'b' });
  assert.deepEqual(onTop(base, theirs, mine).files, { 'main.js': '3', 'a.js': 'A', 'new.js': '' });
});

test('a manifest keeps the permissions that both added, and loses what either removed', () => {
  const merged = mergeManifests(...[egress('a', 'b', 'c'), egress('b', 'c', 'theirs'), { ...egress('a', 'b', 'mine'), name: 'Mine' }].map((one) => JSON.stringify(one)));
  assert.deepEqual(JSON.parse(merged), { ...egress('b', 'mine', 'theirs'), name: 'Mine' });
});

test('members that are missing on a side are merged too', () => {
  assert.deepEqual(mergeJson({}, egress('theirs'), egress('mine')), egress('mine', 'theirs'));
  assert.deepEqual(mergeJson({ roi: 1, name: 'A' }, { name: 'A' }, { roi: 1, name: 'B' }), { name: 'B' });
  assert.equal(mergeJson(1, 2, 3), 3);
});

test('a manifest that is not JSON stays as it is written', () => {
  assert.equal(mergeManifests('{}', '{"name":"A"}', '{"name":'), '{"name":');
  assert.equal(mergeManifests('{}', '{}', '{"name":'), '{"name":');
});
