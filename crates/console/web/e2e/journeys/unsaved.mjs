// What a person typed outlives the tab and the session: each form has it back, and saves it once they have signed in again.

import { failed, letters, prepare } from '../failed-runs.mjs';
import { newPerson } from '../second-person.mjs';

const panel = (page) => page.locator('aside.panel');
const dialog = (page) => page.getByRole('dialog');
const button = (scope, name) => scope.getByRole('button', { name, exact: true });

async function endSession({ page, base }) {
  const ended = await page.context().request.delete(`${base}/v1/session`, { headers: { origin: base } });
  if (!ended.ok()) throw new Error(`The session did not end: ${ended.status()}`);
}

async function signInAgain(page) {
  await dialog(page).getByText('Your session has ended', { exact: false }).waitFor();
  await button(dialog(page), 'Sign in without a code').click();
  await dialog(page).getByText('Your session has ended', { exact: false }).waitFor({ state: 'detached' });
}

/** Types into the editor that is shown, in place of what it has. */
async function writeCode(page, text, scope = page) {
  await scope.locator('.cm-content').first().click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

const codeShown = (page, text) => page.locator('.cm-content').filter({ hasText: text }).first().waitFor();
const HTTP = { displayName: 'Orders', baseUrl: 'https://api.example.com/v1', methods: ['GET'], auth: { type: 'bearer' }, secret: 'sk_shop_1234567890' };
const CODE = 'export default { async scheduled() { console.log("written before the end"); } };\n';

async function newTable({ api, world }) {
  const columns = [{ name: 'title', type: 'text', nullable: true }];
  await api('POST', `/v1/backend/projects/${world.project}/tables`, { name: 'typed', columns });
}

/**
 * The forms. `path` prepares what it needs and returns the address; `fill` types, and `isFilled` waits for what was typed; `save`
 * presses the button, and `isSaved` waits for what the server then has.
 */
const FORMS = [
  {
    name: 'the settings of a workspace',
    path: ({ world }) => `/w/${world.ws}/settings`,
    fill: (page) => page.getByLabel('Name', { exact: true }).fill('Typed before the end'),
    isFilled: (page) => page.waitForFunction(() => [...document.querySelectorAll('input')].some((input) => input.value === 'Typed before the end')),
    save: (page) => button(page, 'Save').first().click(),
    isSaved: async ({ api, world }) => (await api('GET', `/v1/workspaces/${world.ws}`)).name === 'Typed before the end',
  },
  {
    name: 'a new gate',
    path: ({ world }) => `/w/${world.ws}/gates/new`,
    fill: (page) => panel(page).getByLabel('Host', { exact: true }).fill('typed.example.com'),
    isFilled: (page) => page.waitForFunction(() => [...document.querySelectorAll('input')].some((input) => input.value === 'typed.example.com')),
    save: (page) => button(panel(page), 'Create gate').click(),
    isSaved: async ({ api, world }) => JSON.stringify(await api('GET', `/v1/workspaces/${world.ws}/gates`)).includes('typed.example.com'),
  },
  {
    name: 'a connection',
    path: async ({ api, world }) => `/w/${world.ws}/connections/${(await api('POST', `/v1/workspaces/${world.ws}/connectors/http`, HTTP)).id}/edit`,
    fill: async (page) => {
      await panel(page).getByLabel('Name', { exact: true }).fill('Typed orders');
      await panel(page).getByLabel('Secret', { exact: true }).fill('sk_never_kept_0987654321');
    },
    isFilled: async (page) => {
      await page.waitForFunction(() => [...document.querySelectorAll('input')].some((input) => input.value === 'Typed orders'));
      const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }));
      if (kept.includes('sk_never_kept')) throw new Error('The browser keeps a secret.');
    },
    save: (page) => button(panel(page), 'Save').click(),
    isSaved: async ({ api, world }) => JSON.stringify(await api('GET', `/v1/workspaces/${world.ws}/connections`)).includes('Typed orders'),
  },
  {
    name: 'the name of an app',
    path: ({ world }) => `/w/${world.ws}/apps/${world.app}/settings`,
    fill: (page) => page.getByLabel('Name', { exact: true }).fill('Typed app'),
    isFilled: (page) => page.waitForFunction(() => [...document.querySelectorAll('input')].some((input) => input.value === 'Typed app')),
    save: (page) => button(page, 'Save').click(),
    isSaved: async ({ api, world }) => (await api('GET', `/v1/apps/${world.app}`)).name === 'Typed app',
  },
  {
    name: 'access to an app',
    path: ({ world }) => `/w/${world.ws}/apps/${world.app}/access`,
    fill: (page) => page.getByRole('radio', { name: /^Private/ }).check(),
    isFilled: (page) => page.waitForFunction(() => document.querySelector('.access input[type=radio]')?.checked),
    save: (page) => button(page, 'Save').click(),
    isSaved: async ({ api, world }) => (await api('GET', `/v1/apps/${world.app}/access`)).sharing === 'private',
  },
  {
    name: 'a new app',
    path: ({ world }) => `/w/${world.ws}/apps/new`,
    fill: (page) => page.getByLabel('Name', { exact: true }).fill('Typed new app'),
    isFilled: (page) => page.waitForFunction(() => [...document.querySelectorAll('input')].some((input) => input.value === 'Typed new app')),
    save: (page) => button(page, 'Create app').click(),
    isSaved: async ({ api, world }) => JSON.stringify(await api('GET', `/v1/workspaces/${world.ws}/apps`)).includes('Typed new app'),
  },
  {
    name: 'an app from a template',
    path: ({ world }) => `/w/${world.ws}/apps/templates`,
    open: (page) => page.locator('a[href*="/apps/templates/"]').first().click(),
    fill: (page) => page.getByLabel('Name', { exact: true }).fill('Typed template'),
    isFilled: (page) => page.waitForFunction(() => [...document.querySelectorAll('input')].some((input) => input.value === 'Typed template')),
  },
  {
    name: 'the code of an app',
    path: ({ world }) => `/w/${world.ws}/apps/${world.app}/code`,
    fill: (page) => writeCode(page, CODE),
    isFilled: (page) => codeShown(page, 'written before the end'),
    save: async (page) => {
      await button(page, 'Save…').click();
      await button(dialog(page), 'Publish version').click();
    },
    isSaved: async ({ api, world }) => {
      const { currentVersionId } = await api('GET', `/v1/apps/${world.app}`);
      const { files } = await api('GET', `/v1/apps/${world.app}/versions/${currentVersionId}`);
      return Object.values(files).some((text) => text.includes('written before the end'));
    },
  },
  {
    name: 'a change in sentences',
    path: ({ world }) => `/w/${world.ws}/apps/${world.app}/changes`,
    fill: (page) => page.locator('textarea').fill('Let the app read from api.example.com.'),
    isFilled: (page) => page.waitForFunction(() => document.querySelector('textarea')?.value.startsWith('Let the app read')),
    save: (page) => page.locator('.changes-form button[type=submit]').click(),
    isSaved: async ({ page }) => /\/changes\/chg_/.test(page.url()),
  },
  {
    name: 'a new automation',
    path: ({ world }) => `/w/${world.ws}/automations/new`,
    fill: (page) => panel(page).getByLabel('Name', { exact: true }).fill('Typed automation'),
    isFilled: (page) => page.waitForFunction(() => [...document.querySelectorAll('input')].some((input) => input.value === 'Typed automation')),
    save: (page) => button(panel(page), 'Create automation').click(),
    isSaved: async ({ api, world }) => JSON.stringify(await api('GET', `/v1/workspaces/${world.ws}/automations`)).includes('Typed automation'),
  },
  {
    name: 'an automation',
    path: ({ world }) => `/w/${world.ws}/automations/${world.automation}/edit`,
    fill: (page) => panel(page).getByLabel('Name', { exact: true }).fill('Typed over'),
    isFilled: (page) => page.waitForFunction(() => [...document.querySelectorAll('input')].some((input) => input.value === 'Typed over')),
    save: (page) => button(panel(page), 'Save').click(),
    isSaved: async ({ api, world }) => (await api('GET', `/v1/automations/${world.automation}`)).name === 'Typed over',
  },
  {
    name: 'a tool of agents',
    path: ({ world }) => `/w/${world.ws}/tools/${world.automation}`,
    fill: (page) => panel(page).getByLabel('Description').fill('Typed words about the tool.'),
    isFilled: (page) => page.waitForFunction(() => document.querySelector('aside.panel textarea')?.value === 'Typed words about the tool.'),
    save: async (page) => {
      const read = panel(page).getByRole('checkbox').first();
      await read.check();
      await panel(page).locator('button[type=submit]').click();
    },
    isSaved: async ({ api, world }) => JSON.stringify(await api('GET', `/v1/automations/${world.automation}/agent-tool`)).includes('Typed words about the tool.'),
  },
  {
    name: 'a new project',
    path: ({ world }) => `/w/${world.ws}/data/new`,
    fill: (page) => panel(page).getByLabel('Name', { exact: true }).fill('Typed project'),
    isFilled: (page) => page.waitForFunction(() => [...document.querySelectorAll('input')].some((input) => input.value === 'Typed project')),
    save: (page) => panel(page).locator('button[type=submit]').click(),
    isSaved: async ({ api, world }) => JSON.stringify(await api('GET', `/v1/workspaces/${world.ws}/backend/projects`)).includes('Typed project'),
  },
  {
    name: 'a new table',
    path: ({ world }) => `/w/${world.ws}/data/${world.project}/-/new-table`,
    fill: async (page) => {
      await panel(page).getByLabel('Name', { exact: true }).first().fill('typed_table');
      await panel(page).getByRole('group', { name: 'Column', exact: true }).getByLabel('Name').fill('title');
    },
    isFilled: (page) => page.waitForFunction(() => [...document.querySelectorAll('input')].filter((input) => input.value === 'typed_table' || input.value === 'title').length === 2),
    save: (page) => button(panel(page), 'Create table').click(),
    isSaved: async ({ api, world }) => JSON.stringify(await api('GET', `/v1/backend/projects/${world.project}`)).includes('typed_table'),
  },
  {
    name: 'the limits of a project',
    path: ({ world }) => `/w/${world.ws}/data/${world.project}/-/settings`,
    fill: (page) => page.locator('.data-settings input[type=number]').first().fill('4321'),
    isFilled: (page) => page.waitForFunction(() => document.querySelector('.data-settings input[type=number]')?.value === '4321'),
    save: (page) => page.locator('.data-settings button[type=submit]').first().click(),
    isSaved: async ({ api, world }) => JSON.stringify(await api('GET', `/v1/backend/projects/${world.project}`)).includes('4321'),
  },
  {
    name: 'a new row',
    path: async (tools) => {
      await newTable(tools);
      return `/w/${tools.world.ws}/data/${tools.world.project}/typed/new`;
    },
    fill: (page) => panel(page).getByLabel('title', { exact: false }).first().fill('Typed row'),
    isFilled: (page) => page.waitForFunction(() => [...document.querySelectorAll('aside.panel input, aside.panel textarea')].some((input) => input.value === 'Typed row')),
    save: (page) => panel(page).locator('button[type=submit]').click(),
    isSaved: async ({ page }) => (await page.getByText('Typed row').count()) > 0,
  },
  {
    name: 'the rules of a table',
    path: async (tools) => {
      await newTable(tools);
      return `/w/${tools.world.ws}/data/${tools.world.project}/typed/rules?form=json`;
    },
    fill: (page) => writeCode(page, '[{"id":"typed","actions":["read"],"who":"anyone","when":[]}]'),
    isFilled: (page) => codeShown(page, 'typed'),
  },
  {
    name: 'invites',
    path: ({ world }) => `/w/${world.ws}/people/invites/new`,
    fill: (page) => panel(page).locator('textarea').fill('typed@example.test'),
    isFilled: (page) => page.waitForFunction(() => document.querySelector('aside.panel textarea')?.value === 'typed@example.test'),
    save: (page) => button(panel(page), 'Send invites').click(),
    isSaved: async ({ api, world }) => JSON.stringify(await api('GET', `/v1/workspaces/${world.ws}/invites`)).includes('typed@example.test'),
  },
];

