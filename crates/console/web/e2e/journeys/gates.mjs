// What a person does with gates: sees who uses them, closes and opens them.

export default [
  {
    name: 'an admin closes a gate and takes it back',
    role: 'admin',
    async run({ page, world, api, expect }) {
      const [gate] = (await api('GET', `/v1/workspaces/${world.ws}/gates`)).items;
      const status = async () => (await api('GET', `/v1/workspaces/${world.ws}/gates`)).items.find(({ id }) => id === gate.id).status;
      await page.goto(`/w/${world.ws}/gates`);
      const row = page.getByRole('row', { name: new RegExp(gate.host) });
      await row.getByRole('link', { name: 'Notebook' }).waitFor();
      await row.getByRole('button', { name: 'Close gate' }).click();
      await page.getByText(`The gate to ${gate.host} is closed.`).waitFor();
      expect((await status()) === 'closed', 'The gate is not closed.');
      await page.getByRole('button', { name: 'Undo' }).click();
      await row.getByText('Open', { exact: true }).waitFor();
      expect((await status()) === 'open', 'The gate was not opened again.');
    },
  },
  {
    name: 'a gate is opened in its panel after a question',
    async run({ page, world, api, expect }) {
      const [gate] = (await api('GET', `/v1/workspaces/${world.ws}/gates`)).items;
      await api('PATCH', `/v1/gates/${gate.id}`, { status: 'closed' });
      await page.goto(`/w/${world.ws}/gates/${gate.id}`);
      const panel = page.getByRole('complementary', { name: gate.host });
      await panel.getByText('are refused, whatever the manifests say', { exact: false }).waitFor();
      await panel.getByRole('button', { name: 'Open gate' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      const { items } = await api('GET', `/v1/workspaces/${world.ws}/gates`);
      expect(items.find(({ id }) => id === gate.id).status === 'closed', 'The gate was opened although the person said no.');
      await panel.getByRole('button', { name: 'Open gate' }).click();
      await dialog.getByRole('button', { name: 'Open gate' }).click();
      await page.getByText(`The gate to ${gate.host} is open.`).waitFor();
    },
  },
  {
    name: 'a builder sees gates and may not open them',
    role: 'builder',
    async run({ page, world, expect }) {
      await page.goto(`/w/${world.ws}/gates`);
      const button = page.getByRole('button', { name: 'Close gate' }).first();
      await button.waitFor();
      expect((await button.getAttribute('aria-disabled')) === 'true', 'A builder can close a gate.');
      await page.goto(`/w/${world.ws}/gates?status=closed`);
      await page.getByText('No gate fits these filters').waitFor();
    },
  },
  {
    name: 'an admin creates a gate, deletes it and takes that back',
    role: 'admin',
    async run({ page, world, api, expect }) {
      const find = async () => (await api('GET', `/v1/workspaces/${world.ws}/gates`)).items.find(({ host }) => host === 'api.example.com');
      await page.goto(`/w/${world.ws}/gates`);
      await page.getByRole('button', { name: 'New gate' }).click();
      const panel = page.locator('aside.panel');
      await panel.getByLabel('Host').fill('https://api.example.com/');
      await panel.getByRole('button', { name: 'Create gate' }).click();
      await panel.getByRole('alert').filter({ hasText: 'Enter the name of a host' }).waitFor();
      await panel.getByLabel('Host').fill('api.example.com');
      await panel.getByLabel('POST').check();
      await panel.getByRole('button', { name: 'Create gate' }).click();
      await page.getByText('The gate to api.example.com is created and open.').waitFor();
      expect((await find()).methods.join() === 'GET,POST', 'The gate has other methods.');
      await panel.getByRole('button', { name: 'Delete gate' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete gate' }).click();
      await page.getByText('The gate to api.example.com is deleted.').waitFor();
      expect((await find()) === undefined, 'The gate is not deleted.');
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByRole('row', { name: /api\.example\.com/ }).waitFor();
      expect((await find()).methods.join() === 'GET,POST', 'The gate that was created again has other methods.');
    },
  },
  {
    name: 'the gate of a connection is deleted with the connection',
    async run({ page, world, api, expect }) {
      await api('POST', `/v1/workspaces/${world.ws}/connectors/github`, { displayName: 'Our GitHub', secret: 'ghp_000011112222333344445555666677778888' });
      const gate = (await api('GET', `/v1/workspaces/${world.ws}/gates`)).items.find(({ connectionId }) => connectionId !== null);
      await page.goto(`/w/${world.ws}/gates/${gate.id}`);
      const panel = page.locator('aside.panel');
      await panel.getByText('belongs to a connection').waitFor();
      expect((await panel.getByRole('button', { name: 'Delete gate' }).count()) === 0, 'The gate of a connection can be deleted.');
      await panel.getByRole('link', { name: 'Open the connection' }).click();
      await page.getByRole('complementary', { name: 'Our GitHub' }).waitFor();
    },
  },
];
