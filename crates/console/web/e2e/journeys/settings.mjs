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
    name: 'The audit log says who did what to which object, and is filtered by its address',
    run: async ({ page, base, api, world, expect }) => {
      await api('POST', `/v1/workspaces/${world.ws}/tokens`, { name: 'For the log', scopes: ['read'] });
      const { name } = await api('GET', `/v1/apps/${world.app}`);
      await api('PATCH', `/v1/apps/${world.app}`, { description: 'Changed for the log.' });
      await page.goto(`${base}/w/${world.ws}/settings/audit?action=token.create`);
      const sentences = page.locator('.audit-sentence');
      await sentences.first().waitFor();
      expect((await sentences.allTextContents()).every((text) => text.startsWith('Aru created the token ')), 'only that action is listed, as a sentence');
      await page.getByRole('button', { name: /^Actions for/ }).first().click();
      await page.getByRole('menuitem', { name: 'Details' }).click();
      await dialog(page).getByText(/^req_/).waitFor();
      await page.keyboard.press('Escape');
      // The server says which actions there are.
      await page.getByRole('button', { name: /^Action\b/ }).first().click();
      await page.getByRole('menuitemradio', { name: 'Changed the app …' }).click();
      await page.waitForURL(/action=app\.update/);
      await sentences.filter({ hasText: `Aru changed the app ${name}` }).first().waitFor();
      await sentences.first().getByRole('link', { name, exact: true }).click();
      await page.waitForURL(new RegExp(`/apps/${world.app}$`));
      await page.goto(`${base}/w/${world.ws}/settings/audit?action=member.remove`);
      await page.getByText('No entry matches these filters').waitFor();
    },
  },
  {
    name: 'The history of an object is one choice away from its page, and a span of time narrows it',
    run: async ({ page, base, api, world, expect }) => {
      await api('PATCH', `/v1/apps/${world.app}`, { description: 'Changed for its history.' });
      await api('POST', `/v1/workspaces/${world.ws}/apps`, { name: 'Another of the history' });
      const planned = await api('POST', `/v1/apps/${world.app}/changes`, { instruction: 'Each run saves 5 minutes.' });
      await api('POST', `/v1/changes/${planned.changeId}/approve`, { manifest: planned.manifest });
      const { name } = await api('GET', `/v1/apps/${world.app}`);
      await page.goto(`${base}/w/${world.ws}/apps/${world.app}`);
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'History' }).click();
      await page.waitForURL(new RegExp(`appId=${world.app}`));
      await page.locator('.audit-chip', { hasText: name }).waitFor();
      const sentences = page.locator('.audit-sentence');
      const all = await sentences.allTextContents();
      for (const part of ['changed the app', 'planned a change of', 'approved a change of', 'published version']) {
        expect(all.some((text) => text.includes(part)), `“${part}” is in the history: ${all.join(' | ')}`);
      }
      expect(!all.some((text) => text.includes('Another of the history')), `only what is about the app is listed: ${all.join(' | ')}`);
      await page.getByRole('button', { name: 'Time' }).click();
      await page.getByRole('menuitem', { name: 'Choose a span…' }).click();
      await dialog(page).getByLabel('From').fill('2026-01-02T00:00');
      await dialog(page).getByLabel('To').fill('2026-01-01T00:00');
      expect((await dialog(page).getByRole('button', { name: 'Show' }).getAttribute('aria-disabled')) === 'true', 'a span that ends before it begins is no span');
      await dialog(page).getByLabel('To').fill('2026-01-03T00:00');
      await dialog(page).getByRole('button', { name: 'Show' }).click();
      await page.getByText('No entry matches these filters').waitFor();
      expect(/from=2026-01-0[12]T/.test(decodeURIComponent(page.url())), 'the span is in the address');
      await page.getByRole('button', { name: 'Show all' }).click();
      await sentences.first().waitFor();
      expect(!page.url().includes('appId='), 'no filter is left');
    },
  },
  {
    name: 'On a phone the audit log names objects, in Russian and Kazakh too',
    phone: true,
    run: async ({ page, base, api, world, expect }) => {
      const { name } = await api('GET', `/v1/apps/${world.app}`);
      await api('PATCH', `/v1/apps/${world.app}`, { description: 'Changed on a phone.' });
      for (const [language, sentence] of [['ru', `Aru: изменено приложение ${name}`], ['kk', `Aru ${name} қолданбасын өзгертті`]]) {
        await page.addInitScript((locale) => localStorage.setItem('qala.locale', locale), language);
        await page.goto(`${base}/w/${world.ws}/settings/audit?action=app.update`);
        await page.locator('.audit-sentence', { hasText: sentence }).first().waitFor();
        expect((await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)) <= 0, `the page is wider than the phone (${language})`);
      }
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
      await page.getByRole('row').filter({ hasText: 'changed the workspace' }).first().waitFor();
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
