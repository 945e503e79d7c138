const dialog = (page) => page.locator('dialog[open]');
const panel = (page) => page.locator('aside.panel');

export default [
  {
    name: 'A token is created, shown once, works, and is revoked',
    run: async ({ page, base, world, expect }) => {
      await page.goto(`${base}/w/${world.ws}/settings/tokens`);
      await page.getByRole('link', { name: 'Create token' }).first().click();
      await panel(page).getByLabel('Name').fill('Nightly export');
      await panel(page).getByRole('button', { name: 'Create token' }).click();
      const secret = await dialog(page).locator('.secret code').textContent();
      const self = async () => (await fetch(`${base}/v1/tokens/self`, { headers: { authorization: `Bearer ${secret}` } })).status;
      expect((await self()) === 200, 'the token works');
      await dialog(page).getByRole('checkbox').check();
      await dialog(page).getByRole('button', { name: 'Done' }).click();
      const row = page.getByRole('row', { name: 'Nightly export' });
      await row.getByText('Valid').waitFor();
      expect(!(await page.content()).includes(secret), 'the value is gone from the page');
      await row.getByRole('button', { name: 'Actions for Nightly export' }).click();
      await page.getByRole('menuitem', { name: 'Revoke' }).click();
      await dialog(page).getByRole('button', { name: 'Revoke' }).click();
      await row.getByText('Revoked').or(page.getByText('No tokens')).first().waitFor();
      expect((await self()) === 401, 'the token does not work any more');
    },
  },
  {
    name: 'A token needs a name',
    phone: true,
    run: async ({ page, base, world, expect }) => {
      await page.goto(`${base}/w/${world.ws}/settings/tokens/new`);
      await panel(page).getByRole('button', { name: 'Create token' }).click();
      expect(await panel(page).getByLabel('Name').evaluate((input) => !input.validity.valid), 'the field says that it is empty');
      expect((await dialog(page).count()) === 0, 'no token is shown');
    },
  },
  {
    name: 'The audit log is filtered by its address, and an entry shows its request',
    run: async ({ page, base, api, world, expect }) => {
      await api('POST', `/v1/workspaces/${world.ws}/tokens`, { name: 'For the log', scopes: ['read'] });
      await page.goto(`${base}/w/${world.ws}/settings/audit?action=token.create`);
      const actions = page.locator('.settings-action');
      await actions.first().waitFor();
      expect((await actions.allTextContents()).every((text) => text === 'token.create'), 'only that action is listed');
      await actions.first().click();
      await dialog(page).getByText(/^req_/).waitFor();
      await page.keyboard.press('Escape');
      await page.goto(`${base}/w/${world.ws}/settings/audit?action=member.remove`);
      await page.getByText('No entry matches these filters').waitFor();
    },
  },
  {
    name: 'A builder does not read the audit log, and changes no setting',
    role: 'builder',
    run: async ({ page, base, world, expect }) => {
      await page.goto(`${base}/w/${world.ws}/settings/audit`);
      await page.getByText('The audit log is for admins and owners').waitFor();
      await page.goto(`${base}/w/${world.ws}/settings`);
      await page.getByText('Retention').waitFor();
      expect((await page.getByRole('button', { name: 'Delete workspace' }).count()) === 0, 'there is no button to delete the workspace');
    },
  },
  {
    name: 'The workspace is renamed, and the rail says so',
    run: async ({ page, base, world }) => {
      await page.goto(`${base}/w/${world.ws}/settings`);
      await page.getByLabel('Name', { exact: true }).fill('Almaty Bakery');
      await page.getByLabel('Cost of an hour of work').fill('4500.50');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved.').waitFor();
      await page.locator('.rail-switcher', { hasText: 'Almaty Bakery' }).waitFor();
    },
  },
  {
    name: 'An admin renames the workspace and reads the audit log, and may not delete the workspace',
    role: 'admin',
    run: async ({ page, base, world, expect }) => {
      await page.goto(`${base}/w/${world.ws}/settings`);
      await page.getByLabel('Name', { exact: true }).fill('Shymkent Bakery');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Saved.').waitFor();
      expect((await page.locator('.settings-danger').count()) === 0, 'An admin is offered the deletion.');
      await page.goto(`${base}/w/${world.ws}/settings/audit`);
      await page.getByRole('row').filter({ hasText: 'workspace.update' }).first().waitFor();
    },
  },
  {
    name: 'A member creates a data project, and changes no setting',
    role: 'member',
    run: async ({ page, base, api, world, expect }) => {
      await page.goto(`${base}/w/${world.ws}/data/new`);
      await page.getByLabel('Name', { exact: true }).fill('Stock');
      await page.getByRole('button', { name: 'Create project' }).click();
      await page.getByRole('heading', { name: 'Stock' }).waitFor();
      const { items } = await api('GET', `/v1/workspaces/${world.ws}/backend/projects`);
      expect(items.some(({ name }) => name === 'Stock'), 'The project does not exist.');
      await page.goto(`${base}/w/${world.ws}/settings`);
      await page.getByLabel('Name', { exact: true }).fill('Mine');
      expect((await page.getByRole('button', { name: 'Save', exact: true }).getAttribute('aria-disabled')) === 'true', 'A member may save.');
    },
  },
  {
    name: 'A workspace is deleted only after its name is typed, and restored from the account',
    run: async ({ page, base, api, world, expect }) => {
      const { name } = (await api('GET', '/v1/workspaces')).items.find(({ id }) => id === world.ws);
      await page.goto(`${base}/w/${world.ws}/settings`);
      await page.getByRole('button', { name: 'Delete workspace' }).click();
      await dialog(page).getByRole('textbox').fill(`${name}!`);
      expect((await dialog(page).getByRole('button', { name: 'Delete workspace' }).getAttribute('aria-disabled')) === 'true', 'another name does not do');
      await dialog(page).getByRole('textbox').fill(name);
      await dialog(page).getByRole('button', { name: 'Delete workspace' }).click();
      await page.waitForURL((url) => url.pathname === '/account/workspaces');
      await page.locator('main').getByRole('button', { name: 'Restore' }).click();
      await page.getByText(`${name} is restored`).waitFor();
      await page.locator('main').getByRole('link', { name }).waitFor();
    },
  },
  {
    name: 'Without agents, the page says how to connect one',
    run: async ({ page, base, world }) => {
      await page.goto(`${base}/w/${world.ws}/settings/agents`);
      await page.getByText(/\/mcp$/).waitFor();
    },
  },
  {
    name: 'What was changed last is copied as a request from the search, whichever page changed it',
    async run({ page, base, api, context, world, expect }) {
      await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: base });
      const [gate] = (await api('GET', `/v1/workspaces/${world.ws}/gates`)).items;
      await page.goto(`${base}/w/${world.ws}/gates`);
      await page.getByRole('button', { name: 'Close gate' }).first().click();
      await page.getByText(`The gate to ${gate.host} is closed.`).waitFor();
      await page.keyboard.press('ControlOrMeta+k');
      await page.getByRole('dialog').getByRole('combobox').fill('latest change as curl');
      await page.keyboard.press('Enter');
      await page.getByText('Copied: PATCH').waitFor();
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      expect(copied.includes(`-X PATCH`) && copied.includes(`/v1/gates/${gate.id}`) && !copied.includes('cookie'), copied);
    },
  },
];
