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
];
