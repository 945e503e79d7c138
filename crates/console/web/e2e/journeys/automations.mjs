// What people do with automations: schedules, calls, forms, runs by hand.

const APP = {
  name: 'Echo',
  files: { 'main.js': "export default { async scheduled(event) { if (event.data?.fail) throw new Error('Told to fail'); console.log('Hello ' + event.data?.name); return { ok: true }; } };" },
};

async function createAutomation(api, world, name, trigger) {
  const app = await api('POST', `/v1/workspaces/${world.ws}/apps`, APP);
  return api('POST', `/v1/workspaces/${world.ws}/automations`, { name, appId: app.id, trigger });
}

/** Replaces the text of a code editor, as a paste does. */
async function write(editor, text) {
  await editor.press('ControlOrMeta+a');
  await editor.page().keyboard.insertText(text);
}

/** Keeps the secret that is shown once, and returns it. */
async function keepSecret(page) {
  const dialog = page.getByRole('dialog', { name: 'Secret of the webhook' });
  const secret = await dialog.locator('.secret code').innerText();
  await dialog.getByLabel('I saved it').check();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'hidden' });
  return secret;
}

export default [
  {
    name: 'a schedule is created after a mistake in its expression',
    async run({ page, api, base, world, expect }) {
      await page.goto(`${base}/w/${world.ws}/automations`);
      await page.getByRole('button', { name: 'Create automation' }).click();
      const panel = page.getByRole('complementary', { name: 'Create automation' });
      await panel.getByLabel('Cron expression').fill('0 25 * * *');
      await panel.getByRole('button', { name: 'Create automation' }).click();
      await panel.getByText('Give it a name').waitFor();
      await panel.getByRole('alert').filter({ hasText: 'Hours are 0 to 23' }).waitFor();
      await panel.getByLabel('Name', { exact: true }).fill('Weekly report');
      await panel.getByLabel('Cron expression').fill('30 8 * * mon,thu');
      await panel.getByRole('combobox', { name: 'Time zone' }).selectOption('Asia/Almaty');
      await panel.getByText('Every week on Monday and Thursday at 08:30').waitFor();
      const preview = await panel.locator('.automations-times time').first().getAttribute('datetime');
      await panel.getByRole('button', { name: 'Create automation' }).click();
      await page.getByRole('heading', { level: 1, name: 'Weekly report' }).waitFor();
      const { items } = await api('GET', `/v1/workspaces/${world.ws}/automations`);
      const created = items.find(({ name }) => name === 'Weekly report');
      expect(created.trigger.cron === '30 8 * * mon,thu' && created.trigger.timezone === 'Asia/Almaty', 'the schedule is not what was written');
      expect(new Date(created.nextRunAt).getTime() === new Date(preview).getTime(), `the preview said ${preview}, the server ${created.nextRunAt}`);
    },
  },
  {
    name: 'past and upcoming times of a schedule are on the clock of its zone, which is named',
    options: { timezoneId: 'America/New_York' },
    async run({ page, api, base, world }) {
      const { id } = await createAutomation(api, world, 'Morning', { type: 'schedule', cron: '0 9 * * *', timezone: 'Asia/Almaty' });
      const past = { id: 'occ_00000000000000000000000000', dueAt: '2026-11-27T04:00:00Z', outcome: 'skipped', reason: 'missed', runId: null, recordedAt: '2026-11-27T04:00:01Z' };
      await page.goto(`${base}/w/${world.ws}/automations/${id}/schedule`);
      await page.getByText('Nothing was due in the last 90 days').waitFor();
      await page.route('**/occurrences*', (route) => route.fulfill({ json: { items: [past], nextCursor: null } }));
      await page.goto(`${base}/w/${world.ws}/automations/${id}/schedule`);
      await page.locator('time[datetime="2026-11-27T04:00:00Z"]').getByText('27 Nov 2026, 09:00 (Asia/Almaty)').waitFor();
      await page.locator('.automations-times li').first().getByText(/, 09:00 \(Asia\/Almaty\)$/).waitFor();
    },
  },
  {
    name: 'an automation is paused, taken back, changed and deleted',
    async run({ page, api, base, world, expect }) {
      const { id } = await createAutomation(api, world, 'Nightly', { type: 'schedule', cron: '0 3 * * *' });
      const read = () => api('GET', `/v1/automations/${id}`);
      await page.goto(`${base}/w/${world.ws}/automations/${id}`);
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByText('“Nightly” is paused.').waitFor();
      expect((await read()).status === 'paused', 'it is not paused');
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByRole('button', { name: 'Pause' }).waitFor();
      expect((await read()).status === 'active', 'it was not taken back');
      await page.keyboard.press('e');
      const panel = page.getByRole('complementary', { name: 'Edit automation' });
      await panel.getByLabel('Retries').fill('9');
      await panel.getByRole('button', { name: 'Save' }).click();
      await panel.getByText('A whole number from 0 to 5').waitFor();
      await panel.getByLabel('Retries').fill('3');
      await panel.getByRole('button', { name: 'Save' }).click();
      await panel.waitFor({ state: 'detached' });
      expect((await read()).retries === 3, 'the number of retries was not saved');
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Delete…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Type “Nightly” to confirm').fill('Nightly');
      await dialog.getByRole('button', { name: 'Delete…' }).click();
      await page.waitForURL(`**/w/${world.ws}/automations`);
      const { items } = await api('GET', `/v1/workspaces/${world.ws}/automations`);
      expect(!items.some((item) => item.id === id), 'it was not deleted');
    },
  },
  {
    name: 'a run by hand is followed until it ends',
    async run({ page, api, base, world, expect }) {
      const { id } = await createAutomation(api, world, 'Greeting', { type: 'manual' });
      await page.goto(`${base}/w/${world.ws}/automations/${id}`);
      await page.getByRole('main').locator('header').getByRole('button', { name: 'Run now…' }).click();
      const panel = page.getByRole('complementary', { name: 'Run “Greeting”' });
      const editor = panel.getByRole('textbox', { name: 'Input' });
      await write(editor, '{"name": ');
      await panel.getByText('Not valid JSON').waitFor();
      await write(editor, '{"name": "Aliya"}');
      await panel.getByRole('button', { name: 'Start', exact: true }).click();
      await panel.getByText('Succeeded').waitFor();
      await panel.getByText('Hello Aliya').waitFor();
      const { items } = await api('GET', `/v1/workspaces/${world.ws}/runs?automationId=${id}`);
      expect(items.length === 1 && items[0].trigger === 'manual', 'there is not exactly one run by hand');
    },
  },
  {
    name: 'a webhook is set up, called with its secret, tested, rotated and switched off',
    async run({ page, api, base, world, expect }) {
      const { id } = await createAutomation(api, world, 'Orders', { type: 'webhook' });
      await page.goto(`${base}/w/${world.ws}/automations/${id}/webhook`);
      await page.getByRole('radio', { name: /^Token/ }).check();
      await page.getByRole('button', { name: 'Set up' }).click();
      const token = await keepSecret(page);
      const { address } = await api('GET', `/v1/automations/${id}/webhook`);
      const path = new URL(address).pathname;
      const call = (secret) => fetch(base + path, { method: 'POST', headers: { 'content-type': 'application/json', 'x-service-token': secret }, body: '{"name": "Dana"}' });
      expect((await call(token)).status === 202, 'the token that was shown is not accepted');
      const deliveries = page.getByRole('region', { name: 'Latest calls' });
      await deliveries.getByText('Accepted').first().waitFor();
      await page.getByRole('button', { name: 'Send test' }).click();
      const dialog = page.getByRole('dialog', { name: 'Send test' });
      await dialog.getByRole('button', { name: 'Send test' }).click();
      await dialog.getByText('Succeeded').waitFor();
      await dialog.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('button', { name: 'Rotate secret' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
      const next = await keepSecret(page);
      expect((await call(token)).status === 401, 'the old token is still accepted');
      await page.getByRole('switch', { name: 'Accepts calls' }).uncheck();
      await page.getByText('Calls are refused.').waitFor();
      expect((await call(next)).status === 403, 'a webhook that is switched off accepts calls');
      await deliveries.getByText('The webhook was switched off').waitFor();
    },
  },
  {
    name: 'changing the proof of a live webhook asks first',
    async run({ page, api, base, world, expect }) {
      const { id } = await createAutomation(api, world, 'Pushes', { type: 'webhook' });
      await api('PUT', `/v1/automations/${id}/webhook`, { mode: 'token' });
      const mode = async () => (await api('GET', `/v1/automations/${id}/webhook`)).mode;
      await page.goto(`${base}/w/${world.ws}/automations/${id}/webhook`);
      await page.getByRole('radio', { name: /^Code host/ }).check();
      await page.getByRole('button', { name: 'Change proof' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('You get a new secret').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      expect((await mode()) === 'token', 'the proof was changed without a yes');
      await page.getByRole('button', { name: 'Change proof' }).click();
      await dialog.getByRole('button', { name: 'Change proof' }).click();
      expect((await keepSecret(page)).startsWith('qws_'), 'the new secret is not one to sign with');
      await page.getByRole('button', { name: 'GitHub' }).waitFor();
      expect((await mode()) === 'code_host', 'the proof was not changed');
    },
  },
  {
    name: 'the settings of a form refuse what is no site',
    phone: true,
    async run({ page, api, base, world, expect }) {
      const { id } = await createAutomation(api, world, 'Contact', { type: 'form' });
      await page.goto(`${base}/w/${world.ws}/automations/${id}/webhook`);
      await page.getByRole('button', { name: 'Set up' }).click();
      const sites = page.getByLabel('Sites that may send it');
      await sites.fill('www.example.com');
      await page.getByText('is not the start of an address').waitFor();
      await sites.fill('https://www.example.com');
      await page.getByLabel('Hidden field').fill('_nickname');
      await page.locator('form').filter({ has: sites }).getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved.').waitFor();
      const { form } = await api('GET', `/v1/automations/${id}/webhook`);
      expect(form.hiddenField === '_nickname' && form.allowedSites.join() === 'https://www.example.com', 'the form was not saved');
    },
  },
  {
    name: 'a viewer sees automations and may not change them',
    role: 'viewer',
    async run({ page, api, base, world, expect }) {
      await page.goto(`${base}/w/${world.ws}/automations`);
      const create = page.getByRole('button', { name: 'Create automation' });
      expect((await create.getAttribute('aria-disabled')) === 'true', 'a viewer may create an automation');
      await page.goto(`${base}/w/${world.ws}/automations/${world.automation}`);
      const pause = page.getByRole('button', { name: 'Pause' });
      expect((await pause.getAttribute('aria-disabled')) === 'true', 'a viewer may pause an automation');
      const { status } = await api('GET', `/v1/automations/${world.automation}`);
      await pause.click({ force: true });
      expect((await api('GET', `/v1/automations/${world.automation}`)).status === status, 'a viewer changed it');
    },
  },
];
