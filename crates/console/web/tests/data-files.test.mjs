// Files that people import, as other programs write them.

import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './load.mjs';

const { decode, decodeAs, isWorkbook } = await load('pages/data/table/encoding.ts');
const { delimiterOf, readDelimited } = await load('pages/data/grid/delimited.ts');
const { sheetOf, toCsv } = await load('pages/data/table/import-plan.ts');

const RUSSIAN = 'name;city;n\nАйгерим;Алматы;1\nТимур;Санкт-Петербург;2\n';
/** The letters of windows-1251 and of KOI8-R and CP866, which have them elsewhere. */
const cp1251 = (text) => Uint8Array.from(text, (letter) => {
  const code = letter.codePointAt(0);
  if (code < 0x80) return code;
  if (code === 0x401) return 0xa8;
  if (code === 0x451) return 0xb8;
  return code - 0x410 + 0xc0;
});
const encodedAs = (encoding, text) => {
  const table = new Map(Array.from({ length: 256 }, (_, byte) => [new TextDecoder(encoding).decode(Uint8Array.of(byte)), byte]));
  return Uint8Array.from(text, (letter) => table.get(letter));
};
const utf16 = (text, isBig) => Uint8Array.from([0xfeff, ...[...text].map((letter) => letter.codePointAt(0))].flatMap((code) => (isBig ? [code >> 8, code & 255] : [code & 255, code >> 8])));

test('UTF-8 and what a mark names are decoded, with the mark left out', () => {
  const utf8 = new TextEncoder().encode(RUSSIAN);
  assert.deepEqual(decode(utf8), { text: RUSSIAN });
  assert.deepEqual(decode(Uint8Array.of(0xef, 0xbb, 0xbf, ...utf8)), { text: RUSSIAN });
  assert.deepEqual(decode(utf16(RUSSIAN, false)), { text: RUSSIAN });
  assert.deepEqual(decode(utf16(RUSSIAN, true)), { text: RUSSIAN });
  assert.deepEqual(decode(new Uint8Array()), { text: '' });
  // Only the mark at the very start is one.
  assert.deepEqual(decode(new TextEncoder().encode('\ufeff\ufeffAru')), { text: '\ufeffAru' });
});

test('anything else is guessed and never decoded with replacement signs', () => {
  assert.deepEqual(decode(cp1251(RUSSIAN)), { guess: 'windows-1251' });
  assert.equal(decodeAs(cp1251(RUSSIAN), 'windows-1251'), RUSSIAN);
  assert.deepEqual(decode(encodedAs('koi8-r', RUSSIAN)), { guess: 'koi8-r' });
  assert.deepEqual(decode(encodedAs('ibm866', RUSSIAN)), { guess: 'ibm866' });
  assert.deepEqual(decode(encodedAs('windows-1252', 'name\nJosé Müller\nÉlodie Görg\n')), { guess: 'windows-1252' });
  // A mark of UTF-8 before text that is not: the mark is not believed, nothing is replaced.
  assert.equal('guess' in decode(Uint8Array.of(0xef, 0xbb, 0xbf, ...cp1251(RUSSIAN))), true);
  // One letter cut in half at the end is not UTF-8 either.
  assert.equal('guess' in decode(new TextEncoder().encode('Алматы').subarray(0, 11)), true);
});

test('a workbook is known by its first bytes', () => {
  assert.ok(isWorkbook(Uint8Array.of(0x50, 0x4b, 3, 4, 20)));
  assert.ok(isWorkbook(Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0)));
  for (const text of ['PK\n1\n', 'P', '', RUSSIAN]) assert.ok(!isWorkbook(new TextEncoder().encode(text)), text);
});

