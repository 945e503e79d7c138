// Imports, rules, names, examples and keys of identity providers.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

const { checkRecord, fillable, guessMapping, mappedTwice, sheetOf, toCsv, unfilled } = await load('pages/data/table/import-plan.ts');
const { mayHaveRows, oldCountAt } = await load('pages/data/table/rows.ts');
const { columnNameProblem, tableNameProblem } = await load('pages/data/table/names.ts');
const { conditionOf, groupsOf, hasLongNumber, isSameRule, newRule, opensToAnyone } = await load('pages/data/rules/rule.ts');
const { exampleOf, LANGUAGES, TASKS } = await load('pages/data/project/examples.ts');
const { chosenKeys, claimLines, claimsOf, isForTokens, keysOf } = await load('pages/data/project/jwks.ts');

const COLUMNS = [
  { name: 'id', type: 'text', nullable: false, system: true }, { name: 'created_at', type: 'timestamp', nullable: false, system: true },
  { name: 'first_name', type: 'text', nullable: false, system: false }, { name: 'stock', type: 'integer', nullable: true, system: false }, { name: 'paid', type: 'boolean', nullable: false, system: false, default: false },
];
const BY_NAME = new Map(fillable(COLUMNS).map((column) => [column.name, column]));

test('columns of a file go into those of the same name, and none twice', () => {
  assert.deepEqual(guessMapping(['ID', 'First name', 'created_at', 'stock', 'STOCK', 'colour'], COLUMNS), ['id', 'first_name', null, 'stock', null, null]);
  assert.deepEqual(mappedTwice(['stock', 'stock', null, null]), ['stock']);
  assert.deepEqual(unfilled(['stock'], COLUMNS), ['first_name']);
});

test('rows that do not fit are named with their first problem', () => {
  const mapping = ['first_name', 'stock'];
  const check = (record, index = 0) => checkRecord({ headers: ['a', 'b'], records: Array(index + 1).fill(record), lines: Array(index + 1).fill(index + 2) }, index, mapping, BY_NAME);
  assert.equal(check(['Ann', '5']), null);
  assert.equal(check(['Ann', null]), null);
  assert.deepEqual(check(['Ann', 'many'], 3), { index: 3, line: 5, column: 'stock', text: 'many', problem: 'integer' });
  assert.deepEqual(check([null, '5']), { index: 0, line: 2, column: 'first_name', text: '', problem: 'required' });
  assert.deepEqual(check(['Ann']), { index: 0, line: 2, column: '', text: '1', problem: 'width' });
});

test('the file that is sent has the columns of the table, without the rows that are left out', () => {
  const sheet = { headers: ['Name', 'Other', 'Count'], records: [['Ann', 'x', '007'], ['Bob', 'y', 'bad'], ['', 'z', null]], lines: [2, 3, 4] };
  assert.equal(toCsv(sheet, ['first_name', null, 'stock'], BY_NAME, new Set([1])), 'first_name,stock\nAnn,7\n\n"",');
});

test('names are those that the server accepts', () => {
  assert.equal(tableNameProblem('orders_2', []), null);
  assert.equal(tableNameProblem('2orders', []), 'form');
  assert.equal(tableNameProblem('v1', []), 'reserved');
  assert.equal(tableNameProblem('pg_x', []), 'reserved');
  assert.equal(tableNameProblem('orders', ['orders']), 'taken');
  assert.equal(columnNameProblem('order', []), 'reserved');
  assert.equal(columnNameProblem('Größe', []), 'form');
});

const cmp = (column) => ({ t: 'cmp', column, op: 'eq', value: { k: 'me' } });

test('conditions become alternatives and conditions again', () => {
  const conditions = [{ t: 'all' }, cmp('a'), { t: 'and', of: [cmp('a'), cmp('b')] }, { t: 'or', of: [cmp('a'), { t: 'and', of: [cmp('b'), cmp('c')] }] }];
  for (const condition of conditions) assert.deepEqual(conditionOf(groupsOf(condition)), condition);
  assert.equal(groupsOf({ t: 'or', of: [{ t: 'or', of: [] }] }), null);
});

test('a number that may have been rounded is found in rules', () => {
  const rules = (v) => [{ id: 'a', where: { t: 'and', of: [{ t: 'cmp', column: 'n', op: 'eq', value: { k: 'lit', v } }, { t: 'in', column: 'n', values: [1, 'x', true] }] }, columns: null }];
  assert.ok(hasLongNumber(rules(9007199254740992)));
  for (const v of [9007199254740991, 0.1, '9007199254740993', true]) assert.ok(!hasLongNumber(rules(v)), String(v));
});

