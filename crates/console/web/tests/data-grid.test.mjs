// Selection, pasting, filters, the window of rows, edits and undo.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

const { at, blockOf, move, shifted, sizeOf, tab, within } = await load('pages/data/grid/selection.ts');
const { planPaste, readBlock } = await load('pages/data/grid/paste.ts');
const { conditionsOf, filterText, orderOf, parseFilter, queryOf, OPERATORS } = await load('pages/data/grid/filters.ts');
const { PAGE_SIZE, RowWindow } = await load('pages/data/grid/row-window.ts');
const { withEdit, countEdits } = await load('pages/data/grid/edits.ts');
const { UndoStack, isStillSo } = await load('pages/data/grid/undo.ts');

const EXTENT = { rows: 100, columns: 5, page: 20 };
const press = (selection, key, { shift = false, mod = false } = {}) => move(selection, { key, shift, mod }, EXTENT);

test('keys move the cell and stay in the grid', () => {
  assert.deepEqual(press(at(0, 0), 'ArrowUp'), at(0, 0));
  assert.deepEqual(press(at(5, 2), 'End'), at(5, 4));
  assert.deepEqual(press(at(5, 2), 'Home', { mod: true }), at(0, 0));
  assert.deepEqual(press(at(95, 2), 'PageDown'), at(99, 2));
  assert.deepEqual(press(at(5, 2), 'ArrowDown', { mod: true }), at(99, 2));
  assert.equal(press(at(5, 2), 'x'), null);
  assert.equal(move(at(0, 0), { key: 'ArrowDown', shift: false, mod: false }, { rows: 0, columns: 0, page: 1 }), null);
});

test('Shift grows the selection from its anchor, in any direction', () => {
  const grown = press(press(at(5, 2), 'ArrowUp', { shift: true }), 'ArrowLeft', { shift: true });
  assert.deepEqual(blockOf(grown), { top: 4, bottom: 5, left: 1, right: 2 });
  assert.equal(sizeOf(blockOf(grown)), 4);
  assert.deepEqual(press(grown, 'ArrowDown'), at(5, 1));
});

test('Tab leaves the grid behind the last cell of the row', () => {
  assert.deepEqual(tab(at(3, 3), false, EXTENT), at(3, 4));
  assert.equal(tab(at(3, 4), false, EXTENT), null);
  assert.equal(tab(at(3, 0), true, EXTENT), null);
});

test('a selection follows rows that come or go', () => {
  assert.deepEqual(shifted(at(3, 1), 2), at(5, 1));
  assert.deepEqual(within(at(99, 4), { rows: 10, columns: 2, page: 1 }), at(9, 1));
  assert.equal(within(at(0, 0), { rows: 0, columns: 2, page: 1 }), null);
});

const COLUMNS = [
  { name: 'id', type: 'text', nullable: false, system: true }, { name: 'name', type: 'text', nullable: false, system: false },
  { name: 'stock', type: 'integer', nullable: true, system: false }, { name: 'created_at', type: 'timestamp', nullable: false, system: true },
];

test('a block is read as a spreadsheet gives it, and a sentence stays whole', () => {
  assert.deepEqual(readBlock('a\t1\nb\t\n'), [['a', '1'], ['b', null]]);
  assert.deepEqual(readBlock('Hello, world'), [['Hello, world']]);
  assert.deepEqual(readBlock('a,1\nb,2'), [['a', '1'], ['b', '2']]);
  assert.deepEqual(readBlock('"unfinished\tx'), [['"unfinished', 'x']]);
});

test('a block is pasted from the top left, and goes on behind the last row', () => {
  const plan = planPaste([['Tea', '1'], ['Jam', '2'], ['Rye', null]], at(8, 1), COLUMNS, 10);
  assert.deepEqual([...plan.updates], [[8, { name: 'Tea', stock: '1' }], [9, { name: 'Jam', stock: '2' }]]);
  assert.deepEqual(plan.inserts, [{ name: 'Rye', stock: null }]);
  assert.deepEqual(blockOf(plan.selection), { top: 8, bottom: 10, left: 1, right: 2 });
});

test('one value fills the selection', () => {
  const plan = planPaste([['5']], { active: { row: 2, column: 2 }, anchor: { row: 4, column: 2 } }, COLUMNS, 10);
  assert.deepEqual([...plan.updates.keys()], [2, 3, 4]);
});

test('what does not fit is refused with its place', () => {
  const plan = planPaste([['x', 'y', '2', 'z']], at(0, 0), COLUMNS, 10);
  assert.deepEqual(plan.refused.map(({ column, problem }) => [column, problem]), [[0, 'system'], [3, 'system']]);
  assert.deepEqual(planPaste([['many']], at(0, 2), COLUMNS, 10).refused, [{ row: 0, column: 2, text: 'many', problem: 'integer' }]);
  // A new row may have an id.
  assert.deepEqual(planPaste([['new', 'y', '2', 'z']], at(10, 0), COLUMNS, 10).inserts, [{ id: 'new', name: 'y', stock: '2' }]);
});

test('each filter is read back from the address as it was written', () => {
  for (const operator of OPERATORS) {
    const value = ['null', 'notnull', 'true', 'false'].includes(operator) ? '' : operator === 'in' ? 'a, b' : '50%_a\\b';
    const filter = { column: 'c', operator, value };
    assert.deepEqual(parseFilter('c', filterText(filter)), filter, operator);
  }
  assert.equal(filterText({ column: 'c', operator: 'in', value: 'a, b(c)' }), 'in.(a,"b(c)")');
  assert.equal(parseFilter('c', 'like(any).{a,b}'), null);
  assert.equal(parseFilter('c', 'ilike.a_b*'), null);
});

