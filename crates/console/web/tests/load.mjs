// Loads a module of the console that does not need a browser, for a test.

import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Returns the exports of a file in `src`. */
export async function load(path) {
  const { outputFiles } = await esbuild.build({ entryPoints: [`${ROOT}src/${path}`], bundle: true, write: false, format: 'esm', target: 'es2022', logLevel: 'silent' });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
