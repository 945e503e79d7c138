// What a page shows when somebody else, a second tab or a script changes the same thing.

import { newPerson } from '../second-person.mjs';

const nameField = (page) => page.getByLabel('Name', { exact: true });
const nameOf = async (api, ws) => (await api('GET', `/v1/workspaces/${ws}`)).name;

/** Returns a promise, and what keeps it. */
function gate() {
  let open;
  const opens = new Promise((resolve) => { open = resolve; });
  return [opens, open];
}

/** Holds back the bodies of the reads of a URL from when the page is told to until it is told otherwise: their headers have come. */
function holdBodies(page, path) {
  return page.addInitScript((held) => {
    const fetchIt = window.fetch.bind(window);
    window.heldBodies = { isHolding: false, arrived: 0, release: null };
    const released = new Promise((resolve) => { window.heldBodies.release = resolve; });
    window.fetch = async (url, init) => {
      const response = await fetchIt(url, init);
      if (!window.heldBodies.isHolding || String(url) !== held || (init?.method ?? 'GET') !== 'GET') return response;
      window.heldBodies.arrived += 1;
      const text = await response.text();
      const body = new ReadableStream({ async start(controller) {
        await released;
        controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      } });
      return new Response(body, { status: response.status, headers: response.headers });
    };
  }, path);
}