test('a long file is guessed by its first letters, wherever they are', () => {
  const ascii = 'id;name\n' + '1;Ann\n'.repeat(20_000);
  assert.deepEqual(decode(encodedAs('koi8-r', `${ascii}2;Айгерим\n3;Санкт-Петербург\n`)), { guess: 'koi8-r' });
  assert.deepEqual(decode(cp1251(`${ascii}2;Айгерим\n3;Санкт-Петербург\n`)), { guess: 'windows-1251' });
});

test('the values that are shown tell whether a text reads right', async () => {
  const { samplesOf } = await load('pages/data/table/import-plan.ts');
  const records = [['1', 'Ann'], ['2', null], ['3', 'Bob'], ['4', 'Айгерим'], ['5']];
  assert.deepEqual(samplesOf(records, 1, false), ['Ann', null, 'Bob']);
  assert.deepEqual(samplesOf(records, 1, true), ['Айгерим']);
  assert.deepEqual(samplesOf(records, 0, true), ['1', '2', '3']);
});

function read(text, delimiter = ',') {
  const records = [];
  let blank = 0;
  assert.equal(readDelimited(text, delimiter, (cells, { line, isBlank }) => { if (isBlank) blank += 1; else records.push({ cells, line }); }), null);
  return sheetOf(records, blank);
}

test('empty lines, and lines of delimiters only, are left out; empty text is a value', () => {
  const sheet = read('name,n\r\na,1\r\n\r\n,\r\n"",2\r\nb,3\r\n\r\n\r\n');
  assert.deepEqual(sheet.records, [['a', '1'], ['', '2'], ['b', '3']]);
  assert.deepEqual(sheet.lines, [2, 5, 6]);
  assert.equal(sheet.blankLines, 4);
  assert.deepEqual(read('name\nNULL\n').records, [[null]], 'a NULL that is written is a row');
  assert.deepEqual(read('\n\nname\na\n').headers, ['name'], 'also before the header');
});

const columnsNamed = (...names) => new Map(names.map((name) => [name, { name, type: 'text', nullable: true, system: false }]));
/** Returns what the console sends of a file. */
const sent = (text, mapping, left = []) => toCsv(read(text), mapping, columnsNamed(...mapping.filter((name) => name !== null)), new Set(left));

test('a row of nothing but nulls is sent as one', () => {
  assert.equal(sent('name,note\na,x\nb,\nc,y\n', [null, 'note']), 'note\nx\nNULL\ny');
  assert.equal(sent('name\nNULL\n', ['name']), 'name\nNULL');
  assert.equal(sent('a,b,c\nx,,\n', [null, 'b', 'c']), 'b,c\nNULL,');
  // Text that is empty is a value, and so is a text that reads NULL.
  assert.equal(sent('name\n""\n"NULL"\n', ['name']), 'name\n""\n"NULL"');
});

test('a row is sent on the line on which it is in the file', () => {
  const line = (text, row) => text.split(/\r\n?|\n/).findIndex((one) => one.startsWith(row)) + 1;
  assert.equal(sent('id,name\n\n\nlong,x\n', ['id', 'name']), 'id,name\n\n\nlong,x');
  // Empty lines before the header, rows that are left out and lines of columns that are not sent keep their room.
  assert.equal(line(sent('\n\nname\na\n', ['name']), 'a'), 4);
  assert.equal(line(sent('name\na\nb\nc\n', ['name'], [0, 1]), 'c'), 4);
  assert.equal(line(sent('name,note\na,"1\n2\n3"\nb,\n', ['name', null]), 'b'), 5);
  assert.equal(sent('name,note\n"a\nx","1\n2"\n\nb,\n', ['name', null]), 'name\n"a\nx"\n\n\nb');
  // All line breaks count, also in quotes and between rows.
  assert.equal(line(sent('name,note\r\n"a\r\nx\ry",1\r\rb,2\r', ['name', 'note']), 'b'), 6);
  assert.equal(sent('name\na\nb\n', ['name']), 'name\na\nb', 'a file without gaps gets none');
});

