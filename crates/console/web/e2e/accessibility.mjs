// Every page, found in the console's own table of addresses: no violation that axe finds, in both themes, and no overflow to the
// side on a phone.

import { readdirSync, readFileSync } from 'node:fs';
import AxeBuilder from '@axe-core/playwright';
import { startAuthorization } from './authorization.mjs';
import { failed, letters, prepare } from './failed-runs.mjs';
import { freshAddress, inviteByLink } from './second-person.mjs';
import { WORKFLOW } from './workflow.mjs';

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

/** Pages that nobody is sent to. */
const NOT_OPENED = ['/gallery', '/gallery/panel', '/gallery/city'];

/** Returns the addresses of each folder of pages, with parameters, as its `page.ts` declares them. */
function addresses() {
  const pages = new URL('../src/pages/', import.meta.url);
  const folders = readdirSync(pages).map((folder) => {
    const source = readFileSync(new URL(`${folder}/page.ts`, pages), 'utf8');
    const patterns = [...source.matchAll(/\broute\('([^']+)'/g)].map(([, pattern]) => pattern);
    return [folder, patterns.filter((pattern) => !NOT_OPENED.includes(pattern))];
  });
  return folders.filter(([, patterns]) => patterns.length > 0);
}

/** Something of each kind, so that no page is empty; by the word before a parameter in an address. */
async function createObjects({ api, base, world }) {
  // The third failure in a row is a notification.
  const automation = await prepare(api, base, world, [{ customer: 7 }, { customer: 8 }, { customer: 9 }], failed(api, world, 3));
  const tables = `/v1/backend/projects/${world.project}/tables`;
  await api('POST', tables, { name: 'products', columns: [{ name: 'name', type: 'text' }, { name: 'stock', type: 'integer' }, { name: 'sold', type: 'boolean' }] });
  await api('POST', `${tables}/products/rows`, [{ id: 'jam', name: 'Jam', stock: 3, sold: false }, { id: 'rye', name: 'Rye', stock: null, sold: null }]);
  const connection = await api('POST', `/v1/workspaces/${world.ws}/connectors/http`, { displayName: 'Orders', baseUrl: 'https://api.example.com/v1', auth: { type: 'bearer' }, methods: ['GET'], secret: 'example-secret' });
  const items = async (list) => (await api('GET', `/v1/workspaces/${world.ws}/${list}`)).items;
  const [run, gate, { user }] = await Promise.all(['runs?status=failed', 'gates', 'members'].map(async (list) => (await items(list))[0]));
  const [letter] = await letters(api, world, 'open');
  const { changeId } = await api('POST', `/v1/apps/${world.app}/changes`, { instruction: 'Let the app call api.example.com. Run it every day at 9:00. Make coffee.' });
  const imported = await api('POST', `/v1/workspaces/${world.ws}/imports`, { source: WORKFLOW });
  const invite = await inviteByLink({ api, world, email: freshAddress('invited'), role: 'viewer' });
  return {
    w: world.ws, apps: world.app, versions: 1, changes: changeId, automations: automation.id, tools: automation.id, runs: run.id, gates: gate.id, connections: connection.id, imports: imported.id, connector: 'shopify', template: 'uptime-check', 'dead-letters': letter.id, members: user.id,
    data: world.project, table: 'products', rows: 'jam', invite: invite.split('/').at(-1),
    consent: (await startAuthorization(base)).split('/').at(-1),
  };
}

function fill(pattern, objects) {
  const parts = pattern.split('/');
  return parts.map((part, at) => (part.startsWith(':') ? (objects[part.slice(1)] ?? objects[parts[at - 1]]) : part)).join('/');
}

/** Returns when the page shows its content: a heading, and nothing that is still loading. */
export async function settled(page) {
  await page.locator('h1').first().waitFor();
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"], .skeleton') === null);
}

async function violations(page, options) {
  // Pages have no frames, for which alone a page is opened otherwise.
  const builder = new AxeBuilder({ page }).setLegacyMode().options({ ...options, resultTypes: ['violations'] });
  const { violations: found } = await builder.analyze();
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} (${failureSummary?.split('\n').at(-1)?.trim()})`).slice(0, 3).join('; ')}`);
}

/** Returns what is wrong with the page at an address. Between the themes only colours differ. */
async function check(page, address) {
  await page.setViewportSize(DESKTOP);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.goto(address);
  await settled(page);
  const found = (await violations(page, { runOnly: WCAG })).map((violation) => `light: ${violation}`);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await page.evaluate(() => Promise.allSettled(document.getAnimations().filter((one) => one instanceof CSSTransition).map(({ finished }) => finished)));
  found.push(...(await violations(page, { runOnly: { type: 'rule', values: ['color-contrast'] } })).map((violation) => `dark: ${violation}`));
  await page.setViewportSize(PHONE);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (overflow > 0) found.push(`${overflow} px too wide for a phone`);
  return found.map((violation) => `${address}: ${violation}`);
}

/** Returns a journey for each folder of pages. */
export function checkPages() {
  return addresses().map(([folder, patterns]) => ({
    name: `accessibility: ${folder}`,
    run: async ({ page, browser, base, api, world, expect }) => {
      const objects = await createObjects({ api, base, world });
      const found = [];
      // Whoever is signed in is sent away from there.
      const visitor = await browser.newContext({ baseURL: base, locale: 'en-GB' });
      const seenBy = folder === 'sign-in' || folder === 'home' ? await visitor.newPage() : page;
      for (const pattern of patterns) found.push(...(await check(seenBy, fill(pattern, objects))));
      await visitor.close();
      expect(found.length === 0, found.join('\n  '));
    },
  }));
}
