// What the console says of an app, a run and a workspace: only what happened, and wherever somebody looks.

import { failUntilTold } from '../failing-app.mjs';
import { failed, prepare } from '../failed-runs.mjs';

const row = (page, name) => page.getByRole('row', { name: new RegExp(name) });
const building = (page, name) => page.locator(`a.city-building[aria-label^="${name}"]`);

async function until(check, what) {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline;) {
    if (await check()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(what);
}

async function blockedApp(api, world) {
  const manifest = { name: 'Blocked', description: 'Calls a host that it may not.', archetype: 'bank', category: 'interface', triggers: [{ type: 'manual' }] };
  const files = { 'main.js': "export default { async scheduled() { await fetch('https://api.example.com/orders'); } };" };
  const app = await api('POST', `/v1/workspaces/${world.ws}/apps`, { name: 'Blocked', manifest, files });
  const automation = await api('POST', `/v1/workspaces/${world.ws}/automations`, { name: 'Call', appId: app.id, trigger: { type: 'manual' }, retries: 0 });
  const { runId } = await api('POST', `/v1/automations/${automation.id}/run`, {});
  await until(async () => (await api('GET', `/v1/runs/${runId}`)).status === 'blocked', 'The run was not blocked.');
  await until(async () => (await api('GET', `/v1/apps/${app.id}`)).status === 'warning', 'The app has no warning.');
  return app;
}

/** Starts an app by hand that fails: such a run leaves no dead letter, and one alone tells nobody. */
async function failedApp(api, world) {
  const manifest = { name: 'Broken', description: 'Fails whenever it runs.', archetype: 'workshop', category: 'interface', triggers: [{ type: 'manual' }] };
  const files = { 'main.js': "export default { scheduled() { throw new Error('Never works'); } };" };
  const app = await api('POST', `/v1/workspaces/${world.ws}/apps`, { name: 'Broken', manifest, files });
  const automation = await api('POST', `/v1/workspaces/${world.ws}/automations`, { name: 'Break', appId: app.id, trigger: { type: 'manual' }, retries: 0 });
  const { runId } = await api('POST', `/v1/automations/${automation.id}/run`, {});
  await until(async () => (await api('GET', `/v1/runs/${runId}`)).status === 'failed', 'The run did not fail.');
  return app;
}

/** Lets a run ask a question. */
async function askedRun(api, base, world) {
  const waiting = async () => (await api('GET', `/v1/workspaces/${world.ws}/runs?status=waiting_approval`)).items.length > 0;
  await prepare(api, base, world, [{ ask: true }], waiting);
}

export default [
  {
    name: 'an app that never ran is grey, and one whose run was blocked is not healthy',
    run: async ({ page, base, api, world, expect }) => {
      const app = await blockedApp(api, world);
      await page.goto(`${base}/w/${world.ws}/apps`);
      await row(page, 'Notebook').getByText('Not seen to work yet').waitFor();
      await row(page, 'Blocked').getByText('Warning').waitFor();
      expect((await page.locator('.status.tone-ok').filter({ hasText: 'Healthy' }).count()) === 0, 'An app is called healthy that was never seen to work.');
      await page.goto(`${base}/w/${world.ws}/apps/${app.id}`);
      await page.getByText('1 run was blocked in the last 24 hours.').waitFor();
      await page.goto(`${base}/w/${world.ws}`);
      await building(page, 'Blocked, Warning').waitFor();
    },
  },
  {
    name: 'the state of an app that is shown follows what happens to it',
    run: async ({ page, base, api, world }) => {
      const manifest = { name: 'Quiet', description: 'Does nothing.', archetype: 'workshop', category: 'interface', triggers: [{ type: 'manual' }] };
      const app = await api('POST', `/v1/workspaces/${world.ws}/apps`, { name: 'Quiet', manifest, files: { 'main.js': 'export default { async scheduled() {} };' } });
      const automation = await api('POST', `/v1/workspaces/${world.ws}/automations`, { name: 'Be quiet', appId: app.id, trigger: { type: 'manual' } });
      await page.goto(`${base}/w/${world.ws}/apps/${app.id}`);
      await page.locator('.app-status').getByText('Not seen to work yet').waitFor();
      const other = await page.context().newPage();
      await other.goto(`${base}/w/${world.ws}/apps`);
      await row(other, 'Quiet').getByText('Not seen to work yet').waitFor();
      await api('POST', `/v1/automations/${automation.id}/run`, {});
      await page.locator('.app-status').getByText('Healthy').waitFor();
      await row(other, 'Quiet').getByText('Healthy').waitFor();
      await other.close();
    },
  },
  {
    name: 'an app that ran and failed is not said not to have run',
    run: async ({ page, base, api, world, expect }) => {
      const app = await failedApp(api, world);
      await page.goto(`${base}/w/${world.ws}/apps`);
      await row(page, 'Broken').getByText('Not seen to work yet').waitFor();
      await page.goto(`${base}/w/${world.ws}/apps/${app.id}`);
      await page.locator('.app-runs').getByText('Failed').waitFor();
      await page.locator('.app-status').getByText('Not seen to work yet').waitFor();
      expect((await page.getByText('Not run yet').count()) === 0, 'An app that ran is said not to have run.');
    },
  },
  {
    name: 'an app that people are told of is failing in every list, and the filter finds it',
    run: async ({ page, base, api, world }) => {
      await failUntilTold(api, world, { name: 'Payments' });
      await page.goto(`${base}/w/${world.ws}/apps?status=failing`);
      await row(page, 'Payments').getByText('Failing').waitFor();
      await page.goto(`${base}/w/${world.ws}`);
      await page.locator('.page-lead').getByText('1 app is failing.').waitFor();
      await building(page, 'Payments, Failing').waitFor();
      await page.locator('.city-names').getByText('Payments').waitFor({ state: 'attached' });
    },
  },
  {
    name: 'an app that was seen to work is green',
    run: async ({ page, base, api, world }) => {
      const { runId } = await api('POST', `/v1/automations/${world.automation}/run`, { input: { title: 'Hello' } });
      await until(async () => (await api('GET', `/v1/runs/${runId}`)).status === 'succeeded', 'The run did not succeed.');
      await page.goto(`${base}/w/${world.ws}/apps`);
      await row(page, 'Notebook').getByText('Healthy').waitFor();
    },
  },
  {
    name: 'the overview does not say that all is in order of apps that nobody saw to work, nor of paused ones and drafts',
    run: async ({ page, base, api, world, expect }) => {
      const lead = page.locator('.page-lead');
      const { items } = await api('GET', `/v1/workspaces/${world.ws}/apps`);
      await page.goto(`${base}/w/${world.ws}`);
      await lead.getByText(`Not seen to work in the last seven days: ${items.length} of ${items.length} active`).click();
      await page.waitForURL('**/apps?status=unobserved');
      await row(page, 'Notebook').getByText('Not seen to work yet').waitFor();
      await page.goto(`${base}/w/${world.ws}/apps?status=healthy`);
      await page.getByText('No app fits these filters').waitFor();
      for (const { id } of items) await api('PATCH', `/v1/apps/${id}`, { paused: true });
      await page.goto(`${base}/w/${world.ws}`);
      await lead.getByText(items.length === 1 ? 'The only app is paused.' : `All ${items.length} apps are paused.`).waitFor();
      for (const { id } of items) await api('DELETE', `/v1/apps/${id}`);
      await api('POST', `/v1/workspaces/${world.ws}/apps`, { name: 'Plan of a bank', archetype: 'bank' });
      await page.goto(`${base}/w/${world.ws}`);
      await lead.getByText('The only app is a draft: it has no version yet.').waitFor();
      expect((await page.getByText('Everything is in order').count()) === 0, 'The headline says that all is well.');
    },
  },
  {
    name: 'a run that waits for somebody is seen in the rail, on its building and first of all in the town',
    run: async ({ page, base, api, world }) => {
      await askedRun(api, base, world);
      await page.goto(`${base}/w/${world.ws}`);
      await page.locator('.page-lead').getByText('1 question waits for somebody.').waitFor();
      await page.locator('.rail-count.is-ask').getByText('1').waitFor();
      await page.locator('.city-lamp.is-ask').waitFor();
      await page.locator('.page-lead a').click();
      await page.getByText('Send the invoice?').first().waitFor();
    },
  },
  {
    name: 'open dead letters are counted by the server, not by what was read',
    run: async ({ page, base, api, world }) => {
      await prepare(api, base, world, Array.from({ length: 12 }, (_, n) => ({ n })), failed(api, world, 12));
      await page.route('**/v1/workspaces/*/dead-letters*', (route) => route.fulfill({ json: { items: [], nextCursor: null } }));
      await page.goto(`${base}/w/${world.ws}`);
      await row(page, 'Strict').getByRole('link', { name: '12', exact: true }).waitFor();
      await page.locator('.city-line').getByText('12 open dead letters').waitFor();
    },
  },
  {
    name: 'the search finds objects by a part of their name, opens a pasted id, and begins with what was looked at last',
    run: async ({ page, base, api, world, expect }) => {
      const { runId } = await api('POST', `/v1/automations/${world.automation}/run`, {});
      await page.goto(`${base}/w/${world.ws}/settings`);
      await page.getByLabel('Name', { exact: true }).waitFor();
      const type = async (text) => {
        await page.keyboard.press('ControlOrMeta+k');
        await page.getByRole('dialog').getByRole('combobox').fill(text);
      };
      await type('teboo');
      await page.getByRole('option', { name: /Notebook.*App/ }).waitFor();
      await page.getByRole('option', { name: /Notebook.*App/ }).click();
      await page.waitForURL(`**/apps/${world.app}`);
      await page.getByRole('heading', { name: 'Notebook', level: 1 }).waitFor();
      await type(runId);
      await page.getByRole('option', { name: /Run/ }).first().waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/runs/${runId}`);
      await page.keyboard.press('ControlOrMeta+k');
      expect(/Notebook/.test(await page.getByRole('option').first().textContent()), 'What was looked at last is not first.');
      await page.keyboard.press('Escape');
      await type('starter da');
      await page.getByRole('option', { name: /Starter data.*Project/ }).waitFor();
      await page.keyboard.press('Escape');
      await type('zzz nothing is called this');
      await page.getByText('Nothing matches', { exact: false }).waitFor();
    },
  },
  {
    name: 'from a failed run, the editor opens at the place of the error, tries its input, and replays it with what is published',
    run: async ({ page, base, api, world, expect }) => {
      await prepare(api, base, world, [{ customer: 'Aru' }], failed(api, world, 1));
      const { items } = await api('GET', `/v1/workspaces/${world.ws}/runs?status=failed`);
      await page.goto(`${base}/w/${world.ws}/runs/${items[0].id}`);
      await page.getByRole('link', { name: 'Edit the code' }).click();
      await page.locator('.cm-content').first().waitFor();
      expect(/at=\d+%3A\d+|at=\d+:\d+/.test(page.url()), `The address names no place: ${page.url()}`);
      await page.locator('.draft .cm-content').filter({ hasText: 'Aru' }).waitFor();
      await page.locator('.cm-content').first().click();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.insertText('export default { async scheduled() { return { fixed: true }; } };\n');
      await page.getByRole('button', { name: 'Save and replay…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Publish version' }).click();
      await page.waitForURL((url) => /\/runs\/run_/.test(url.pathname) && !url.pathname.includes(items[0].id));
      await page.getByText('Succeeded', { exact: false }).first().waitFor();
    },
  },
  {
    name: 'thousands of runs are listed without drawing each of them',
    run: async ({ page, base, api, world, expect }) => {
      const { runId } = await api('POST', `/v1/automations/${world.automation}/run`, {});
      await until(async () => (await api('GET', `/v1/workspaces/${world.ws}/runs`)).items.length > 0, 'There is no run.');
      const [run] = (await api('GET', `/v1/workspaces/${world.ws}/runs`)).items;
      expect(run.id === runId, 'Another run is the newest.');
      const PAGES = 12;
      await page.route(/\/v1\/workspaces\/[^/]+\/runs(\?|$)/, (route) => {
        const cursor = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
        const items = Array.from({ length: 200 }, (_, index) => ({ ...run, id: `run_${String(cursor * 200 + index).padStart(26, '0')}` }));
        return route.fulfill({ json: { items, nextCursor: cursor + 1 < PAGES ? String(cursor + 1) : null } });
      });
      await page.goto(`${base}/w/${world.ws}/runs`);
      await page.locator('.list-table tr[data-index="0"]').waitFor();
      await until(async () => {
        await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
        // Rows out of sight are drawn for a moment when they come.
        return page.evaluate((last) => (document.querySelector(`tr[data-index="${last}"]`)?.getBoundingClientRect().top ?? Infinity) < innerHeight, PAGES * 200 - 1);
      }, 'The end of the list does not come.');
      const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
      expect(nodes < 12_000, `The page has ${nodes} nodes.`);
      await page.locator(`tr[data-index="${PAGES * 200 - 1}"]`).focus();
      await page.keyboard.press('k');
      const index = await page.evaluate(() => document.activeElement?.getAttribute('data-index'));
      expect(index === String(PAGES * 200 - 2), `The key went to row ${index}.`);
      await page.evaluate(() => window.scrollTo(0, 0));
      await page.locator('tr[data-index="0"]').waitFor();
    },
  },
  {
    name: 'runs are counted by time, and a bar narrows the list to its time',
    run: async ({ page, base, api, world, expect }) => {
      const { runId } = await api('POST', `/v1/automations/${world.automation}/run`, { input: { title: 'Hello' } });
      await until(async () => (await api('GET', `/v1/runs/${runId}`)).status === 'succeeded', 'The run did not succeed.');
      await page.goto(`${base}/w/${world.ws}/runs`);
      const bars = page.getByRole('figure', { name: 'Runs by time' });
      await bars.getByText(/^1 run from/).waitFor();
      await bars.getByRole('button', { name: /: 1, of which 0 failed/ }).click();
      await until(async () => new URL(page.url()).searchParams.has('from'), 'The bar did not narrow the list.');
      await row(page, 'Notebook').waitFor();
      await page.goto(`${base}/w/${world.ws}/runs?to=2020-01-02T00:00:00Z`);
      await bars.getByText(/^0 runs from/).waitFor();
      expect((await row(page, 'Notebook').count()) === 0, 'A run of today is in a list that ends in 2020.');
      await bars.getByRole('button', { name: 'Any time' }).click();
      await row(page, 'Notebook').waitFor();
    },
  },
  {
    name: 'a quiet automation shows its own runs beside a busy one, and one that never ran says so',
    run: async ({ page, base, api, world, expect }) => {
      const create = (name) => api('POST', `/v1/workspaces/${world.ws}/automations`, { name, appId: world.app, trigger: { type: 'manual' }, retries: 0 });
      const [quiet, busy] = [await create('Quiet'), await create('Busy')];
      await create('Unused');
      const start = ({ id }) => api('POST', `/v1/automations/${id}/run`, { input: { title: 'Hello' } });
      const { runId } = await start(quiet);
      await until(async () => (await api('GET', `/v1/runs/${runId}`)).status === 'succeeded', 'The run did not succeed.');
      for (let sent = 0; sent < 210; sent += 30) await Promise.all(Array.from({ length: 30 }, () => start(busy)));
      const newest = await api('GET', `/v1/workspaces/${world.ws}/runs?limit=200`);
      expect(newest.items.every(({ roadId }) => roadId === busy.id), 'The quiet automation is among the newest runs.');
      await page.goto(`${base}/w/${world.ws}/automations`);
      await row(page, 'Quiet').getByText('Succeeded').waitFor();
      await row(page, 'Unused').getByText('No runs').waitFor();
      await row(page, 'Busy').getByRole('img', { name: 'The latest 12 runs' }).waitFor();
    },
  },
  {
    name: 'a webhook whose sender signs wrongly says that calls arrive',
    run: async ({ page, base, api, world }) => {
      const automation = await api('POST', `/v1/workspaces/${world.ws}/automations`, { name: 'Orders', appId: world.app, trigger: { type: 'webhook' }, retries: 0 });
      const { address } = await api('PUT', `/v1/automations/${automation.id}/webhook`, { mode: 'signed' });
      await page.goto(`${base}/w/${world.ws}/automations/${automation.id}/webhook`);
      await page.getByText('No call has arrived').first().waitFor();
      await fetch(base + new URL(address).pathname, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
      await page.getByText('1 call was refused in the last hour').waitFor();
      await page.getByText('The last one: the signature does not match').waitFor();
    },
  },
  {
    name: 'a plan that waits is on the page of the workspace and of its app until it is approved',
    run: async ({ page, base, api, world, expect }) => {
      const plan = await api('POST', `/v1/apps/${world.app}/changes`, { instruction: 'Each run saves 5 minutes.' });
      const plans = page.getByRole('table', { name: '1 plan waits for you' });
      for (const path of [`/w/${world.ws}`, `/w/${world.ws}/apps/${world.app}/changes`]) {
        await page.goto(base + path);
        await plans.getByRole('link', { name: plan.summary }).waitFor();
      }
      await plans.getByRole('link', { name: plan.summary }).click();
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByText('The change is live.').waitFor();
      await page.goto(`${base}/w/${world.ws}`);
      await page.locator('.city').waitFor();
      await until(async () => (await plans.count()) === 0, 'A plan that was approved still waits.');
      expect((await api('GET', `/v1/workspaces/${world.ws}/changes`)).items.length === 0, 'The server still lists it.');
    },
  },
];