test('the delimiter is that of the first line with something on it', () => {
  assert.equal(delimiterOf('\n\r\nname;city\na;1,5,7,9\n'), ';');
  assert.equal(delimiterOf('name;city\ra,b,c;1,5\r'), ';');
  assert.equal(delimiterOf('\na\tb\n'), '\t');
});

test('a row that spans lines is named by the line on which it begins', () => {
  assert.deepEqual(read('name,n\n"a\nb\nc",1\nd,2\n').lines, [2, 5]);
});

test('columns without a name and a value are left out, and those with a value are not', () => {
  const sheet = read('name,n,,\na,1,,\nb,2\nc,3,,,,\n');
  assert.deepEqual([sheet.headers, sheet.records, sheet.blankColumns], [['name', 'n'], [['a', '1'], ['b', '2'], ['c', '3']], 2]);
  const middle = read('name,,n\na,,1\n');
  assert.deepEqual([middle.headers, middle.records], [['name', 'n'], [['a', '1']]]);
  assert.deepEqual(read('name,\na,x\n').headers, ['name', '']);
  assert.deepEqual(read('name,n\na,1,x\n').records, [['a', '1', 'x']], 'a value beyond the last column is not dropped');
});

test('numbers for people are read where they cannot be other numbers', async () => {
  const { areWritten, plainNumber } = await load('pages/data/table/numbers.ts');
  for (const values of [['1 234,50'], ['1,5', '2', null], ['1\u00a0234'], ['1’234,5', ''], ['1.234,50'], ['-3,25', '1 000']]) assert.ok(areWritten(values), values.join());
  for (const values of [['1,234'], ['1.234'], ['1', '2'], [], ['12,34', 'x'], ['1 23'], ['1,2,3'], ['01.02.2026']]) assert.ok(!areWritten(values), values.join());
  assert.deepEqual(['1 234,50', '-3,25', '1’234', '1.234,5', '7'].map(plainNumber), ['1234.50', '-3.25', '1234', '1234.5', '7']);
});

test('a point is no group where spaces are', async () => {
  const { areWritten } = await load('pages/data/table/numbers.ts');
  assert.ok(!areWritten(['1 200', '1.500']));
  assert.ok(areWritten(['1 200', '1,500']));
});

test('numbers that a column of reals rounds are told', async () => {
  const { keepsDigits, readNumbers } = await load('pages/data/table/numbers.ts');
  for (const text of ['0', '-0.50', '1e3', '1500000', '0.1', '123456789012345', '1E-7', '00012.500']) assert.ok(keepsDigits(text), text);
  for (const text of ['40817810099910004312', '9007199254740993', '0.12345678901234567891', '1e-400']) assert.ok(!keepsDigits(text), text);
  const sheet = { headers: ['a', 'b', 'c'], records: [['40817810099910004312', '40817810099910004312', '1,5'], ['word', null, '1 000']], lines: [2, 3], blankLines: 0, blankColumns: 0 };
  const columns = new Map([['a', 'text'], ['b', 'real'], ['c', 'real']].map(([name, type]) => [name, { name, type, nullable: true, system: false }]));
  const { read, rounded, sheet: now } = readNumbers(sheet, ['a', 'b', 'c'], columns);
  assert.deepEqual([read, rounded, now.records[1]], [['c'], ['b'], ['word', null, '1000']]);
});

test('what a number would not keep stays text', async () => {
  const { columnsOf } = await load('pages/data/table/columns-of-file.ts');
  const typeOf = (...values) => columnsOf({ headers: ['c'], records: values.map((value) => [value]), lines: [], blankLines: 0, blankColumns: 0 })[0].type;
  for (const values of [
    ['40817810099910004312'], ['9223372036854775808'], ['-9223372036854775809'], ['1', '40817810099910004312'], ['9007199254740993', '1.5'], ['0.12345678901234567891'],
    ['+77011234567'], ['+49 301 234 567'], ['87011234567', ' +77011234567'], ['007'], [' 007'], ['-007'], ['0 800 123 456'], ['2026-01-01T00:00:00.123456789Z'],
  ]) assert.equal(typeOf(...values), 'text', values.join());
  for (const values of [['9223372036854775807'], ['-9223372036854775808'], ['9007199254740993'], ['0'], ['-5', '12'], ['1 234']]) assert.equal(typeOf(...values), 'integer', values.join());
  for (const values of [['1.50'], ['0.5', '-0.25'], ['1e3'], ['1 234,50'], ['3', '2.25']]) assert.equal(typeOf(...values), 'real', values.join());
  assert.equal(typeOf('2026-01-01T00:00:00.123456Z'), 'timestamp');
});

