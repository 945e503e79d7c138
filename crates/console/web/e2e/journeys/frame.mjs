// What stands around every page, and what long names do to it.

import { newPerson } from '../second-person.mjs';

const LONG_HOST = 'a-service-with-a-rather-long-name.regional-cluster-north.api.example.com';
const CODE = `export default { async scheduled() { await fetch('https://${LONG_HOST}/orders'); } };`;

async function ended(api, runId) {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline;) {
    const run = await api('GET', `/v1/runs/${runId}`);
    if (run.finishedAt !== null) return run;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('The run does not end.');
}

/** Returns how far the page is wider than the window. */
const excess = (page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

export default ['en', 'ru', 'kk'].flatMap((language) => [
  {
    name: `a long name stays inside the rail, with its role and keys (${language})`,
    run: async ({ page, base, context, world, expect }) => {
      const email = `${language}-${process.pid}-${Date.now()}@example.test`;
      const name = 'Айгерим Абдрахманова-Константинопольская';
      await context.request.post(`${base}/v1/auth/dev-login`, { data: { email, name }, headers: { origin: base } });
      const made = await context.request.post(`${base}/v1/workspaces`, { data: { name: 'Meruert', profile: 'global', teamSize: 'solo', intents: ['other'] }, headers: { origin: base } });
      const { workspace } = await made.json();
      expect(workspace.id !== world.ws, 'The person has no workspace of their own.');
      await page.addInitScript((locale) => localStorage.setItem('qala.locale', locale), language);
      await page.goto(`${base}/w/${workspace.id}/settings`);
      await page.locator('.rail-person .rail-link').waitFor();
      const outside = await page.evaluate(() => {
        const right = document.querySelector('.rail').getBoundingClientRect().right;
        return [...document.querySelectorAll('.rail-end :is(span, small, kbd)')].filter((part) => part.getBoundingClientRect().right > right).map((part) => part.textContent);
      });
      expect(outside.length === 0, `Out of the rail: ${outside.join(', ')}`);
    },
  },
  {
    name: `the button that plans a change for a long host fits a phone (${language})`,
    phone: true,
    run: async ({ page, base, api, world, expect }) => {
      const manifest = { name: 'Caller', description: 'Calls a host that it may not.', archetype: 'workshop', category: 'interface', triggers: [{ type: 'manual' }] };
      const app = await api('POST', `/v1/workspaces/${world.ws}/apps`, { name: 'Caller', manifest, files: { 'main.js': CODE } });
      const automation = await api('POST', `/v1/workspaces/${world.ws}/automations`, { name: 'Call', appId: app.id, trigger: { type: 'manual' }, retries: 0 });
      const { runId } = await api('POST', `/v1/automations/${automation.id}/run`, {});
      expect((await ended(api, runId)).status === 'blocked', 'The run was not blocked.');
      await page.addInitScript((locale) => localStorage.setItem('qala.locale', locale), language);
      await page.goto(`${base}/w/${world.ws}/runs/${runId}`);
      await page.locator('.why-actions .button').filter({ hasText: LONG_HOST }).waitFor();
      expect((await excess(page)) <= 0, `The page is ${await excess(page)} px too wide.`);
    },
  },
]).concat([
  {
    name: 'a key after G leads to each page that has one, and the help lists no key twice',
    run: async ({ page, base, world, expect }) => {
      await page.goto(`${base}/w/${world.ws}/settings`);
      await page.getByLabel('Name', { exact: true }).waitFor();
      await page.evaluate(() => document.activeElement?.blur());
      for (const [key, path] of [['a', 'apps'], ['u', 'automations'], ['g', 'tools'], ['t', 'data']]) {
        await page.keyboard.press('g');
        await page.keyboard.press(key);
        await page.waitForURL((url) => url.pathname === `/w/${world.ws}/${path}`);
      }
      await page.keyboard.press('?');
      const rows = await page.getByRole('dialog').locator('kbd').allTextContents();
      expect(rows.length > 10, 'The help lists no keys.');
    },
  },
  {
    name: 'no menu offers a command that the program does not have',
    run: async ({ page, base, world, expect }) => {
      await page.goto(`${base}/w/${world.ws}/apps/${world.app}`);
      await page.getByRole('button', { name: 'More actions' }).first().click();
      await page.getByRole('menuitem', { name: 'Copy as curl' }).waitFor();
      expect((await page.getByText('Copy as command').count()) === 0, 'The menu offers a command.');
    },
  },
  {
    name: 'a schedule that is due in 36 hours is not due tomorrow',
    options: { timezoneId: 'Asia/Almaty' },
    run: async ({ page, base, world, expect }) => {
      // A Saturday afternoon; the schedule is every Monday at 05:30.
      await page.clock.setFixedTime(new Date('2026-11-28T12:30:00Z'));
      await page.goto(`${base}/w/${world.ws}/automations/new`);
      await page.getByLabel('Cron expression').or(page.locator('input[value="0 9 * * *"]')).first().fill('30 5 * * 1');
      const first = page.locator('.automations-times li').first();
      await first.getByText('in 2 days').waitFor();
      expect(!(await first.textContent()).includes('tomorrow'), 'It says tomorrow.');
    },
  },
  {
    name: 'a person who is away has nothing of theirs on a shared browser after signing out',
    run: async ({ page, base, world, expect }) => {
      const person = await newPerson({ page, base, email: world.owner });
      await person.page.goto(`${base}/w/${world.ws}/settings`);
      await person.page.getByLabel('Name', { exact: true }).fill('Not saved');
      await person.page.waitForFunction(() => Object.keys(localStorage).some((key) => key.startsWith('qala-unsaved/')));
      await person.page.locator('.rail-person .rail-link').click();
      await person.page.getByRole('menuitem', { name: 'Sign out' }).click();
      await person.page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
      await person.page.waitForURL((url) => url.pathname === '/sign-in');
      expect(!(await person.page.evaluate(() => JSON.stringify({ ...localStorage }))).includes('Not saved'), 'The text is still in the browser.');
      await person.close();
    },
  },
  {
    name: 'a page reads each resource once, when the stream of events is open first',
    run: async ({ page, base, world, expect }) => {
      // The stream opens while the session is read.
      await page.route('**/v1/session', async (route) => {
        await page.waitForTimeout(500);
        await route.continue();
      });
      const read = [];
      page.on('request', (request) => { if (request.method() === 'GET' && new URL(request.url()).pathname.startsWith('/v1/workspaces/')) read.push(request.url()); });
      await page.goto(`${base}/w/${world.ws}`);
      await page.getByRole('heading', { name: 'City' }).waitFor();
      await page.locator('.city-line').waitFor();
      const twice = read.filter((url, index) => read.indexOf(url) !== index);
      expect(read.length > 5 && twice.length === 0, `${read.length} reads, twice: ${twice.join(' ')}`);
    },
  },
  {
    name: 'after going back, the focus is on the row that one came from',
    run: async ({ page, base, world, expect }) => {
      await page.goto(`${base}/w/${world.ws}/apps`);
      await page.locator('tr.is-link').first().focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/apps\/app_/);
      await page.locator('main:focus').waitFor();
      await page.goBack();
      await page.locator('tr.is-link:focus').waitFor();
      expect(page.url().endsWith('/apps'), 'The list is not shown.');
    },
  },
  {
    name: 'a tooltip at the foot of the window is above its button, and its reason is there for those who do not see it',
    run: async ({ page, base, world, expect }) => {
      await page.goto(`${base}/w/${world.ws}/data/${world.project}/-/new-table`);
      await page.locator('aside.panel input:focus').waitFor();
      const create = page.getByRole('button', { name: 'Create table' });
      await create.hover();
      expect((await create.getAttribute('data-tip-above')) !== null, 'The tooltip is below the window.');
      const reason = await create.getAttribute('aria-description');
      expect(reason !== null && reason === (await create.getAttribute('data-tip')), `The reason is ${reason}.`);
    },
  },
]);
