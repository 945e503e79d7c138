// The pages of the console, found by their folders: `src/pages/NAME/page.ts`, and the styles beside it.

import { readdirSync } from 'node:fs';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Pages that exist in development builds only. */
const DEVELOPMENT_PAGES = ['gallery', 'city-fixture'];

/** Returns each page's name, the path of its `page.ts`, and those of its style sheets. */
export function findPages(root, { dev }) {
  const folder = join(root, 'src/pages');
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, 'page.ts')))
    .map((entry) => entry.name)
    .filter((name) => dev || !DEVELOPMENT_PAGES.includes(name))
    .sort();
  return names.map((name) => ({
    name,
    page: join(folder, name, 'page.ts'),
    styles: readdirSync(join(folder, name)).filter((file) => file.endsWith('.css')).sort().map((file) => join(folder, name, file)),
  }));
}

/** Provides `virtual:pages`: the definitions of all pages, and the address of each one's style sheet. */
export function pagesPlugin(pages, stylesheets) {
  return {
    name: 'pages',
    setup(build) {
      build.onResolve({ filter: /^virtual:pages$/ }, () => ({ path: 'pages', namespace: 'virtual' }));
      build.onLoad({ filter: /^pages$/, namespace: 'virtual' }, () => {
        const imports = pages.map(({ page }, index) => `import page${index} from ${JSON.stringify(page)};`);
        const list = pages.map(({ name }, index) => `{ name: ${JSON.stringify(name)}, stylesheet: ${JSON.stringify(stylesheets[name] ?? null)}, page: page${index} }`);
        return { contents: `${imports.join('\n')}\nexport const pages = [${list.join(', ')}];`, resolveDir: build.initialOptions.absWorkingDir };
      });
    },
  };
}
