import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leadOf } from './lead';

const NONE = { draft: 0, building: 0, healthy: 0, warning: 0, failing: 0, paused: 0, unobserved: 0 };
const overview = ({ waitingApprovals = 0, deadLetters = 0, ...apps }) => {
  const counts = { ...NONE, ...apps };
  const { draft, building, healthy, warning, failing, paused } = counts;
  return { waitingApprovals, deadLetters, apps: { ...counts, total: draft + building + healthy + warning + failing + paused } };
};
const lead = (known, running = 0) => leadOf(overview(known), running);

test('all is well only if every active app was seen to work, and there is one', () => {
  assert.deepEqual(lead({ healthy: 15 }), { kind: 'calm' });
  assert.deepEqual(lead({ healthy: 1, paused: 3, draft: 2 }), { kind: 'calm' });
  assert.deepEqual(lead({ healthy: 15, unobserved: 14 }), { kind: 'unobserved', quiet: 14, count: 15 });
  assert.deepEqual(lead({ healthy: 15, unobserved: 15, draft: 3 }), { kind: 'unobserved', quiet: 15, count: 15 });
});

test('where nothing is active, nothing is in order or out of it', () => {
  assert.deepEqual(lead({ paused: 4 }), { kind: 'paused', count: 4 });
  assert.deepEqual(lead({ draft: 1 }), { kind: 'drafts', count: 1 });
  assert.deepEqual(lead({ draft: 1, paused: 4 }), { kind: 'inactive', count: 5 });
  assert.equal(lead({}), null);
});

test('what needs somebody comes first', () => {
  const all = { waitingApprovals: 7, failing: 1, deadLetters: 213, warning: 2, healthy: 9 };
  assert.deepEqual(lead(all, 3), { kind: 'questions', count: 7 });
  assert.deepEqual(lead({ ...all, waitingApprovals: 0 }, 3), { kind: 'failing', count: 1 });
  assert.deepEqual(lead({ ...all, waitingApprovals: 0, failing: 0 }, 3), { kind: 'letters', count: 213 });
  assert.deepEqual(lead({ warning: 2, healthy: 9 }, 3), { kind: 'warning', count: 2 });
  assert.deepEqual(lead({ healthy: 9, unobserved: 9 }, 3), { kind: 'running', count: 3 });
});