test('a rule that opens every row to anyone is noticed, once it is new', () => {
  const open = { id: 'a', audience: { kind: 'anyone' }, actions: ['read'], where: { t: 'all' }, columns: ['id'] };
  assert.deepEqual(opensToAnyone([], [open]), [open]);
  assert.deepEqual(opensToAnyone([open], [open]), []);
  assert.equal(opensToAnyone([open], [{ ...open, columns: null }]).length, 1);
  assert.equal(opensToAnyone([open], [{ ...open, actions: ['read', 'delete'] }]).length, 1);
  assert.deepEqual(opensToAnyone([], [{ ...open, audience: { kind: 'signed_in' } }, { ...open, where: cmp('a') }]), []);
});

test('rules are the same whatever their sentences and the order of members', () => {
  const rule = newRule([{ id: 'rule_1' }]);
  assert.equal(rule.id, 'rule_2');
  assert.ok(isSameRule(rule, { ...rule, sentence: 'Signed-in people may read every row.' }));
  assert.ok(isSameRule({ ...rule, where: { t: 'null', column: 'a', isNull: true } }, { ...rule, where: { isNull: true, column: 'a', t: 'null' } }));
  assert.ok(!isSameRule(rule, { ...rule, columns: ['id'] }));
});

test('examples have the address and the columns of the table', () => {
  const subject = { url: 'https://qala.example/v1/projects/proj_1/rest', table: { name: 'orders', columns: COLUMNS } };
  for (const { id } of LANGUAGES) {
    for (const task of TASKS) assert.match(exampleOf(id, task, subject), /orders/, `${id} ${task}`);
    assert.match(exampleOf(id, 'insert', subject), /first_name/, id);
    assert.doesNotMatch(exampleOf(id, 'insert', subject), /created_at/, id);
  }
  assert.match(exampleOf('supabase', 'read', subject), /createClient\('https:\/\/qala\.example\/v1\/projects\/proj_1', KEY\)/);
  assert.match(exampleOf('python', 'insert', subject), /"paid": True|"paid":True/);
});

test('keys are taken as a set, a list or one', () => {
  const key = { kty: 'RSA', n: 'x', e: 'AQAB' };
  assert.deepEqual(keysOf({ keys: [key] }), [key]);
  assert.deepEqual(keysOf([key]), [key]);
  assert.deepEqual(keysOf(key), [key]);
  assert.equal(keysOf({ keys: 'none' }), null);
  assert.equal(keysOf(null), null);
});

test('keys that verify no tokens are known, and of too many the person chooses', () => {
  const rsa = (more = {}) => ({ kty: 'RSA', n: 'AQAB', e: 'AQAB', ...more });
  for (const key of [rsa(), rsa({ use: 'sig', alg: 'RS256', x5c: [] }), { kty: 'EC', crv: 'P-256' }, { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA' }, { kty: 'oct' }]) assert.ok(isForTokens(key), JSON.stringify(key));
  for (const key of [rsa({ use: 'enc' }), rsa({ alg: 'RSA-OAEP' }), rsa({ key_ops: ['encrypt'] }), { kty: 'EC', crv: 'P-384' }, { kty: 'AKP' }, {}]) assert.ok(!isForTokens(key), JSON.stringify(key));
  const eight = Array.from({ length: 8 }, (_, index) => rsa({ kid: `k${index}` }));
  const withOther = [rsa({ use: 'enc' }), ...eight];
  assert.deepEqual(chosenKeys(withOther, new Set()), withOther, 'the server leaves out the others and names them');
  const nine = [...withOther, rsa({ kid: 'k8' })];
  assert.deepEqual(chosenKeys(nine, new Set([0, 1, 9])), [nine[1], nine[9]]);
});

test('claims for rules are lines of a name and a path', () => {
  const claims = { org: 'https://corp.example/org', team: 'app_metadata.team' };
  assert.deepEqual(claimsOf(claimLines(claims)), claims);
  assert.deepEqual(claimsOf('\n org=a = b \n'), { org: 'a = b' });
  for (const bad of ['org', 'Org = a', 'org =', 'user-id = a', 'a = b\na = c', Array.from({ length: 33 }, (_, index) => `c${index} = a`).join('\n')]) assert.equal(claimsOf(bad), null, bad);
});

test('a table that was not counted may have rows', () => {
  assert.deepEqual([null, 0, 1].map((rowCount) => mayHaveRows({ rowCount })), [true, false, true]);
});

test('a count of rows that is older than a minute is said with its time', () => {
  const now = Date.parse('2026-11-28T12:00:00Z');
  assert.equal(oldCountAt('2026-11-28T11:59:00Z', now), null);
  assert.equal(oldCountAt('2026-11-28T11:58:59Z', now), '2026-11-28T11:58:59Z');
  assert.equal(oldCountAt(null, now), null);
});
