// The types of the runtime, read without a compiler.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import ts from 'typescript';
import { load } from './load.mjs';

const { parseRuntimeTypes, membersOf } = await load('ui/runtime-types.ts');
const FILE = new URL('../../../api/src/routes/docs/qala.d.ts', import.meta.url);
const text = readFileSync(FILE, 'utf8');
const types = parseRuntimeTypes(text);
const names = (...expression) => membersOf(types, expression).map(({ name }) => name);

test('every global and every member that the compiler finds is found', () => {
  const source = ts.createSourceFile('qala.d.ts', text, ts.ScriptTarget.ES2023);
  const globals = new Set();
  const missing = [];
  const check = (owner, nodes) => {
    for (const node of nodes) {
      if (!node.name || ts.isConstructorDeclaration(node)) continue;
      const isStatic = (node.modifiers ?? []).some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword);
      const known = types.members.get(isStatic ? `static ${owner}` : owner) ?? [];
      const name = node.name.getText(source);
      if (/^\w+$/.test(name) && !known.some((member) => member.name === name)) missing.push(`${owner}.${name}`);
    }
  };
  const visit = (node) => {
    if (ts.isModuleDeclaration(node)) node.body.statements.forEach(visit);
    else if (ts.isClassDeclaration(node)) { globals.add(node.name.text); check(node.name.text, node.members); }
    else if (ts.isInterfaceDeclaration(node) && node.getText(source).includes('\n')) check(node.name.text, node.members);
    else if (ts.isFunctionDeclaration(node)) globals.add(node.name.text);
    else if (ts.isVariableStatement(node)) for (const { name, type } of node.declarationList.declarations) {
      globals.add(name.text);
      if (type && ts.isTypeLiteralNode(type)) check(name.text, type.members);
    }
  };
  source.statements.forEach(visit);
  assert.deepEqual(missing, []);
  assert.deepEqual(new Set(types.globals.map(({ name }) => name)), globals);
  assert.ok(globals.size > 40, `only ${globals.size} globals`);
});

test('what follows an expression has the members of its type', () => {
  assert.deepEqual(names('env'), ['data', 'connections', 'secrets']);
  assert.deepEqual(names('env', 'data'), [], 'the names are those of the manifest');
  assert.deepEqual(names('env', 'data', 'shop'), ['select', 'get', 'insert', 'update', 'delete']);
  assert.deepEqual(names('env', 'connections', 'crm'), ['fetch']);
  assert.deepEqual(names('ctx'), ['waitUntil', 'passThroughOnException', 'approval']);
  assert.ok(names('event').includes('scheduledTime'));
  assert.ok(names('request').includes('json') && names('request').includes('headers'), 'with the members of a body');
  assert.ok(names('request', 'headers').includes('get'));
  assert.ok(names('crypto', 'subtle').includes('importKey'));
  assert.deepEqual(names('Response').sort(), ['error', 'json', 'redirect'], 'a class has what is static');
  assert.deepEqual(names('nothing'), []);
  assert.deepEqual(names('ctx', 'approval'), []);
});

test('a member has its signature and what is said of it', () => {
  const approval = membersOf(types, ['ctx']).find(({ name }) => name === 'approval');
  assert.equal(approval.signature, 'approval(question: { title: string; detail?: string | null }): Promise<Approval>');
  assert.match(approval.comment, /^Asks a person\./);
  const status = membersOf(types, []).find(({ name }) => name === 'fetch');
  assert.equal(status.signature, 'fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>');
});