async function eventually(check, what, expect) {
  for (let tried = 0; tried < 100; tried += 1) {
    if (await check()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(false, what);
}

/** Waits until the browser keeps what was typed. */
const isKept = (page) => page.waitForFunction(() => Object.keys(localStorage).some((key) => key.startsWith('qala-unsaved/')));

const journeys = FORMS.map(({ name, path, open, fill, isFilled, save, isSaved }) => ({
  name: `${name}: what was typed outlives the tab and the session`,
  run: async (tools) => {
    const { page, base, context, expect } = tools;
    const address = `${base}${await path(tools)}`;
    await page.goto(address);
    if (open) {
      await open(page);
      await page.getByLabel('Name', { exact: true }).waitFor();
    }
    const here = open ? page.url() : address;
    await fill(page);
    await isFilled(page);
    // Nobody presses a button: the tab is gone.
    await isKept(page);
    await page.close();
    const next = await context.newPage();
    await next.goto(here);
    await next.getByText('What you had not saved here is back.').waitFor();
    await isFilled(next);
    if (save === undefined) return;
    await endSession({ page: next, base });
    await save(next);
    await signInAgain(next);
    await eventually(() => isSaved({ ...tools, page: next }), 'The request was not sent again.', expect);
    await next.waitForFunction(() => !Object.keys(localStorage).some((key) => key.startsWith('qala-unsaved/')));
  },
}));

export default [
  ...journeys,
  {
    name: 'the editor saves its draft by itself, and offers it in another browser until it is a version',
    run: async ({ page, base, api, world, expect }) => {
      await page.goto(`${base}/w/${world.ws}/apps/${world.app}/code`);
      const saved = page.waitForResponse((response) => response.request().method() === 'PUT' && response.url().endsWith('/draft'));
      await writeCode(page, CODE);
      expect((await saved).ok(), 'The draft was refused.');
      await page.getByText('draft saved', { exact: false }).waitFor();
      const elsewhere = await newPerson({ page, base, email: world.owner });
      await elsewhere.page.goto(`${base}/w/${world.ws}/apps/${world.app}/code`);
      await button(elsewhere.page, 'Restore draft').click();
      await codeShown(elsewhere.page, 'written before the end');
      await button(elsewhere.page, 'Save…').click();
      await button(dialog(elsewhere.page), 'Publish version').click();
      await elsewhere.page.getByText('is the current one', { exact: false }).waitFor();
      await eventually(() => api('GET', `/v1/apps/${world.app}/draft`).then(() => false, () => true), 'The draft is still there.', expect);
      await elsewhere.close();
    },
  },
  {
    name: 'a draft of another browser is neither hidden nor overwritten while one types, until one chooses',
    run: async ({ page, base, api, world, expect }) => {
      const app = `/v1/apps/${world.app}`;
      const { currentVersionId: baseVersionId } = await api('GET', app);
      const saveElsewhere = (text) => api('PUT', `${app}/draft`, { files: { 'main.js': text }, baseVersionId });
      const has = async (text) => Object.values((await api('GET', `${app}/draft`)).files).some((file) => file.includes(text));
      await saveElsewhere(CODE);
      let saves = 0;
      page.on('request', (request) => { if (request.method() === 'PUT' && request.url().endsWith('/draft')) saves += 1; });
      await page.goto(`${base}/w/${world.ws}/apps/${world.app}/code?file=main.js`);
      await button(page, 'Restore draft').waitFor();
      await writeCode(page, `${CODE}// mine\n`);
      await page.getByText('draft not saved', { exact: false }).waitFor();
      // A draft is saved three seconds after the last key.
      await page.waitForTimeout(4_000);
      expect(saves === 0 && !(await has('// mine')), 'The draft was overwritten before anything was chosen.');
      await button(page, 'Restore draft').waitFor();
      await button(page, 'Keep what is in the editor').click();
      await page.getByText('draft saved', { exact: false }).waitFor();
      expect(await has('// mine'), 'What was chosen was not saved.');
      // Both browsers are open, and the other one saves again.
      await saveElsewhere(`${CODE}// theirs\n`);
      await button(page, 'Try').click();
      await button(page, 'Run draft').click();
      await button(page, 'Keep what is in the editor').waitFor();
      expect(await has('// theirs'), 'The newer draft was overwritten unseen.');
      // The first button is that of the notice, the other one is beside the test.
      await button(page, 'Restore draft').first().click();
      await codeShown(page, '// theirs');
      await button(page, 'Keep what is in the editor').waitFor({ state: 'detached' });
      await page.getByText('draft saved', { exact: false }).waitFor();
    },
  },
  {
    name: 'after a reload, the draft that this browser has saved itself asks nothing',
    run: async ({ page, base, context, world, expect }) => {
      const address = `${base}/w/${world.ws}/apps/${world.app}/code?file=main.js`;
      await page.goto(address);
      await writeCode(page, CODE);
      await page.getByText('draft saved', { exact: false }).waitFor();
      await page.keyboard.insertText('// more\n');
      await page.waitForFunction(() => Object.values(localStorage).some((text) => text.includes('// more')));
      await page.close();
      const next = await context.newPage();
      await next.goto(address);
      await codeShown(next, '// more');
      await next.getByText('draft saved', { exact: false }).waitFor();
      expect((await button(next, 'Restore draft').count()) === 0, 'A draft of this very text is offered.');
    },
  },
  {
    name: 'a draft that began from an older version is restored as an edit of that version',
    run: async ({ page, base, context, api, world, expect }) => {
      const app = `/v1/apps/${world.app}`;
      const { currentVersionId: first } = await api('GET', app);
      await api('PUT', `${app}/draft`, { files: { 'main.js': CODE }, baseVersionId: first });
      await api('POST', `${app}/versions`, { files: { 'main.js': 'export default { async scheduled() { return 2; } };\n' }, summary: 'Theirs' });
      const { currentVersionId: second } = await api('GET', app);
      const address = `${base}/w/${world.ws}/apps/${world.app}/code?file=main.js`;
      await page.goto(address);
      await button(page, 'Restore draft').click();
      await codeShown(page, 'written before the end');
      await page.getByText('published version 2 meanwhile: Theirs', { exact: false }).waitFor();
      await button(page, 'Save…').click();
      await button(dialog(page), 'Publish version').click();
      await page.getByText('Somebody published another version meanwhile. Nothing was saved.').waitFor();
      expect((await api('GET', app)).currentVersionId === second, 'The newer version was undone.');
      await isKept(page);
      await page.close();
      // The version that it began from can no longer be read.
      const next = await context.newPage();
      const gone = { error: { code: 'not_found', message: 'This version does not exist.' } };
      await next.route(`**${app}/versions/${first}`, (route) => route.fulfill({ status: 404, contentType: 'application/json', body: JSON.stringify(gone) }));
      await next.goto(address);
      await next.getByText('The version that this text began from no longer exists.', { exact: false }).waitFor();
      await codeShown(next, 'written before the end');
      await next.getByText('Based on version 2.').waitFor();
    },
  },
  {
    name: 'a text that is kept on top of another version leaves what only that version changed',
    run: async ({ page, base, api, world, expect }) => {
      const app = `/v1/apps/${world.app}`;
      const current = async () => api('GET', `${app}/versions/${(await api('GET', app)).currentVersionId}`);
      const { files, manifest } = await current();
      await page.goto(`${base}/w/${world.ws}/apps/${world.app}/code?file=main.js`);
      await writeCode(page, CODE);
      await page.getByText('1 file changed', { exact: false }).waitFor();
      const permissions = { ...manifest.permissions, egress: [...manifest.permissions.egress, { host: 'prices.example.com', methods: ['GET'] }] };
      await api('POST', `${app}/versions`, { files: { ...files, 'lib/theirs.js': 'export const theirs = 1;\n' }, manifest: { ...manifest, permissions }, summary: 'Theirs' });
      await button(page, 'Keep mine on top').click();
      await page.getByText('Based on version 2.').waitFor();
      await page.getByText('1 file changed', { exact: false }).waitFor();
      await button(page, 'Save…').click();
      await button(dialog(page), 'Publish version').click();
      await page.getByText('Version 3 is the current one.').waitFor();
      const made = await current();
      expect(made.files['main.js'].includes('written before the end'), 'The text is not in the version.');
      expect('lib/theirs.js' in made.files && made.manifest.permissions.egress.some(({ host }) => host === 'prices.example.com'), 'What the other version changed was undone.');
    },
  },
  {
    name: 'a change that is planned from the test leaves nothing of the editor behind, and is put into the manifest that was edited',
    run: async ({ page, base, api, world, expect }) => {
      const app = `/v1/apps/${world.app}`;
      const current = async () => api('GET', `${app}/versions/${(await api('GET', app)).currentVersionId}`);
      const { manifest } = await current();
      await page.goto(`${base}/w/${world.ws}/apps/${world.app}/code?file=main.js`);
      await writeCode(page, 'export default { async scheduled() { await fetch("https://prices.example.com/"); } };\n// typed last\n');
      await page.getByRole('group', { name: 'Files' }).getByRole('button', { name: 'manifest.json' }).click();
      await codeShown(page, 'archetype');
      await writeCode(page, JSON.stringify({ ...manifest, description: 'Typed into the manifest.' }, null, 2));
      await page.getByText('2 files changed', { exact: false }).waitFor();
      await button(page, 'Try').click();
      await button(page, 'Run draft').click();
      await button(page, 'Plan a change').click();
      await page.getByText('The manifest now names the host prices.example.com (GET).', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Open in the editor' }).click();
      await page.getByText('What you had not saved here is back.').waitFor();
      await page.getByText('The planned change is in the manifest, and is not saved yet.').waitFor();
      await button(page, 'Save…').click();
      await button(dialog(page), 'Publish version').click();
      await page.getByText('Version 2 is the current one.').waitFor();
      const made = await current();
      expect(made.files['main.js'].includes('// typed last'), 'The code that was typed last is lost.');
      expect(made.manifest.description === 'Typed into the manifest.', 'The manifest that was typed is lost.');
      expect(made.manifest.permissions.egress.some(({ host }) => host === 'prices.example.com'), 'The planned change is not in the manifest.');
    },
  },
  {
    name: 'the files of an earlier version take the place of a text that was kept, and give it back',
    run: async ({ page, base, context, api, world }) => {
      const app = `/v1/apps/${world.app}`;
      await api('POST', `${app}/versions`, { files: { 'main.js': 'export default { async scheduled() { return "second"; } };\n' } });
      const code = `${base}/w/${world.ws}/apps/${world.app}/code`;
      await page.goto(`${code}?file=main.js`);
      await writeCode(page, CODE);
      await isKept(page);
      await page.close();
      const next = await context.newPage();
      await next.goto(`${code}?file=main.js&from=1`);
      await next.getByText('These are the files of version 1.', { exact: false }).waitFor();
      await next.locator('.cm-content').filter({ hasNotText: 'written before the end' }).first().waitFor();
      await button(next.locator('.notice'), 'Undo').click();
      await codeShown(next, 'written before the end');
    },
  },
  {
    name: 'what the page reads by itself interrupts nobody who writes: a bar says that the session has ended',
    run: async ({ page, base, world, expect }) => {
      await page.goto(`${base}/w/${world.ws}/settings`);
      await page.getByLabel('Name', { exact: true }).fill('Half a na');
      await endSession({ page, base });
      // Another page of the same browser tells this one that something changed.
      await page.evaluate((ws) => new BroadcastChannel(`qala-events-${ws}`).postMessage({ event: { type: 'resync', seq: '1', data: {} } }), world.ws);
      await page.getByText('Your session has ended.', { exact: false }).waitFor();
      expect((await dialog(page).count()) === 0, 'A dialog took the keyboard away.');
      await page.keyboard.type('me');
      expect((await page.getByLabel('Name', { exact: true }).inputValue()) === 'Half a name', 'Typing was interrupted.');
      await page.locator('.bar').getByRole('button', { name: 'Sign in' }).click();
      await signInAgain(page);
      await button(page, 'Save').first().click();
      await page.getByText('Saved.').waitFor();
    },
  },
  {
    name: 'the question can be put off, and what is typed stays on the page',
    run: async ({ page, base, world, expect }) => {
      await page.goto(`${base}/w/${world.ws}/settings`);
      await page.getByLabel('Name', { exact: true }).fill('Put off');
      await endSession({ page, base });
      await button(page, 'Save').first().click();
      await button(dialog(page), 'Not now').click();
      expect((await page.getByLabel('Name', { exact: true }).inputValue()) === 'Put off', 'What was typed is gone.');
      await button(page, 'Save').first().click();
      await signInAgain(page);
      await page.getByText('Saved.').waitFor();
    },
  },
  {
    name: 'another person who signs in sees nothing of it, and the first one has it back',
    run: async ({ page, base, world, expect }) => {
      const address = `${base}/w/${world.ws}/settings`;
      await page.goto(address);
      await page.getByLabel('Name', { exact: true }).fill('Only mine');
      await endSession({ page, base });
      await button(page, 'Save').first().click();
      await dialog(page).getByLabel('E-mail address').fill(`stranger-${process.pid}-${Date.now()}@example.test`);
      await button(dialog(page), 'Sign in without a code').click();
      await page.waitForURL((url) => !url.pathname.includes('/settings'));
      await page.goto(address);
      await page.getByText('You are not in this workspace').waitFor();
      expect(!(await page.content()).includes('Only mine'), 'The text is shown to somebody else.');
      await endSession({ page, base });
      const back = await page.context().request.post(`${base}/v1/auth/dev-login`, { data: { email: world.owner }, headers: { origin: base } });
      expect(back.ok(), 'The first person could not sign in.');
      await page.goto(address);
      await page.waitForFunction(() => [...document.querySelectorAll('input')].some((input) => input.value === 'Only mine'));
    },
  },
  {
    name: 'a text that began from an older state asks before it is saved over a newer one',
    run: async ({ page, base, context, api, world, expect }) => {
      const address = `${base}/w/${world.ws}/settings`;
      await page.goto(address);
      await page.getByLabel('Name', { exact: true }).fill('Older text');
      await isKept(page);
      await page.close();
      await api('PATCH', `/v1/workspaces/${world.ws}`, { name: 'Newer state' });
      const next = await context.newPage();
      await next.goto(address);
      await next.getByText('Somebody else changed this meanwhile').waitFor();
      await button(next, 'Save').first().click();
      await button(dialog(next), 'Keep theirs').click();
      expect((await api('GET', `/v1/workspaces/${world.ws}`)).name === 'Newer state', 'The newer state was overwritten unseen.');
    },
  },
  {
    name: 'an edit of a row that is restored writes what the person changed, and asks where somebody else changed the same',
    run: async ({ page, base, context, api, world, expect }) => {
      const tables = `/v1/backend/projects/${world.project}/tables`;
      const columns = [{ name: 'title', type: 'text', nullable: true }, { name: 'amount', type: 'integer', nullable: true }, { name: 'note', type: 'text', nullable: true }];
      await api('POST', tables, { name: 'typed', columns });
      await api('POST', `${tables}/typed/rows`, [{ id: 'tea', title: 'Tea', amount: 1, note: 'Old note' }]);
      const read = async () => (await api('GET', `${tables}/typed/rows?id=eq.tea`))[0];
      const address = `${base}/w/${world.ws}/data/${world.project}/typed/rows/tea`;
      await page.goto(address);
      await panel(page).getByLabel('title', { exact: true }).fill('Green tea');
      await isKept(page);
      await page.close();
      await api('PATCH', `${tables}/typed/rows/tea`, { title: 'Black tea', amount: 2 });
      const next = await context.newPage();
      await next.goto(address);
      await next.getByText('Somebody else changed title to Black tea meanwhile.').waitFor();
      expect((await panel(next).getByLabel('amount', { exact: true }).inputValue()) === '2', 'The form does not show what somebody else saved.');
      await panel(next).getByLabel('note', { exact: true }).fill('New note');
      await button(panel(next), 'Save').click();
      expect((await read()).title === 'Black tea', 'The other value was overwritten unseen.');
      await button(panel(next), 'Go on with mine').click();
      await button(panel(next), 'Save').click();
      await next.getByText('Saved', { exact: true }).waitFor();
      const { title, amount, note } = await read();
      expect(title === 'Green tea' && amount === 2 && note === 'New note', `The row is ${title}, ${amount}, ${note}.`);
    },
  },
  {
    name: 'an input that is typed before the original is read stays as it was typed',
    run: async ({ page, base, api, world }) => {
      await prepare(api, base, world, [{ customer: 7 }], failed(api, world, 1));
      const [{ runId }] = await letters(api, world, 'open');
      let open;
      const opens = new Promise((resolve) => { open = resolve; });
      await page.route('**/v1/dead-letters/*', async (route) => {
        await opens;
        await route.continue();
      });
      await page.goto(`${base}/w/${world.ws}/runs/${runId}/replay`);
      await panel(page).getByLabel('Another input').check();
      await writeCode(page, '{"ok": true}', panel(page));
      await isKept(page);
      open();
      // The original is shown beside it once it was read.
      await panel(page).locator('.cm-content').filter({ hasText: 'customer' }).first().waitFor();
      await button(panel(page), 'Start replay').click();
      await page.waitForURL((url) => /\/runs\/run_\w+$/.test(url.pathname) && !url.pathname.includes(runId));
      await page.getByRole('heading', { level: 1, name: /Succeeded/ }).waitFor();
    },
  },
  {
    name: 'what is given up or saved does not come back, and saving one card keeps the text of another',
    run: async ({ page, base, world, expect }) => {
      const address = `${base}/w/${world.ws}/data/${world.project}/-/settings`;
      await page.goto(address);
      await page.locator('.data-settings input[type=number]').first().fill('777');
      await page.locator('.data-settings textarea').first().fill('https://typed.example.com');
      await page.locator('.data-settings button[type=submit]').first().click();
      await page.getByText('saved', { exact: false }).first().waitFor();
      await page.waitForFunction(() => Object.keys(localStorage).filter((key) => key.startsWith('qala-unsaved/')).map((key) => key.split('#')[1]).join() === 'origins');
      await page.getByRole('link', { name: 'Apps', exact: true }).first().click();
      await button(dialog(page), 'Leave').click();
      await page.getByRole('heading', { name: 'Apps', level: 1 }).waitFor();
      const left = await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('qala-unsaved/')).length);
      expect(left === 0, 'What was given up is still kept.');
    },
  },
];
