// The audit log has a sentence for every action that the server writes about a workspace, in every language.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';

const CRATES = new URL('../../../', import.meta.url);
const WORDS = readFileSync(new URL('../src/pages/settings/audit/messages.ts', import.meta.url), 'utf8');
const LANGUAGES = 3;
const SUBJECTS = 'agent_tool|app|approval|automation|change|column|connection|dead_letter|device|draft|gate|import|index|invite|join_domain|member|notification|oauth_grant|project|project_key|row|run|secret|table|token|version|webhook|workspace';
/** Actions of no workspace, or that nobody looks for: they are shown as they are written. */
const ELSEWHERE = ['device.start', 'device.deny', 'device.deliver', 'device.lapse', 'oauth_grant.refresh'];

function written() {
  const found = new Set();
  const files = readdirSync(CRATES).flatMap((crate) => {
    try {
      return readdirSync(new URL(`${crate}/src`, CRATES), { recursive: true }).filter((path) => path.endsWith('.rs')).map((path) => `${crate}/src/${path}`);
    } catch {
      return [];
    }
  });
  for (const file of files) {
    const [code] = readFileSync(new URL(file, CRATES), 'utf8').split(/#\[cfg\(test\)\]\s*mod /);
    for (const [, action] of code.matchAll(new RegExp(`"((?:${SUBJECTS})\\.[a-z_]+)"`, 'g'))) found.add(action);
  }
  return [...found];
}

test('every action has a sentence, and none that nothing writes', () => {
  const actions = written();
  const sentences = [...WORDS.matchAll(/'did_([a-z_.]+)':/g)].map(([, action]) => action);
  assert.ok(actions.length > 80, `${actions.length} actions were found`);
  assert.deepEqual(actions.filter((action) => !sentences.includes(action) && !ELSEWHERE.includes(action)).sort(), []);
  assert.deepEqual(sentences.filter((action) => !actions.includes(action)), []);
  assert.equal(sentences.length, LANGUAGES * new Set(sentences).size);
});
