// What a person does with apps: makes one, writes code, saves, compares, shares, reads the log, deletes.

/** Types into the editor that is shown, in place of what it has. */
async function writeCode(page, text) {
  const editor = page.locator('.cm-content').first();
  await editor.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

/** Opens the dialog that saves, and publishes. */
async function publish(page, summary) {
  await page.getByRole('button', { name: 'Save…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('What has changed').fill(summary);
  await dialog.getByRole('button', { name: 'Publish version' }).click();
}

const CODE = 'export default { async scheduled(event) { console.log("from the journey", event.trigger); } };\n';

export default [
  {
    name: 'a builder makes an app from starter code',
    role: 'builder',
    async run({ page, world, expect }) {
      await page.goto(`/w/${world.ws}/apps`);
      await page.getByRole('link', { name: 'New app' }).click();
      await page.getByRole('heading', { name: 'New app' }).waitFor();
      const create = page.getByRole('button', { name: 'Create app' });
      expect((await create.getAttribute('aria-disabled')) === 'true', 'An app without a name can be created.');
      await page.getByLabel('Name', { exact: true }).fill('Order desk');
      await page.getByLabel('Description').fill('Files the orders of the shop.');
      await page.getByLabel('What it does').selectOption('both');
      await create.click();
      await page.getByRole('heading', { name: 'Order desk', level: 1 }).waitFor();
      await page.getByText('It can use nothing').or(page.getByText('Nothing was taken off.')).waitFor();
      await page.goto(`/w/${world.ws}/apps?q=order`);
      await page.getByRole('row', { name: /Order desk/ }).waitFor();
      expect(!(await page.getByRole('row', { name: /Notebook/ }).isVisible()), 'The search leaves an app that does not fit.');
    },
  },
  {
    name: 'files of an app are picked, and what does not fit is said',
    async run({ page, world, expect }) {
      const file = (name, text) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
      await page.goto(`/w/${world.ws}/apps/new`);
      await page.getByLabel('Name', { exact: true }).fill('Picked');
      await page.getByRole('radio', { name: /Your files/ }).check();
      const input = page.locator('input[type=file]:not([webkitdirectory])');
      await input.setInputFiles([file('helper.js', 'export const a = 1;'), { name: 'logo.png', mimeType: 'image/png', buffer: Buffer.from([0x89, 0x50, 0xff, 0x00]) }]);
      await page.getByText('There is neither main.js nor main.ts among them', { exact: false }).waitFor();
      await page.getByText('logo.png is not text in UTF-8.').waitFor();
      await input.setInputFiles([file('main.js', 'export default { async scheduled( }')]);
      await page.getByText('1 file', { exact: false }).waitFor();
      await page.getByRole('button', { name: 'Create app' }).click();
      await page.getByRole('alert').filter({ hasText: 'does not compile' }).waitFor();
      await input.setInputFiles([file('main.js', CODE)]);
      await page.getByRole('button', { name: 'Create app' }).click();
      await page.getByRole('heading', { name: 'Picked', level: 1 }).waitFor();
      expect(/\/apps\/app_/.test(page.url()), 'The new app is not shown.');
    },
  },
  {
    name: 'code with a mistake is refused at its line, and saved once it is mended',
    async run({ page, world, expect, api }) {
      await page.goto(`/w/${world.ws}/apps/${world.app}/code?file=main.js`);
      await writeCode(page, 'export default {\n  async scheduled( {\n};\n');
      await publish(page, 'Broken');
      await page.getByText(/^main\.js, line \d+:/).waitFor();
      await page.locator('.cm-problemLine').waitFor();
      await writeCode(page, CODE);
      await publish(page, 'Log what came in');
      await page.getByText('Version 2 is the current one.').waitFor();
      const { versions } = await api('GET', `/v1/apps/${world.app}/versions`);
      expect(versions.length === 2 && versions[0].summary === 'Log what came in', 'The version was not saved as written.');
      await page.getByText('Based on version 2.').waitFor();
    },
  },
  {
    name: 'unsaved code is asked about before one leaves',
    async run({ page, world, expect }) {
      await page.goto(`/w/${world.ws}/apps/${world.app}/code`);
      await writeCode(page, CODE);
      await page.getByText('1 file changed').waitFor();
      await page.getByRole('link', { name: 'Versions' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      expect(page.url().endsWith('/code'), 'The page was left although the person stayed.');
      await page.getByRole('button', { name: 'Discard changes' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Discard changes' }).click();
      await page.getByRole('link', { name: 'Versions' }).click();
      await page.getByText('Versions: 1').waitFor();
    },
  },
  {
    name: 'what is typed fast stays where it is typed',
    async run({ page, world, api, expect }) {
      await page.goto(`/w/${world.ws}/apps/${world.app}/code?file=main.js`);
      await writeCode(page, CODE);
      await page.keyboard.type('// one\n// two\n// three and some more words\n');
      await publish(page, 'Typed');
      await page.getByText('Version 2 is the current one.').waitFor();
      const { versions } = await api('GET', `/v1/apps/${world.app}/versions`);
      const { files } = await api('GET', `/v1/apps/${world.app}/versions/${versions[0].id}`);
      expect(files['main.js'].trimEnd() === `${CODE}// one\n// two\n// three and some more words`, `The typed text is elsewhere: ${files['main.js']}`);
    },
  },
  {
    name: 'names of the runtime are completed with their signatures',
    async run({ page, world, expect }) {
      await page.goto(`/w/${world.ws}/apps/${world.app}/code?file=main.js`);
      await writeCode(page, 'export default { async scheduled(event, env, ctx) {\n');
      const options = page.getByRole('listbox').getByRole('option');
      await page.keyboard.type('await ctx.');
      await options.filter({ hasText: 'approval(question:' }).waitFor();
      await page.keyboard.type('app');
      await page.waitForFunction(() => [...document.querySelectorAll('.code-host')].some(({ shadowRoot }) => shadowRoot?.querySelectorAll('li[role=option]').length === 1));
      await page.keyboard.press('Enter');
      await page.keyboard.type("({ title: 'ctx.");
      await page.keyboard.type("' });\nenv.data.shop.");
      await options.filter({ hasText: 'select' }).first().waitFor();
      expect((await options.count()) === 5, 'not the five methods of a project');
      await page.keyboard.press('Escape');
      await page.getByText('await ctx.approval({ title: \'ctx.\' });').waitFor();
    },
  },
  {
    name: 'files are added, renamed, deleted and taken back',
    async run({ page, world, expect }) {
      await page.goto(`/w/${world.ws}/apps/${world.app}/code`);
      const tab = (name) => page.getByRole('group', { name: 'Files' }).getByRole('button', { name });
      await page.getByRole('button', { name: 'Add file' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Path').fill('main.js');
      await dialog.getByText('There is such a file.').waitFor();
      await dialog.getByLabel('Path').fill('../secrets');
      await dialog.getByText('Use letters, digits', { exact: false }).waitFor();
      await dialog.getByLabel('Path').fill('lib/title.js');
      await dialog.getByRole('button', { name: 'Add file' }).click();
      await tab('lib/title.js').waitFor();
      await page.getByRole('button', { name: 'What to do with lib/title.js' }).click();
      await page.getByRole('menuitem', { name: 'Rename' }).click();
      await dialog.getByLabel('Path').fill('lib/titles.js');
      await dialog.getByRole('button', { name: 'Rename' }).click();
      await tab('lib/titles.js').waitFor();
      await page.getByRole('button', { name: 'What to do with lib/titles.js' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await tab('lib/titles.js').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Undo' }).click();
      await tab('lib/titles.js').waitFor();
      await tab('main.js').click();
      await page.getByRole('button', { name: 'What to do with main.js' }).click();
      expect((await page.getByRole('menuitem', { name: /Delete/ }).getAttribute('aria-disabled')) === 'true', 'The entry file can be deleted.');
    },
  },
  {
    name: 'a version that somebody else saved meanwhile is not overwritten unseen',
    async run({ page, world, expect, api }) {
      await page.goto(`/w/${world.ws}/apps/${world.app}/code?file=main.js`);
      await writeCode(page, `${CODE}// mine\n`);
      await page.getByText('1 file changed').waitFor();
      await api('POST', `/v1/apps/${world.app}/versions`, { files: { 'main.js': `${CODE}// theirs\n` }, summary: 'Theirs' });
      await page.getByText('published version 2 meanwhile: Theirs', { exact: false }).waitFor();
      await page.getByRole('button', { name: 'Keep mine on top' }).click();
      await publish(page, 'Mine on top');
      await page.getByText('Version 3 is the current one.').waitFor();
      const { versions } = await api('GET', `/v1/apps/${world.app}/versions`);
      const { files } = await api('GET', `/v1/apps/${world.app}/versions/${versions[0].id}`);
      expect(files['main.js'].includes('// mine') && !files['main.js'].includes('// theirs'), 'The saved code is not what was kept.');
    },
  },
  {
    name: 'two versions are compared, and the earlier one comes back as a new one',
    async run({ page, world, expect, api }) {
      const { currentVersionId } = await api('GET', `/v1/apps/${world.app}`);
      const { manifest } = await api('GET', `/v1/apps/${world.app}/versions/${currentVersionId}`);
      const egress = [...manifest.permissions.egress, { host: 'prices.example.com', methods: ['GET', 'POST'] }];
      await api('POST', `/v1/apps/${world.app}/versions`, { files: { 'main.js': CODE }, manifest: { ...manifest, permissions: { ...manifest.permissions, egress } }, summary: 'Ask prices' });
      await page.goto(`/w/${world.ws}/apps/${world.app}/versions`);
      await page.getByRole('row', { name: /Ask prices/ }).click();
      await page.getByText('It may call prices.example.com (GET, POST).').waitFor();
      await page.getByText('files differ', { exact: false }).or(page.getByText('file differs', { exact: false })).waitFor();
      await page.goto(`/w/${world.ws}/apps/${world.app}/versions/99`);
      await page.getByText('There is no version 99').waitFor();
      await page.goto(`/w/${world.ws}/apps/${world.app}/versions/1`);
      await page.getByRole('button', { name: 'Use these files as a new version' }).click();
      await page.getByText('These are the files of version 1.', { exact: false }).waitFor();
      await page.getByRole('button', { name: 'Save…' }).click();
      await page.getByRole('dialog').getByText('It may no longer call prices.example.com', { exact: false }).waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Publish version' }).click();
      await page.getByText('Version 3 is the current one.').waitFor();
      const { versions } = await api('GET', `/v1/apps/${world.app}/versions`);
      expect(versions[0].summary === 'Back to version 1', 'The summary does not say where the files come from.');
      // The way back without a new version names both, and the list shows who went it.
      await page.goto(`/w/${world.ws}/apps/${world.app}/versions/2`);
      await page.getByRole('button', { name: 'Roll back to this version' }).click();
      await page.getByRole('dialog').getByText('Go back from version 3 to version 2?').waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
      await page.getByText('Version 2 is the current one again.').waitFor();
      await page.goto(`/w/${world.ws}/apps/${world.app}/versions`);
      await page.getByText('went from version 3 to version 2.', { exact: false }).waitFor();
      const moved = await api('GET', `/v1/apps/${world.app}/versions`);
      expect(moved.versions.length === versions.length && moved.currentVersionId === versions[1].id, 'The app is not at version 2.');
    },
  },
  {
    name: 'a rollback says which automations it pauses, and what stays, until somebody has read it',
    async run({ page, world, expect, api }) {
      const { currentVersionId } = await api('GET', `/v1/apps/${world.app}`);
      const { manifest } = await api('GET', `/v1/apps/${world.app}/versions/${currentVersionId}`);
      const hourly = { type: 'schedule', cron: '7 * * * *', timezone: 'UTC' };
      // A schedule without a cron expression declares every one.
      const triggers = manifest.triggers.filter(({ type }) => type !== 'schedule');
      const earlier = await api('POST', `/v1/apps/${world.app}/versions`, { files: { 'main.js': CODE }, manifest: { ...manifest, triggers }, summary: 'By hand' });
      const later = { ...manifest, triggers: [...triggers, hourly], permissions: { ...manifest.permissions, secrets: [{ name: 'KEY' }] } };
      const { number } = await api('POST', `/v1/apps/${world.app}/versions`, { files: { 'main.js': CODE }, manifest: later, summary: 'Every hour' });
      await api('PUT', `/v1/apps/${world.app}/secrets/KEY`, { value: 'a-secret-of-a-journey' });
      const { id } = await api('POST', `/v1/workspaces/${world.ws}/automations`, { name: 'Hourly', appId: world.app, trigger: hourly });
      await page.goto(`/w/${world.ws}/apps/${world.app}/versions/${earlier.number}`);
      await page.getByRole('button', { name: 'Roll back to this version' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(`An automation whose trigger only version ${number} declares is paused`, { exact: false }).waitFor();
      await dialog.getByRole('button', { name: 'Roll back' }).click();
      await dialog.getByRole('heading', { name: `Version ${earlier.number} is the current one again.` }).waitFor();
      await dialog.getByText('The automation "Hourly" is paused.').waitFor();
      await dialog.getByText('The secret KEY keeps its value', { exact: false }).waitFor();
      expect((await api('GET', `/v1/automations/${id}`)).status === 'paused', 'The automation is not paused.');
      await dialog.getByRole('button', { name: 'Done' }).click();
      await dialog.waitFor({ state: 'detached' });
    },
  },
  {
    name: 'a refused run leads to a planned change, and on to the editor',
    async run({ page, world, api }) {
      await api('POST', `/v1/apps/${world.app}/versions`, { files: { 'main.js': 'export default { async scheduled() { await fetch("https://prices.example.com/") } }' } });
      const { runId } = await api('POST', `/v1/automations/${world.automation}/run`, {});
      await page.goto(`/w/${world.ws}/runs/${runId}`);
      await page.getByRole('button', { name: 'Plan a change that allows prices.example.com' }).click();
      await page.getByText('The manifest now names the host prices.example.com (GET).', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Open in the editor' }).click();
      await page.getByText('The planned change is in the manifest, and is not saved yet.').waitFor();
      await page.getByRole('button', { name: 'Save…' }).click();
      await page.getByRole('dialog').getByText(/It may call prices\.example\.com/).waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Publish version' }).click();
      await page.getByText('Version 3 is the current one.').waitFor();
    },
  },
  {
    name: 'a draft is tried beside the editor',
    async run({ page, world, api, expect }) {
      await api('POST', `/v1/apps/${world.app}/versions`, { files: { 'main.js': 'export default { async scheduled(event) { console.log("got", event.data); await fetch("https://prices.example.com/"); return { is: 1 } } }' } });
      const { versions } = await api('GET', `/v1/apps/${world.app}/versions`);
      await page.goto(`/w/${world.ws}/apps/${world.app}/code`);
      await page.getByRole('button', { name: 'Try', exact: true }).click();
      await page.getByRole('button', { name: 'Run draft' }).click();
      await page.getByText('GET prices.example.com was refused: the manifest does not allow it.').waitFor();
      await page.getByRole('log', { name: 'Log of the draft' }).getByText('got {}').waitFor();
      expect((await api('GET', `/v1/apps/${world.app}/versions`)).versions.length === versions.length, 'A draft became a version.');
      await page.getByRole('button', { name: 'Delete my draft' }).click();
      await page.getByText('Your draft was deleted.').waitFor();
      await page.getByRole('button', { name: 'Plan a change' }).click();
      await page.getByText('The manifest now names the host prices.example.com (GET).', { exact: true }).waitFor();
    },
  },
  {
    name: 'a template becomes an app with its table',
    async run({ page, world, api, expect }) {
      await page.goto(`/w/${world.ws}/apps/templates`);
      await page.getByRole('searchbox', { name: 'Search' }).fill('links');
      await page.getByRole('link', { name: /^Short links/ }).click();
      await page.getByLabel('Project for its rows').selectOption(world.project);
      await page.getByRole('button', { name: 'Create app' }).click();
      await page.getByText('Short links was created.').waitFor();
      await page.waitForURL(/\/apps\/app_/);
      const { tables } = await api('GET', `/v1/backend/projects/${world.project}`);
      expect(tables.some(({ name }) => name === 'links'), 'The project has no table of the template.');
    },
  },
  {
    name: 'a sentence becomes a plan, and the plan a version',
    async run({ page, world, api, expect }) {
      await page.goto(`/w/${world.ws}/apps/${world.app}/changes`);
      await page.getByLabel('What should change?').fill('Let the app read from prices.example.com. Make coffee.');
      await page.getByRole('button', { name: 'Each run saves 15 minutes.' }).click();
      await page.getByRole('button', { name: 'Plan it' }).click();
      await page.getByText('Not understood: Make coffee. Nothing of it is planned.').waitFor();
      await page.getByText('The manifest now names the host prices.example.com (GET).', { exact: true }).waitFor();
      const before = await api('GET', `/v1/apps/${world.app}/versions`);
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByText('The change is live.').waitFor();
      await page.locator('.badge', { hasText: 'Live' }).waitFor();
      const after = await api('GET', `/v1/apps/${world.app}/versions`);
      expect(after.versions.length === before.versions.length + 1, 'The plan did not become a version.');
      const { manifest } = await api('GET', `/v1/apps/${world.app}/versions/${after.currentVersionId}`);
      expect(manifest.roi.manualMinutesPerRun === 15, 'The second sentence has no effect.');
    },
  },
  {
    name: 'the log shows lines as they come, and finds them',
    async run({ page, world, api, expect }) {
      await api('POST', `/v1/apps/${world.app}/versions`, { files: { 'main.js': 'export default { async scheduled() { console.log("a quiet line"); console.error("a loud line"); } }' } });
      await page.goto(`/w/${world.ws}/apps/${world.app}/logs`);
      await page.getByText('Live', { exact: true }).waitFor();
      await api('POST', `/v1/automations/${world.automation}/run`, {});
      await page.getByText('a quiet line').waitFor();
      await page.getByRole('searchbox', { name: 'Search the log' }).fill('LOUD');
      await page.waitForURL(/q=LOUD/);
      await page.locator('mark', { hasText: 'loud' }).waitFor();
      await page.getByText('a quiet line').waitFor({ state: 'detached' });
      await page.goto(`/w/${world.ws}/apps/${world.app}/logs?level=error`);
      await page.getByText('a loud line').waitFor();
      expect((await page.getByText('a quiet line').count()) === 0, 'The filter by level leaves a line of a lower one.');
      await page.goto(`/w/${world.ws}/apps/${world.app}/logs?q=${'nothing-has-this'}`);
      await page.getByText('No line fits these filters').waitFor();
    },
  },
  {
    name: 'an app that everybody sees becomes private',
    async run({ page, world, api, expect }) {
      await page.goto(`/w/${world.ws}/apps/${world.app}/access`);
      const save = page.getByRole('button', { name: 'Save' });
      expect((await save.getAttribute('aria-disabled')) === 'true', 'Nothing can be saved.');
      await page.getByRole('radio', { name: /Private/ }).check();
      await save.click();
      await page.getByText('Access was saved.').waitFor();
      const { sharing } = await api('GET', `/v1/apps/${world.app}/access`);
      expect(sharing === 'private', 'The sharing was not saved.');
    },
  },
  {
    name: 'a secret gets a value that the page never shows, another one, and is deleted',
    async run({ page, world, api, expect }) {
      const { currentVersionId } = await api('GET', `/v1/apps/${world.app}`);
      const { manifest, files } = await api('GET', `/v1/apps/${world.app}/versions/${currentVersionId}`);
      const secrets = [{ name: 'SIGNING_KEY', uses: ['sign'] }, { name: 'TOKEN', clear: true }];
      await api('POST', `/v1/apps/${world.app}/versions`, { files, manifest: { ...manifest, permissions: { ...manifest.permissions, secrets } } });
      await page.goto(`/w/${world.ws}/apps/${world.app}/secrets`);
      await page.getByText('The code names SIGNING_KEY, TOKEN, which have no values.').waitFor();
      await page.getByRole('row', { name: /SIGNING_KEY/ }).getByRole('button', { name: 'Give value' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByText('Enter the value').waitFor();
      await dialog.getByLabel('Value').fill('s3cret-of-a-journey');
      await dialog.getByLabel('Hosts').fill('10.0.0.1');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.getByRole('alert').filter({ hasText: 'hosts[0]' }).waitFor();
      await dialog.getByLabel('Hosts').fill('api.example.com, b.example.com');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByText('The secret SIGNING_KEY has a new value.').waitFor();
      await page.getByRole('cell', { name: 'api.example.com, b.example.com' }).waitFor();
      expect(!(await page.content()).includes('s3cret-of-a-journey'), 'The value is on the page.');
      await page.getByRole('row', { name: /TOKEN/ }).getByRole('button', { name: 'Give value' }).click();
      await dialog.getByLabel('Value').fill('s3cret-of-a-journey');
      await dialog.getByLabel('The code may have it as text').check();
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByText('The code gets TOKEN as text', { exact: false }).waitFor();
      await page.getByRole('button', { name: 'Actions for SIGNING_KEY' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await page.getByText('The secret SIGNING_KEY was deleted.').waitFor();
      await page.getByText('The code names SIGNING_KEY, which has no value.').waitFor();
    },
  },
  {
    name: 'an app is renamed, paused and deleted by its typed name',
    async run({ page, world, api, expect }) {
      await page.goto(`/w/${world.ws}/apps/${world.app}/settings`);
      await page.getByLabel('Name', { exact: true }).fill('N');
      expect((await page.getByRole('button', { name: 'Save' }).getAttribute('aria-disabled')) === 'true', 'A name of one letter can be saved.');
      await page.getByLabel('Name', { exact: true }).fill('Diary');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: 'Diary', level: 1 }).waitFor();
      await page.getByRole('switch', { name: 'Paused' }).check();
      await page.getByText('The app is paused.').waitFor();
      expect((await api('GET', `/v1/apps/${world.app}`)).status === 'paused', 'The app is not paused.');
      await page.getByRole('button', { name: 'Delete app' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('textbox').fill('Notebook');
      expect((await dialog.getByRole('button', { name: 'Delete app' }).getAttribute('aria-disabled')) === 'true', 'A wrong name confirms.');
      await dialog.getByRole('textbox').fill('Diary');
      await dialog.getByRole('button', { name: 'Delete app' }).click();
      await page.getByText('No apps yet').waitFor();
    },
  },
  {
    name: 'a viewer reads an app and changes nothing',
    role: 'viewer',
    async run({ page, world, expect }) {
      await page.goto(`/w/${world.ws}/apps/${world.app}`);
      await page.getByRole('link', { name: 'Read code' }).click();
      await page.getByText('You may not change this app.', { exact: false }).waitFor();
      expect((await page.locator('.tabs').getByText('Settings').count()) === 0, 'A viewer sees the settings of an app.');
      expect((await page.getByRole('button', { name: 'Save…' }).getAttribute('aria-disabled')) === 'true', 'A viewer can save.');
    },
  },
  {
    name: 'a log is read on a phone',
    phone: true,
    async run({ page, world, api, expect }) {
      await api('POST', `/v1/automations/${world.automation}/run`, {});
      await page.goto(`/w/${world.ws}/apps/${world.app}/logs`);
      await page.getByText(/Saved note/).first().waitFor();
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow <= 0, `The page is ${overflow} px too wide.`);
    },
  },
  {
    name: 'what the page needs is requested once, before the modules have run',
    phone: true,
    async run({ page, world, expect }) {
      await page.goto(`/w/${world.ws}/apps`);
      await page.locator('.apps-name').first().waitFor();
      const requests = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name, initiatorType, startTime }) => ({ path: name.slice(location.origin.length), initiatorType, startTime })));
      const early = Math.min(...requests.filter(({ path }) => path.startsWith('/v1/workspaces/')).map(({ startTime }) => startTime));
      for (const path of ['/v1/session', '/v1/workspaces?limit=200']) {
        const found = requests.filter((request) => request.path === path);
        expect(found.length === 1 && found[0].initiatorType === 'link', `${path} is preloaded and read from there: ${JSON.stringify(found)}`);
      }
      const modules = requests.filter(({ path }) => /^\/console\/.*\.(js|css)$/.test(path));
      expect(new Set(modules.map(({ path }) => path)).size === modules.length, 'no file is requested twice');
      expect(modules.every(({ startTime }) => startTime < early), 'every file is requested before the first list');
    },
  },
  {
    name: 'after a change allows a host, the runs that were stopped there are run again by one button',
    run: async ({ page, base, api, world, expect }) => {
      const host = 'rates.example.com';
      const source = `export default { async scheduled() { await fetch('https://${host}/today'); } };`;
      const app = (await api('POST', `/v1/workspaces/${world.ws}/apps`, { name: 'Rates', files: { 'main.js': source } })).id;
      const automation = (await api('POST', `/v1/workspaces/${world.ws}/automations`, { name: 'Rates by hand', appId: app, trigger: { type: 'manual' } })).id;
      const runs = [];
      for (let number = 0; number < 2; number += 1) runs.push((await api('POST', `/v1/automations/${automation}/run`, {})).runId);
      await page.goto(`${base}/w/${world.ws}/runs/${runs[1]}`);
      await page.getByText('Blocked').first().waitFor();
      await page.getByRole('button', { name: `Plan a change that allows ${host}` }).click();
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
      await page.getByRole('button', { name: 'Replay the 2 blocked runs' }).click();
      await page.getByText('2 runs were started again.').waitFor();
      const { items } = await api('GET', `/v1/workspaces/${world.ws}/runs?appId=${app}`);
      expect(items.map(({ replayOf }) => replayOf).filter(Boolean).sort().join() === [...runs].sort().join(), 'each run was run again once');
      await page.reload();
      await page.getByRole('heading', { level: 2 }).first().waitFor();
      await page.getByText('Live', { exact: true }).first().waitFor();
      expect((await page.getByRole('button', { name: /blocked run/ }).count()) === 0, 'they are not offered again');
    },
  },
];
