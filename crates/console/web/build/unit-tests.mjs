// Tests that need no browser, run by Node: `src/**/*.test.mjs`, bundled, and `tests/*.test.mjs` about the sources.

import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { ROOT } from './bundle.mjs';

const OUTPUT = join(ROOT, '.generated/tests');

/** Runs every test. Returns what failed, or `null`. */
export async function runUnitTests() {
  const entryPoints = readdirSync(join(ROOT, 'src'), { recursive: true }).filter((path) => path.endsWith('.test.mjs')).map((path) => join(ROOT, 'src', path));
  rmSync(OUTPUT, { recursive: true, force: true });
  await esbuild.build({ entryPoints, absWorkingDir: ROOT, outdir: OUTPUT, outbase: 'src', bundle: true, platform: 'node', format: 'esm', outExtension: { '.js': '.mjs' }, jsx: 'automatic', jsxImportSource: 'preact', sourcemap: 'inline', logLevel: 'silent' });
  const tests = (folder) => readdirSync(folder, { recursive: true }).filter((path) => path.endsWith('.test.mjs')).map((path) => join(folder, path));
  const files = [...tests(OUTPUT), ...tests(join(ROOT, 'tests'))];
  try {
    execFileSync('node', ['--enable-source-maps', '--test', '--test-reporter=spec', ...files], { encoding: 'utf8', stdio: 'pipe' });
    return null;
  } catch (error) {
    const output = `${error.stdout}${error.stderr}`;
    return output.slice(Math.max(0, output.indexOf('failing tests:'))).trim();
  }
}
