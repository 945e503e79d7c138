// What a person does in the city: looks, walks, opens, reads the same in the table, and begins where nothing is built.

import { failed, prepare } from '../failed-runs.mjs';

const building = (page, name) => page.locator(`a.city-building[aria-label^="${name}"]`);

/** Deletes every app, so that nothing is built. */
async function clear(api, ws) {
  for (const { id } of (await api('GET', `/v1/workspaces/${ws}/apps`)).items) await api('DELETE', `/v1/apps/${id}`);
}

/** Returns the width of the drawing if it is within its window, and otherwise 0. Runs in the page. */
function wholeTown() {
  const town = document.querySelector('svg.city-town').getBoundingClientRect();
  const view = document.querySelector('.city-view').getBoundingClientRect();
  const isWhole = town.left >= view.left - 1 && town.right <= view.right + 1 && town.top >= view.top - 1 && town.bottom <= view.bottom + 1;
  return isWhole ? town.width : 0;
}

/** Notes in each frame whether anything is drawn where runs travel. */
async function watchDots(page) {
  await page.evaluate(() => {
    window.dotSeen = false;
    const canvas = document.querySelector('canvas.city-dots');
    const look = () => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      window.dotSeen ||= data.some((value) => value > 0);
      if (!window.dotSeen) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
}

export default [
  {
    name: 'a viewer is not told that everything is in order while dead letters are open',
    role: 'viewer',
    async run({ page, base, world, api, expect }) {
      await prepare(api, base, world, [{ n: 1 }, { n: 2 }], failed(api, world, 2));
      await page.goto(`/w/${world.ws}`);
      await building(page, 'Strict').waitFor();
      await page.locator('.city-line a').waitFor();
      expect((await page.getByText('Everything is in order').count()) === 0, 'The headline says that all is well.');
    },
  },
  {
    name: 'what could not be read is not said to be in order',
    async run({ page, world, expect }) {
      await page.route('**/queue-health', (route) => route.fulfill({ status: 503, contentType: 'application/json', body: '{"error":{"code":"unavailable","message":"Not now."}}' }));
      await page.route('**/overview', (route) => route.fulfill({ status: 503, contentType: 'application/json', body: '{"error":{"code":"unavailable","message":"Not now."}}' }));
      await page.goto(`/w/${world.ws}`);
      await page.waitForLoadState('networkidle');
      expect((await page.getByText('Everything is in order').count()) === 0, 'The headline says that all is well.');
    },
  },
  {
    name: 'windows go dark when the server runs nothing, also if the end of a run was not told',
    async run({ page, world }) {
      await page.goto(`/w/${world.ws}`);
      await building(page, 'Notebook').waitFor();
      // Another page of the same browser hears the stream, and this one does not hear the end.
      await page.evaluate(({ ws, app }) => {
        const data = { runId: 'run_00000000000000000000000000', appId: app, status: 'running', trigger: 'manual', at: new Date().toISOString() };
        new BroadcastChannel(`qala-events-${ws}`).postMessage({ event: { type: 'run', seq: '', data } });
      }, { ws: world.ws, app: world.app });
      await page.locator('.city-building.is-lit, .city-building [class*=lit]').or(page.locator('a.city-building[aria-label*="Running"]')).first().waitFor();
      await page.locator('a.city-building[aria-label*="Running"]').waitFor({ state: 'detached' });
    },
  },
  {
    name: 'an app whose runs are not among the latest of the workspace is not said to have none',
    async run({ page, world, expect }) {
      await page.route(/\/v1\/workspaces\/[^/]+\/runs(\?|$)/, (route) => route.fulfill({ json: { items: [], nextCursor: 'more' } }));
      await page.goto(`/w/${world.ws}`);
      const row = page.getByRole('row', { name: /^Notebook/ });
      await row.waitFor();
      expect((await row.getByText('None', { exact: true }).count()) === 0, 'The table says that it has no run.');
      expect(!/no runs/.test(await building(page, 'Notebook').getAttribute('aria-label')), 'The building says that it has no run.');
    },
  },
  {
    name: 'a building is reached, described and opened with the keyboard',
    role: 'builder',
    async run({ page, world, expect }) {
      await page.goto(`/w/${world.ws}`);
      const notebook = building(page, 'Notebook');
      await notebook.focus();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowLeft');
      await page.getByRole('tooltip').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('tooltip').waitFor({ state: 'detached' });
      await notebook.focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/apps/${world.app}`);
      expect(page.url().endsWith(`/w/${world.ws}/apps/${world.app}`), 'Enter does not open the app of the building.');
    },
  },
  {
    name: 'the town is zoomed with keys and buttons, and shown as a whole again',
    async run({ page, world, api, expect }) {
      const [gate] = (await api('GET', `/v1/workspaces/${world.ws}/gates`)).items;
      await page.goto(`/w/${world.ws}`);
      await building(page, 'Notebook').waitFor();
      // Gates come after the buildings, and the town grows by them.
      await page.getByRole('row', { name: new RegExp(`^${gate.host}`) }).waitFor();
      const whole = await (await page.waitForFunction(wholeTown)).jsonValue();
      const button = (name) => page.getByRole('button', { name });
      const keys = { zoomIn: () => page.keyboard.press('+'), showAll: () => page.keyboard.press('0') };
      const buttons = { zoomIn: () => button('Zoom in').click(), showAll: () => button('Show the whole town').click() };
      for (const { zoomIn, showAll } of [keys, buttons]) {
        await zoomIn();
        await zoomIn();
        await page.waitForFunction((before) => document.querySelector('svg.city-town').getBoundingClientRect().width > before * 1.5, whole);
        await showAll();
        const again = await (await page.waitForFunction(wholeTown)).jsonValue();
        expect(Math.abs(again - whole) < 1, `The whole town is ${again} wide, and was ${whole}.`);
      }
    },
  },
  {
    name: 'the table says what the town shows',
    async run({ page, world, api, expect }) {
      await api('POST', `/v1/workspaces/${world.ws}/apps`, { name: 'Plan of a bank', archetype: 'bank' });
      await page.goto(`/w/${world.ws}`);
      await building(page, 'Plan of a bank, Draft').waitFor();
      await page.getByRole('row', { name: /Plan of a bank\s+Draft/ }).waitFor();
      const [gate] = (await api('GET', `/v1/workspaces/${world.ws}/gates`)).items;
      await page.getByRole('row', { name: new RegExp(`${gate.host}.*Open`) }).waitFor();
      await page.keyboard.press('t');
      expect(await page.evaluate(() => document.activeElement?.id === 'city-table'), 'T does not lead to the table.');
    },
  },
  {
    name: 'a run travels, lights the windows and is the last run, without a reload',
    async run({ page, world, api, expect }) {
      await page.emulateMedia({ reducedMotion: 'no-preference' });
      await page.goto(`/w/${world.ws}`);
      const row = page.getByRole('row', { name: /^Notebook/ });
      await row.getByText('None', { exact: true }).waitFor();
      await watchDots(page);
      const lit = page.waitForFunction(() => document.querySelector('a.city-building.is-lit') !== null);
      await api('POST', `/v1/automations/${world.automation}/run`, { input: { title: 'from the journey' } });
      await lit;
      await page.waitForFunction(() => window.dotSeen);
      await row.getByText('None', { exact: true }).waitFor({ state: 'detached' });
      expect((await row.locator('time').count()) === 1, 'The table does not say when it ran.');
    },
  },
  {
    name: 'no run travels for people who asked for less motion',
    async run({ page, world, api, expect }) {
      await page.emulateMedia({ reducedMotion: 'reduce' });
      await page.goto(`/w/${world.ws}`);
      const row = page.getByRole('row', { name: /^Notebook/ });
      await row.waitFor();
      await watchDots(page);
      await api('POST', `/v1/automations/${world.automation}/run`, { input: {} });
      await row.getByText('None', { exact: true }).waitFor({ state: 'detached' });
      expect(!(await page.evaluate(() => window.dotSeen)), 'A dot moves.');
    },
  },
  {
    name: 'where nothing is built, a webhook is one of three ways to begin',
    async run({ page, world, api, expect }) {
      await clear(api, world.ws);
      await page.goto(`/w/${world.ws}`);
      await page.getByRole('heading', { name: 'Build something here' }).waitFor();
      expect((await page.locator('.city-way').count()) === 3, 'There are not three ways to begin.');
      await page.getByRole('button', { name: /Let a webhook start it/ }).click();
      await page.waitForURL('**/automations/auto_*/webhook');
      const [app] = (await api('GET', `/v1/workspaces/${world.ws}/apps`)).items;
      expect(app?.name === 'Webhook receiver', 'The app of the webhook was not made.');
    },
  },
  {
    name: 'a viewer sees the town and nothing to build with',
    role: 'viewer',
    async run({ page, world, api, expect }) {
      await page.goto(`/w/${world.ws}`);
      await page.getByRole('heading', { name: 'City' }).waitFor();
      await page.locator('.city').waitFor();
      expect(!(await page.getByRole('link', { name: 'New app' }).isVisible()), 'A viewer is offered a new app.');
      await clear(api, world.ws);
      await page.reload();
      await page.getByText('A builder of this workspace can make the first app.', { exact: false }).waitFor();
      expect((await page.locator('.city-way').count()) === 0, 'A viewer is offered ways to build.');
    },
  },
  {
    name: 'a failure is said with a retry that works',
    async run({ page, world }) {
      const apps = `**/v1/workspaces/${world.ws}/apps?*`;
      await page.route(apps, (route) => route.fulfill({ status: 503, contentType: 'application/json', body: JSON.stringify({ error: { code: 'unavailable', message: 'Try again later.' }, requestId: 'req_journey' }) }));
      await page.goto(`/w/${world.ws}`);
      await page.getByRole('alert').getByText('req_journey').waitFor();
      await page.unroute(apps);
      await page.getByRole('button', { name: 'Retry' }).click();
      await building(page, 'Notebook').waitFor();
    },
  },
  {
    name: 'on a phone the town is a street that one taps',
    phone: true,
    async run({ page, world, expect }) {
      await page.goto(`/w/${world.ws}`);
      await building(page, 'Notebook').waitFor();
      expect((await page.locator('svg.city-town').count()) === 0, 'The map is shown on a phone.');
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), 'The page is too wide.');
      await building(page, 'Notebook').click();
      await page.waitForURL(`**/apps/${world.app}`);
    },
  },
];
