// What the console has to hold to: `node check.mjs`. Prints what does not, and fails.
//
// Types, unit tests, complete and used messages, the rules of the security policy, and the size of the first load.

import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import * as esbuild from 'esbuild';
import { generateApiTypes } from './build/api-types.mjs';
import { ROOT, bundle } from './build/bundle.mjs';
import { runUnitTests } from './build/unit-tests.mjs';

/** Bytes that a browser loads before the first page, with brotli. */
const MAX_FIRST_LOAD = 150_000;
const FIRST_LOAD = ['document', 'head', 'style', 'entry', 'initial'];

/** What the policy forbids or would let slip, and why it is not written. */
const FORBIDDEN = [
  [/\b(innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write)\b/, 'markup as text; Trusted Types refuse it'],
  [/\bstyle=(["'`]|\{["'`])/, 'a style as text; use a class, or an object of custom properties'],
  [/\.cssText\b|setAttribute\(\s*['"]style['"]/, 'a style as text; use a class'],
  [/\b(eval|Function)\(/, 'code as text'],
];

const problems = [];

function sources() {
  return readdirSync(join(ROOT, 'src'), { recursive: true })
    .map((path) => join(ROOT, 'src', path))
    .filter((path) => /\.tsx?$/.test(path) && statSync(path).isFile())
    .map((path) => ({ path, name: relative(ROOT, path), text: readFileSync(path, 'utf8') }));
}

function checkTypes() {
  try {
    execFileSync('node', [join(ROOT, 'node_modules/typescript-native/bin/tsc'), '-p', ROOT], { encoding: 'utf8' });
  } catch (error) {
    problems.push(error.stdout.trim());
  }
}

function checkForbidden(files) {
  for (const { name, text } of files) {
    text.split('\n').forEach((line, index) => {
      for (const [pattern, reason] of FORBIDDEN) if (pattern.test(line)) problems.push(`${name}:${index + 1}: ${reason}`);
    });
  }
}

/** Runs a file of messages with a `defineMessages` that returns the catalogues. */
async function cataloguesOf(path) {
  const stub = { name: 'i18n', setup: (build) => {
    build.onResolve({ filter: /^#i18n/ }, () => ({ path: 'i18n', namespace: 'stub' }));
    build.onLoad({ filter: /.*/, namespace: 'stub' }, () => ({ contents: 'export const defineMessages = (catalogues) => catalogues;' }));
  } };
  const { outputFiles } = await esbuild.build({ entryPoints: [path], bundle: true, write: false, format: 'esm', plugins: [stub], logLevel: 'silent' });
  const module = await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
  return Object.values(module)[0];
}

const placeholders = (message) => new Set((typeof message === 'string' ? [message] : Object.values(message)).flatMap((form) => [...form.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)));

async function checkMessages(files) {
  for (const { path, name } of files.filter((file) => file.name.endsWith('/messages.ts') && !file.name.startsWith('src/i18n'))) {
    const { en, ...others } = await cataloguesOf(path);
    const folder = path.slice(0, path.lastIndexOf('/'));
    const users = files.filter((file) => file.path.startsWith(`${folder}/`) && file.path !== path).map((file) => file.text).join('\n');
    for (const [key, message] of Object.entries(en)) {
      for (const [language, messages] of Object.entries(others)) {
        if (!messages[key]) problems.push(`${name}: “${key}” is missing in ${language}`);
        else for (const placeholder of placeholders(message)) if (!placeholders(messages[key]).has(placeholder)) problems.push(`${name}: “${key}” in ${language} does not have {${placeholder}}`);
      }
      if (!isUsed(key, users)) problems.push(`${name}: “${key}” is not used`);
    }
    for (const [language, messages] of Object.entries(others)) for (const key of Object.keys(messages)) if (!(key in en)) problems.push(`${name}: “${key}” in ${language} is not in en`);
  }
}

/** A key is used as `t('key'`, `t.rich('key'`, or as one of a family: `` t(`run_${status}`) ``. */
function isUsed(key, users) {
  if (users.includes(`'${key}'`)) return true;
  return [...users.matchAll(/`(\w+_)\$\{/g)].some(([, family]) => key.startsWith(family));
}

async function checkSize() {
  const { files } = await bundle({ dev: false });
  const sizes = files.filter(({ role }) => FIRST_LOAD.includes(role)).map(({ path, contents }) => ({ path, size: brotliCompressSync(contents).length }));
  const total = sizes.reduce((sum, { size }) => sum + size, 0);
  console.log(`first load: ${total.toLocaleString('en')} bytes with brotli`);
  if (total > MAX_FIRST_LOAD) problems.push(`The first load has ${total} bytes; at most ${MAX_FIRST_LOAD} are allowed. ${sizes.map(({ path, size }) => `${path} ${size}`).join(', ')}`);
}

await generateApiTypes();
const files = sources();
checkTypes();
const failedTests = await runUnitTests();
if (failedTests) problems.push(failedTests);
checkForbidden(files);
await checkMessages(files);
await checkSize();
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
