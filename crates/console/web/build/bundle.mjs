// The bundle, in memory: scripts, style sheets and the document that loads them.

import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { findPages, pagesPlugin } from './pages.mjs';
import { routeFiles } from './route-files.mjs';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Path under which the server serves the files. */
export const BASE = '/console/';

const SCRIPT_TARGET = 'es2022';
const STYLE_TARGET = ['chrome123', 'firefox121', 'safari17.5'];
/** Folders whose style sheets every page loads, in the order of their cascade layers. */
const FRAME_STYLES = ['src/styles', 'src/ui', 'src/frame'];

function frameStyles() {
  return FRAME_STYLES.flatMap((folder) =>
    readdirSync(join(ROOT, folder)).filter((file) => file.endsWith('.css')).sort().map((file) => join(ROOT, folder, file)),
  );
}

function asImports(files) {
  return files.map((file) => `@import ${JSON.stringify(`./${relative(ROOT, file)}`)};`).join('\n');
}

async function bundleStyle(name, files, dev) {
  const result = await esbuild.build({
    stdin: { contents: asImports(files), loader: 'css', resolveDir: ROOT, sourcefile: `${name}.css` },
    absWorkingDir: ROOT, bundle: true, write: false, minify: !dev, target: STYLE_TARGET, logLevel: 'silent',
  });
  const contents = result.outputFiles[0].contents;
  const hash = createHash('sha256').update(contents).digest('base64url').slice(0, 8);
  return { path: `${name}-${hash}.css`, contents };
}

async function bundleScripts(pages, stylesheets, dev) {
  const result = await esbuild.build({
    entryPoints: { main: 'src/main.tsx' },
    absWorkingDir: ROOT, outdir: join(ROOT, 'out'), bundle: true, splitting: true, format: 'esm', write: false, metafile: true,
    minify: !dev, target: SCRIPT_TARGET, charset: 'utf8', legalComments: 'none', logLevel: 'silent',
    sourcemap: dev ? 'inline' : false,
    jsx: 'automatic', jsxImportSource: 'preact',
    entryNames: '[name]-[hash]', chunkNames: '[name]-[hash]',
    define: { DEVELOPMENT: String(dev) },
    plugins: [pagesPlugin(pages, stylesheets)],
  });
  const files = result.outputFiles.map(({ path, contents }) => ({ path: basename(path), contents }));
  const outputs = Object.entries(result.metafile.outputs).map(([path, output]) => [basename(path), output]);
  const [entry] = outputs.find(([, output]) => output.entryPoint === 'src/main.tsx');
  const initial = staticImports(Object.fromEntries(outputs), entry);
  return { files, entry, initial, routes: routeFiles(ROOT, pages, stylesheets, result.metafile.outputs, initial, BASE) };
}

/** Returns the entry and everything that it imports statically: what a browser fetches before the first page. */
function staticImports(outputs, entry) {
  const found = new Set([entry]);
  for (const path of found) {
    for (const imported of outputs[path].imports) {
      if (imported.kind === 'import-statement') found.add(basename(imported.path));
    }
  }
  return [...found];
}

/** Bundles the script that runs before the first paint; it knows the files of each route. */
async function bundleHead(routes, dev) {
  const result = await esbuild.build({
    entryPoints: ['src/head/index.ts'], absWorkingDir: ROOT, bundle: true, write: false, format: 'iife', minify: !dev, target: SCRIPT_TARGET,
    define: { ROUTE_FILES: JSON.stringify(routes) }, logLevel: 'silent',
  });
  const contents = result.outputFiles[0].contents;
  const hash = createHash('sha256').update(contents).digest('base64url').slice(0, 8);
  return { path: `head-${hash}.js`, contents };
}

/** Returns the tags that a document needs to load the console, in the order in which they belong into its head. */
export function headTags({ head, style, scripts }) {
  return [
    `<script src="${BASE}${head}"></script>`,
    `<link rel="stylesheet" href="${BASE}${style}">`,
    ...scripts.slice(1).map((path) => `<link rel="modulepreload" href="${BASE}${path}">`),
    `<script type="module" src="${BASE}${scripts[0]}"></script>`,
  ];
}

function documentOf(tags) {
  return [
    '<!doctype html>', '<html lang="en">', '<head>', '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">',
    '<meta name="color-scheme" content="light dark">', '<meta name="robots" content="noindex">', '<title>Qala</title>',
    '<link rel="icon" type="image/svg+xml" href="/pages/logo.svg">', ...tags, '</head>',
    '<body><noscript>Qala’s console needs JavaScript. <a href="/sign-in">Sign in without it</a>.</noscript></body>', '</html>', '',
  ].join('\n');
}

/**
 * Bundles the console.
 *
 * Each file has a `role`: `document` for the page itself, `entry`, `style` and `head` for what the server's own pages load
 * too, `initial` for what the entry imports, `lazy` for everything else.
 */
export async function bundle({ dev }) {
  const pages = findPages(ROOT, { dev });
  const [style, ...pageStyles] = await Promise.all([
    bundleStyle('frame', frameStyles(), dev),
    ...pages.filter(({ styles }) => styles.length > 0).map(async ({ name, styles }) => ({ name, file: await bundleStyle(name, styles, dev) })),
  ]);
  const stylesheets = Object.fromEntries(pageStyles.map(({ name, file }) => [name, `${BASE}${file.path}`]));
  const { files, entry, initial, routes } = await bundleScripts(pages, stylesheets, dev);
  const head = await bundleHead(routes, dev);
  const roleOf = (path) => (path === entry ? 'entry' : initial.includes(path) ? 'initial' : 'lazy');
  const tags = headTags({ head: head.path, style: style.path, scripts: initial });
  const html = new TextEncoder().encode(documentOf(tags));
  return {
    tags,
    files: [
      { path: 'index.html', contents: html, role: 'document' },
      { ...head, role: 'head' },
      { ...style, role: 'style' },
      ...pageStyles.map(({ file }) => ({ ...file, role: 'lazy' })),
      ...files.map((file) => ({ ...file, role: roleOf(file.path) })),
    ],
  };
}

const TYPES = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };

/** Returns the media type of a file of the bundle. */
export function mediaType(path) {
  return TYPES[path.split('.').at(-1)];
}