test('the rows for a new table have the names and types that its columns have by now', async () => {
  const { planOf, rowsOf } = await load('pages/data/table/create-plan.ts');
  const sheet = read('Amount;Account;Note\n1 234,50;40817810099910004312;x\n2,5;2;\n', ';');
  const draft = (name, type) => ({ name, type, nullable: true, byDefault: null });
  const columns = [draft('sum', 'real'), draft('account', 'text'), draft('', 'text')];
  const plan = planOf(sheet, [0, 1, 2], columns);
  assert.deepEqual([plan.mapping, plan.numbers.read], [['0', '1', null], ['0']]);
  assert.equal(rowsOf(plan, columns, new Set()), 'sum,account\n1234.5,40817810099910004312\n2.5,2');
  assert.deepEqual(planOf(sheet, [0, 1, null], [columns[0], draft('account', 'real')]).numbers.rounded, ['1']);
});

test('rows that do not fit into a new table are known before it is created', async () => {
  const { planOf, rowsOf } = await load('pages/data/table/create-plan.ts');
  const sheet = read('name,n\na,1\nb,2,x\nc,many\nd,4\n');
  const columns = [{ name: 'name', type: 'text', nullable: true, byDefault: null }, { name: 'n', type: 'integer', nullable: true, byDefault: null }];
  const plan = planOf(sheet, [0, 1], columns);
  assert.deepEqual(plan.refused.map(({ line, column, problem }) => [line, column, problem]), [[3, '', 'width'], [4, '1', 'integer']]);
  assert.equal(rowsOf(plan, columns, new Set(plan.refused.map(({ index }) => index))), 'name,n\na,1\n\n\nd,4');
  assert.equal(planOf(sheet, [null, null], columns).hasColumns, false);
});

test('a table for a file has names that the server takes and the narrowest types', async () => {
  const { columnsOf, tableNameOf } = await load('pages/data/table/columns-of-file.ts');
  const headers = ['E-mail', 'Amount', 'Paid', 'Due', 'Code', 'Имя', 'e mail', 'id', 'order', '2nd', 'Extra'];
  const record = ['a@b.example', '1 234,50', 'yes', '2026-11-28', '007', 'Айгерим', 'x', '1', '4', '12', '{"a":1}'];
  const columns = columnsOf({ headers, records: [record], lines: [2], blankLines: 0, blankColumns: 0 });
  assert.deepEqual(columns.map((column) => column && `${column.name} ${column.type}`), [
    'e_mail text', 'amount real', 'paid boolean', 'due timestamp', 'code text', 'column_6 text', 'e_mail_2 text', null, 'order_ integer', 'c_2nd integer', 'extra json',
  ]);
  assert.equal(tableNameOf('Orders 2026.csv'), 'orders_2026');
});

test('columns are found by their letters, and never twice', async () => {
  const { guessMapping } = await load('pages/data/table/import-plan.ts');
  const column = (name) => ({ name, type: 'text', nullable: true, system: false });
  assert.deepEqual(guessMapping(['E-mail', 'First Name', 'E mail', 'other'], [column('email'), column('firstname')]), ['email', 'firstname', null, null]);
  assert.deepEqual(guessMapping(['E-mail', 'email'], [column('email')]), [null, 'email']);
});
