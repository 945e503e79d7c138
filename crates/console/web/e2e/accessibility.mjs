// Every page in both themes: no violation that axe finds, no overflow to the side on a phone.

import AxeBuilder from '@axe-core/playwright';

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Addresses of the pages, from the ids of a starter workspace. */
const PAGES = {
  city: ({ ws }) => `/w/${ws}`,
  apps: ({ ws }) => `/w/${ws}/apps`,
  app: ({ ws, app }) => `/w/${ws}/apps/${app}`,
  'code of an app': ({ ws, app }) => `/w/${ws}/apps/${app}/code`,
  gates: ({ ws }) => `/w/${ws}/gates`,
  automations: ({ ws }) => `/w/${ws}/automations`,
  automation: ({ ws, automation }) => `/w/${ws}/automations/${automation}`,
  runs: ({ ws }) => `/w/${ws}/runs`,
  'dead letters': ({ ws }) => `/w/${ws}/dead-letters`,
  queue: ({ ws }) => `/w/${ws}/queue`,
  device: () => '/device',
  welcome: () => '/welcome',
};

/** Returns when the page shows its content: a heading, and nothing that is still loading. */
export async function settled(page) {
  await page.locator('h1').first().waitFor();
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"], .skeleton') === null);
}

async function violations(page) {
  const { violations: found } = await new AxeBuilder({ page }).withTags(WCAG).analyze();
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} (${failureSummary?.split('\n').at(-1)?.trim()})`).slice(0, 3).join('; ')}`);
}

/** Returns a journey for each page. */
export function checkPages() {
  return Object.entries(PAGES).map(([name, path]) => ({
    name: `accessibility: ${name}`,
    run: async ({ page, world, expect }) => {
      const found = [];
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await page.goto(path(world));
        await settled(page);
        found.push(...(await violations(page)).map((violation) => `${colorScheme}: ${violation}`));
      }
      await page.setViewportSize({ width: 390, height: 844 });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (overflow > 0) found.push(`${overflow} px too wide for a phone`);
      expect(found.length === 0, found.join('\n  '));
    },
  }));
}
