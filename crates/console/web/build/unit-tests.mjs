// Unit tests of what needs no browser: `src/**/*.test.mjs`, bundled and run by Node.

import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { ROOT } from './bundle.mjs';

const OUTPUT = join(ROOT, '.generated/tests');

/** Runs every test. Returns what failed, or `null`. */
export async function runUnitTests() {
  const entryPoints = readdirSync(join(ROOT, 'src'), { recursive: true }).filter((path) => path.endsWith('.test.mjs')).map((path) => join(ROOT, 'src', path));
  if (entryPoints.length === 0) return null;
  rmSync(OUTPUT, { recursive: true, force: true });
  await esbuild.build({ entryPoints, absWorkingDir: ROOT, outdir: OUTPUT, outbase: 'src', bundle: true, platform: 'node', format: 'esm', outExtension: { '.js': '.mjs' }, jsx: 'automatic', jsxImportSource: 'preact', sourcemap: 'inline', logLevel: 'silent' });
  const files = readdirSync(OUTPUT, { recursive: true }).filter((path) => path.endsWith('.test.mjs')).map((path) => join(OUTPUT, path));
  try {
    execFileSync('node', ['--enable-source-maps', '--test', '--test-reporter=spec', ...files], { encoding: 'utf8', stdio: 'pipe' });
    return null;
  } catch (error) {
    const output = `${error.stdout}${error.stderr}`;
    return output.slice(Math.max(0, output.indexOf('failing tests:'))).trim();
  }
}