export default [
  {
    name: 'A save between the headers and the body of a read does not overwrite what nobody has seen',
    run: async ({ page, base, api, world, expect }) => {
      const path = `/v1/workspaces/${world.ws}`;
      await holdBodies(page, path);
      await page.goto(`${base}/w/${world.ws}/settings`);
      await nameField(page).fill('Mine');
      await page.evaluate(() => { window.heldBodies.isHolding = true; });
      await api('PATCH', path, { name: 'Theirs' });
      await page.waitForFunction(() => window.heldBodies.arrived > 0);
      await page.evaluate(() => { window.heldBodies.isHolding = false; });
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.locator('.cm-content').getByText('Theirs', { exact: true }).waitFor();
      expect((await nameOf(api, world.ws)) === 'Theirs', 'The other version was overwritten unseen.');
      await dialog.getByRole('button', { name: 'Save mine anyway' }).click();
      await page.getByText('Saved.').waitFor();
      expect((await nameOf(api, world.ws)) === 'Mine', 'The chosen version was not saved.');
      await page.evaluate(() => window.heldBodies.release());
    },
  },
  {
    name: 'A version that is saved while the two are compared is not overwritten either',
    run: async ({ page, base, api, world, expect }) => {
      await page.goto(`${base}/w/${world.ws}/settings`);
      await nameField(page).fill('Mine');
      await api('PATCH', `/v1/workspaces/${world.ws}`, { name: 'Theirs' });
      await page.getByText('Somebody else changed this meanwhile').waitFor();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.locator('.cm-content').getByText('Theirs', { exact: true }).waitFor();
      const read = page.waitForResponse((response) => response.request().method() === 'GET' && new URL(response.url()).pathname === `/v1/workspaces/${world.ws}`);
      await api('PATCH', `/v1/workspaces/${world.ws}`, { name: 'Newest' });
      await (await read).finished();
      await dialog.getByRole('button', { name: 'Save mine anyway' }).click();
      await dialog.locator('.cm-content').getByText('Newest', { exact: true }).waitFor();
      expect((await nameOf(api, world.ws)) === 'Newest', 'A version that nobody saw was overwritten.');
    },
  },
  {
    name: 'A form keeps what was typed when a script saves the same field, and shows both versions before it saves',
    run: async ({ page, base, api, world, expect }) => {
      await page.goto(`${base}/w/${world.ws}/settings`);
      await nameField(page).fill('Mine');
      await api('PATCH', `/v1/workspaces/${world.ws}`, { name: 'Theirs' });
      await page.getByText('Somebody else changed this meanwhile').waitFor();
      expect((await nameField(page).inputValue()) === 'Mine', 'What was typed is gone.');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.locator('.cm-content').getByText('Theirs', { exact: true }).waitFor();
      await dialog.locator('.cm-content').getByText('Mine', { exact: true }).waitFor();
      await dialog.getByRole('button', { name: 'Keep theirs' }).click();
      expect((await nameField(page).inputValue()) === 'Theirs', 'The form does not show what is saved.');
      expect((await nameOf(api, world.ws)) === 'Theirs', 'The other version was overwritten.');

      await nameField(page).fill('Mine after all');
      await api('PATCH', `/v1/workspaces/${world.ws}`, { name: 'Theirs again' });
      await page.getByText('Somebody else changed this meanwhile').waitFor();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Save mine anyway' }).click();
      await page.getByText('Saved.').waitFor();
      expect((await nameOf(api, world.ws)) === 'Mine after all', 'The chosen version was not saved.');
    },
  },
  {
    name: 'What a script changes before the stream of events opens is shown',
    run: async ({ page, base, api, world, expect }) => {
      const before = await nameOf(api, world.ws);
      const [opens, open] = gate();
      await page.route('**/events*', async (route) => {
        await opens;
        await route.continue();
      });
      await page.goto(`${base}/w/${world.ws}/settings`);
      await nameField(page).waitFor();
      expect((await nameField(page).inputValue()) === before, 'The form does not show the name.');
      await api('PATCH', `/v1/workspaces/${world.ws}`, { name: 'Theirs' });
      open();
      await page.waitForFunction((input) => input.value === 'Theirs', await nameField(page).elementHandle());
    },
  },
  {
    name: 'A switch stays where it was put while a read from before is answered',
    run: async ({ page, base, api, world, expect }) => {
      const url = `/v1/apps/${world.app}`;
      await page.goto(`${base}/w/${world.ws}/apps/${world.app}/settings`);
      const paused = page.getByRole('switch', { name: 'Paused' });
      await paused.waitFor();
      const [isRead, read] = gate();
      const [mayAnswer, answer] = gate();
      const [isReadAgain, readAgain] = gate();
      const [isOver, over] = gate();
      let wasPaused = false;
      await page.route(`**${url}`, async (route) => {
        if (route.request().method() !== 'GET') return route.continue();
        const response = await route.fetch();
        const isPaused = (await response.json()).status === 'paused';
        if (isPaused) {
          read();
          await mayAnswer;
        } else if (wasPaused) {
          readAgain();
          await isOver;
        }
        wasPaused ||= isPaused;
        return route.fulfill({ response });
      });
      await paused.check();
      await isRead;
      await paused.uncheck();
      await page.getByText('The app runs again.').waitFor();
      answer();
      await isReadAgain;
      expect(!(await paused.isChecked()), 'The older read took the place of the change.');
      const again = page.waitForResponse((response) => response.request().method() === 'PATCH');
      await paused.check();
      expect((await again).status() === 200, 'The change was made to the older read.');
      expect((await api('GET', url)).status === 'paused', 'The app is not paused.');
      over();
    },
  },
  {
    name: 'Two tabs count what a script creates, and drop what it deletes',
    run: async ({ page, base, api, world }) => {
      const other = await page.context().newPage();
      for (const tab of [page, other]) {
        await tab.goto(`${base}/w/${world.ws}/data`);
        // The heading is there before the list is.
        await tab.locator('.list-table tbody tr').first().waitFor();
      }
      const inBoth = (see) => Promise.all([page, other].map((tab) => see(tab.getByRole('main'))));
      const { id } = await api('POST', `/v1/workspaces/${world.ws}/backend/projects`, { name: 'Stock' });
      // What is new moves nothing under the eyes of who reads.
      await inBoth((main) => main.locator('.list-held button').click());
      await inBoth((main) => main.getByText('Stock', { exact: true }).first().waitFor());
      await api('DELETE', `/v1/backend/projects/${id}`, { confirmName: 'Stock' });
      await inBoth((main) => main.getByText('Stock', { exact: true }).first().waitFor({ state: 'detached' }));
      await other.close();
    },
  },
  {
    name: 'The list of sessions follows signing in and out elsewhere',
    run: async ({ page, base, world, expect }) => {
      await page.goto(`${base}/account/sessions`);
      const rows = page.locator('.list-table tbody tr');
      await rows.first().waitFor();
      const before = await rows.count();
      const elsewhere = await newPerson({ page, base, email: world.owner });
      await page.locator('.list-held button').click();
      await rows.nth(before).waitFor();
      const ended = await elsewhere.context.request.delete(`${base}/v1/session`, { headers: { origin: base } });
      expect(ended.ok(), `signing out: ${ended.status()}`);
      await rows.nth(before).waitFor({ state: 'detached' });
      await elsewhere.close();
    },
  },
];
