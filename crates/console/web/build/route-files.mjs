// The files of each route, so that a browser can fetch them before the console's own module asks for them.

import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

const ROUTE = /\broute\('([^']+)', \(\) => import\('([^']+)'\)(?:, \{([^}]*)\})?\)/g;

/** Returns the routes that a `page.ts` declares: pattern, module and the pattern of the route below a panel. */
function declaredRoutes(page) {
  const source = readFileSync(page, 'utf8');
  const routes = [...source.matchAll(ROUTE)].map(([, path, module, options = '']) => ({
    path, module: join(dirname(page), module), over: /\bover: '([^']+)'/.exec(options)?.[1] ?? null,
  }));
  const count = [...source.matchAll(/\broute\(/g)].length;
  if (routes.length !== count) throw new Error(`${page}: a route is not of the form route('PATH', () => import('MODULE'), { … })`);
  return routes;
}

/**
 * Returns the modules and style sheets that each route needs beside the initial ones, as addresses and, for each pattern, indexes
 * into them.
 */
export function routeFiles(root, pages, stylesheets, outputs, initial, base) {
  const byModule = new Map(
    Object.entries(outputs).filter(([, { entryPoint }]) => entryPoint).map(([path, { entryPoint }]) => [entryPoint.replace(/\.tsx?$/, ''), path]),
  );
  const modulesOf = (module) => {
    const entry = byModule.get(relative(root, module));
    if (entry === undefined) throw new Error(`${module}: no file of the bundle starts there`);
    const found = new Set([entry]);
    for (const path of found) {
      for (const { kind, path: imported } of outputs[path].imports) if (kind === 'import-statement') found.add(imported);
    }
    return [...found].map((path) => basename(path)).filter((path) => !initial.includes(path)).map((path) => `${base}${path}`);
  };
  const declared = pages.flatMap(({ name, page }) => declaredRoutes(page).map((route) => ({ ...route, stylesheet: stylesheets[name] ?? null })));
  const filesOf = ({ module, stylesheet, over }) => {
    const below = declared.find(({ path }) => path === over);
    const own = [...modulesOf(module), ...(stylesheet === null ? [] : [stylesheet])];
    return [...new Set([...own, ...(below === undefined ? [] : filesOf(below))])];
  };
  const files = [];
  const indexOf = (file) => (files.includes(file) ? files.indexOf(file) : files.push(file) - 1);
  return { files, routes: declared.map((route) => [route.path, filesOf(route).map(indexOf)]) };
}
