// What people do with tools of agents: publish an automation, review it again, turn it off, withdraw it.

const CODE = "export default { async scheduled(event) { return { got: event.data }; } };";

function versionOf(hosts) {
  const egress = hosts.map((host) => ({ host }));
  return { files: { 'main.js': CODE }, manifest: { name: 'Echo', description: 'Returns what it gets.', archetype: 'workshop', category: 'data', triggers: [{ type: 'manual' }], permissions: { egress } } };
}

async function createAutomation(api, world) {
  const app = await api('POST', `/v1/workspaces/${world.ws}/apps`, { name: 'Echo' });
  await api('PUT', `/v1/apps/${app.id}/access`, { sharing: 'workspace', people: [] });
  await api('POST', `/v1/apps/${app.id}/versions`, versionOf([]));
  const automation = await api('POST', `/v1/workspaces/${world.ws}/automations`, { name: 'New order', appId: app.id, trigger: { type: 'manual' } });
  return { app: app.id, id: automation.id, path: `/v1/automations/${automation.id}/agent-tool` };
}

async function publish(api, path) {
  const { hash } = await api('GET', path);
  const inputSchema = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] };
  return api('PUT', path, { name: 'new_order', title: 'New order', description: 'Adds an order.', inputSchema, reviewedHash: hash });
}

/** Replaces the text of a code editor, as a paste does. */
async function write(editor, text) {
  await editor.press('ControlOrMeta+a');
  await editor.page().keyboard.insertText(text);
}

export default [
  {
    name: 'an automation is published after its permissions were read',
    async run({ page, api, base, world, expect }) {
      const { id, path } = await createAutomation(api, world);
      await page.goto(`${base}/w/${world.ws}/automations/${id}`);
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Tool of agents…' }).click();
      const panel = page.getByRole('complementary', { name: 'Publish “New order” as a tool' });
      expect(await panel.getByRole('button', { name: 'Publish' }).getAttribute('aria-disabled') === 'true', 'it can be published unread');
      await panel.getByLabel('I have read what the app may do').check();
      await panel.getByLabel('Description').fill('short');
      await panel.getByRole('button', { name: 'Publish' }).click();
      await panel.getByText('8 to 400 characters').waitFor();
      await panel.getByLabel('Description').fill('Adds an order and returns it.');
      await write(panel.getByRole('textbox', { name: 'Arguments (JSON Schema)' }), JSON.stringify({ type: 'object', properties: { p: { $ref: '#' } } }));
      await panel.getByRole('button', { name: 'Publish' }).click();
      await panel.getByText('inputSchema.properties.p.type').waitFor();
      await write(panel.getByRole('textbox', { name: 'Arguments (JSON Schema)' }), JSON.stringify({ type: 'object', properties: { title: { type: 'string' } }, required: ['title'] }));
      await panel.getByRole('button', { name: 'Publish' }).click();
      await page.getByText('Published as run_new_order.').waitFor();
      const { published } = await api('GET', path);
      expect(published.state === 'live' && published.inputSchema.required[0] === 'title', `not what was entered: ${JSON.stringify(published)}`);
      await page.getByRole('row').filter({ hasText: 'run_new_order' }).getByText('Live').waitFor();
    },
  },
  {
    name: 'permissions that moved are reviewed again',
    async run({ page, api, base, world, expect }) {
      const { id, app, path } = await createAutomation(api, world);
      await publish(api, path);
      await page.goto(`${base}/w/${world.ws}/tools/${id}`);
      const panel = page.getByRole('complementary', { name: 'New order' });
      await panel.getByText('Live', { exact: true }).waitFor();
      await panel.getByLabel('I have read what the app may do').check();
      await api('POST', `/v1/apps/${app}/versions`, versionOf(['api.example.com']));
      await panel.getByText('Needs review', { exact: true }).waitFor();
      await panel.getByText('api.example.com').waitFor();
      expect(!(await panel.getByLabel('I have read what the app may do').isChecked()), 'what was read before counts as read');
      await panel.getByLabel('I have read what the app may do').check();
      await panel.getByRole('button', { name: 'Save' }).click();
      await panel.getByText('Live', { exact: true }).waitFor();
      expect((await api('GET', path)).published.state === 'live', 'it is not live');
    },
  },
  {
    name: 'a tool is turned off and withdrawn',
    async run({ page, api, base, world, expect }) {
      const { id, path } = await createAutomation(api, world);
      await publish(api, path);
      await page.goto(`${base}/w/${world.ws}/tools`);
      await page.getByRole('link', { name: 'New order' }).click();
      const panel = page.getByRole('complementary', { name: 'New order' });
      await panel.getByLabel('Agents may call it').uncheck();
      await page.getByText('Agents cannot call the tool any more.').waitFor();
      expect((await api('GET', path)).published.state === 'off', 'it is not off');
      await panel.getByRole('button', { name: 'Unpublish' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Unpublish' }).click();
      await page.getByText('No tools yet').waitFor();
      expect((await api('GET', path)).published === null, 'it is still published');
      await api('GET', `/v1/automations/${id}`);
    },
  },
  {
    name: 'the switch of a tool stays where it was put while the tool is read again',
    async run({ page, api, base, world, expect }) {
      const { path } = await createAutomation(api, world);
      await publish(api, path);
      await page.goto(`${base}/w/${world.ws}/tools`);
      await page.getByRole('link', { name: 'New order' }).click();
      const calls = page.getByRole('complementary', { name: 'New order' }).getByLabel('Agents may call it');
      await calls.waitFor();
      const held = [];
      await page.route(`**${path}`, (route) => (route.request().method() === 'GET' ? void held.push(route) : route.continue()));
      await calls.uncheck();
      await page.getByText('Agents cannot call the tool any more.').waitFor();
      expect(!(await calls.isChecked()), 'It went back.');
      for (const route of held) await route.continue();
    },
  },
  {
    name: 'a run shows what it returned',
    async run({ page, api, base, world }) {
      const { path } = await createAutomation(api, world);
      await publish(api, path);
      const { runId } = await api('POST', `${path}/runs`, { input: { title: 'Green tea' } });
      await page.goto(`${base}/w/${world.ws}/runs/${runId}`);
      await page.getByRole('group', { name: 'Result' }).getByText('Green tea').waitFor();
    },
  },
];