test('the query of the address is that of the API', () => {
  const query = new URLSearchParams('stock=gt.3&stock=lt.9&or=(a.eq.1,b.eq.2)&order=price.desc.nullslast,name');
  assert.deepEqual(conditionsOf(query).map(({ name, filter }) => [name, filter?.operator ?? null]), [['stock', 'gt'], ['stock', 'lt'], ['or', null]]);
  assert.deepEqual(orderOf(query), { column: 'price', isDescending: true });
  assert.equal(orderOf(new URLSearchParams()), null);
  assert.equal(queryOf(conditionsOf(query), query.get('order')), query.toString());
});

/** A table of numbered rows, which counts how often it is read. */
function table(count) {
  const rows = Array.from({ length: count }, (_, index) => ({ id: `r${index}`, cells: { id: `r${index}`, n: String(index) } }));
  const source = { rows, reads: 0, changes: 0 };
  const read = async (offset, limit, counts) => {
    source.reads += 1;
    return { rows: source.rows.slice(offset, offset + limit).map((row) => ({ ...row, cells: { ...row.cells } })), total: counts ? source.rows.length : null };
  };
  source.window = new RowWindow(read, () => { source.changes += 1; });
  return source;
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

test('only pages in sight are read, each once', async () => {
  const source = table(10_000);
  source.window.want(0, 40);
  source.window.want(0, 40);
  await settled();
  assert.equal(source.reads, 1);
  assert.equal(source.window.total, 10_000);
  source.window.want(5_000, 5_040);
  await settled();
  assert.equal(source.reads, 2);
  assert.equal(source.window.at(5_010).id, 'r5010');
  assert.equal(source.window.at(3_000), undefined);
  assert.equal(source.window.indexOf('r5010'), 5_010);
});

test('pages that were not used for long are given up', async () => {
  const source = table(10_000);
  for (let page = 0; page < 70; page += 1) {
    source.window.want(page * PAGE_SIZE, page * PAGE_SIZE + 1);
    await settled();
  }
  assert.equal(source.window.at(0), undefined);
  assert.ok(source.window.at(69 * PAGE_SIZE));
});

test('a refresh keeps the objects of rows that have not changed', async () => {
  const source = table(300);
  source.window.want(0, 50);
  await settled();
  const [first, second] = [source.window.at(0), source.window.at(1)];
  source.rows[1] = { id: 'r1', cells: { id: 'r1', n: 'other' } };
  await source.window.refresh(0, 50);
  assert.equal(source.window.at(0), first);
  assert.notEqual(source.window.at(1), second);
  assert.equal(source.window.at(1).cells.n, 'other');
});

test('rows that went away are counted, and pages behind the last are dropped', async () => {
  const source = table(250);
  source.window.want(0, 250);
  await settled();
  source.window.want(0, 250);
  await settled();
  source.rows.splice(0, 200);
  await source.window.refresh(0, 50);
  assert.equal(source.window.total, 50);
  assert.equal(source.window.at(0).id, 'r200');
  assert.equal(source.window.at(220), undefined);
});

test('while a cell is edited, values change in their place and rows do not move', async () => {
  const source = table(120);
  source.window.want(0, 50);
  await settled();
  source.rows.unshift({ id: 'new', cells: { id: 'new', n: 'x' } });
  source.rows[3] = { id: 'r2', cells: { id: 'r2', n: 'changed' } };
  assert.equal(await source.window.refreshValues(0, 50), false);
  assert.equal(source.window.at(2).id, 'r2');
  assert.equal(source.window.at(2).cells.n, 'changed');
});

test('a read that fails is kept, and tried again by a refresh', async () => {
  let fails = true;
  const window = new RowWindow(async () => {
    if (fails) throw new Error('down');
    return { rows: [], total: 0 };
  }, () => undefined);
  window.want(0, 10);
  await settled();
  assert.equal(window.error.message, 'down');
  fails = false;
  await window.refresh(0, 10);
  assert.equal(window.error, null);
  assert.ok(window.isReady);
});

test('an edit of one row leaves the maps of others as they are', () => {
  const edit = { base: 'a', mine: 'b', state: 'saving' };
  const one = withEdit(new Map(), 'r1', 'n', edit);
  const two = withEdit(one, 'r2', 'n', { ...edit, state: 'refused' });
  assert.equal(two.get('r1'), one.get('r1'));
  assert.deepEqual(countEdits(two), { saving: 1, refused: 1, conflict: 0 });
  assert.equal(withEdit(two, 'r1', 'n', null).has('r1'), false);
});

test('what somebody else changed since is not taken back', () => {
  const columns = [{ name: 'n', type: 'real' }, { name: 'm', type: 'text' }];
  assert.ok(isStillSo(columns, { n: '1.0' }, { n: '1', m: 'x' }));
  assert.ok(!isStillSo(columns, { n: '1.0' }, { n: '2', m: 'x' }));
});

test('the last write is taken back first, and writes of nothing are not kept', () => {
  const stack = new UndoStack();
  stack.push({ kind: 'insert', ids: ['a'] });
  stack.push({ kind: 'update', changes: [] });
  stack.push({ kind: 'delete', rows: [{ id: 'b', cells: {} }] });
  assert.equal(stack.size, 2);
  assert.equal(stack.pop().kind, 'delete');
  assert.equal(stack.pop().kind, 'insert');
  assert.equal(stack.pop(), undefined);
});
