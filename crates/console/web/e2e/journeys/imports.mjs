// What a person does with workflows of other tools: reads what is kept, creates the app, turns it on, or discards it.

import { WORKFLOW } from '../workflow.mjs';

const LONGEST = 400_000;

export default [
  {
    name: 'a builder imports a workflow and turns it on without a step',
    role: 'builder',
    async run({ page, person, world, expect }) {
      await page.goto(`/w/${world.ws}/apps`);
      await page.getByRole('link', { name: 'Imports', exact: true }).click();
      await page.getByText('No imports yet').waitFor();
      await page.getByRole('link', { name: 'Import a workflow' }).first().click();
      await page.getByLabel('Or paste the JSON').fill('{"name": ');
      await page.getByRole('button', { name: 'Analyze' }).click();
      await page.getByRole('alert').filter({ hasText: 'This is not JSON' }).waitFor();
      await page.getByLabel('Or paste the JSON').fill(WORKFLOW);
      await page.getByRole('button', { name: 'Analyze' }).click();
      await page.getByText('No connection fits yet').waitFor();
      const step = (name) => page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) });
      await step('Every morning').getByText('Kept', { exact: true }).waitFor();
      await step('Tell the team').getByText('Needs a connection: Team chat', { exact: false }).waitFor();
      expect((await person('GET', `/v1/workspaces/${world.ws}/imports`)).items.length === 0, 'The analysis created something.');
      await page.getByLabel('Name', { exact: true }).fill('News');
      await page.getByRole('button', { name: 'Create the app' }).click();
      await page.getByRole('heading', { name: 'News', level: 1 }).waitFor();
      await page.getByText('To review').waitFor();

      await page.getByRole('button', { name: 'Tell the team' }).click();
      await page.getByRole('complementary', { name: 'Tell the team' }).getByText('async function tellTheTeam', { exact: false }).waitFor();
      await page.getByRole('button', { name: 'Does nothing 1' }).click();
      await page.getByText('A note for people.').waitFor();
      expect((await page.getByText('Every morning', { exact: true }).count()) === 0, 'The filter leaves a step of another grade.');
      await page.getByRole('button', { name: 'All 4' }).click();

      const turnOn = page.getByRole('button', { name: 'Turn on' });
      await page.getByText('No connection fits yet.', { exact: false }).waitFor();
      expect((await turnOn.getAttribute('aria-disabled')) === 'true', 'The import can be turned on without a connection.');
      await page.getByLabel('Leave out Tell the team').check();
      await page.getByText('Not needed: its steps are left out.').waitFor();
      await turnOn.click();
      await page.getByText('News is turned on.').waitFor();
      await page.getByText('Turned on', { exact: true }).waitFor();
      const { items: [summary] } = await person('GET', `/v1/workspaces/${world.ws}/imports`);
      expect(summary.status === 'enabled' && summary.name === 'News', `The import is not turned on: ${JSON.stringify(summary)}`);
      expect((await person('GET', `/v1/automations/${summary.automationId}`)).status === 'active', 'The automation is not active.');
      await page.getByRole('navigation', { name: 'You are here' }).getByRole('link', { name: 'Imports' }).click();
      await page.getByRole('row', { name: /News/ }).getByText('Turned on').waitFor();
    },
  },
  {
    name: 'an admin binds the connection that fits',
    async run({ page, api, world, expect }) {
      await api('POST', `/v1/workspaces/${world.ws}/connectors/slack`, { displayName: 'Chat of the team', secret: 'xoxb-not-a-secret-000000' });
      const { id, appId } = await api('POST', `/v1/workspaces/${world.ws}/imports`, { source: WORKFLOW });
      await page.goto(`/w/${world.ws}/imports/${id}`);
      const select = page.getByLabel('Team chat (Slack)');
      await select.selectOption({ label: 'Chat of the team' });
      await page.getByRole('button', { name: 'Turn on' }).click();
      await page.getByText('Morning news is turned on.').waitFor();
      const { currentVersionId } = await api('GET', `/v1/apps/${appId}`);
      const { manifest } = await api('GET', `/v1/apps/${appId}/versions/${currentVersionId}`);
      expect(manifest.permissions.connectors.length === 1, 'The app may not use the connection.');
    },
  },
  {
    name: 'a builder is told that an admin has to bind a connection',
    role: 'builder',
    async run({ page, api, person, world, expect }) {
      await api('POST', `/v1/workspaces/${world.ws}/connectors/slack`, { displayName: 'Chat of the team', secret: 'xoxb-not-a-secret-000000' });
      const { id } = await person('POST', `/v1/workspaces/${world.ws}/imports`, { source: WORKFLOW });
      await page.goto(`/w/${world.ws}/imports/${id}`);
      await page.getByText('Ask one to turn the import on.', { exact: false }).waitFor();
      await page.getByRole('button', { name: 'Turn on' }).click();
      await page.getByRole('alert').filter({ hasText: 'Only an admin' }).waitFor();
      expect((await person('GET', `/v1/imports/${id}`)).status === 'review', 'A builder has bound a connection.');
    },
  },
  {
    name: 'an import is discarded',
    async run({ page, api, world, expect }) {
      const { id } = await api('POST', `/v1/workspaces/${world.ws}/imports`, { source: WORKFLOW });
      await page.goto(`/w/${world.ws}/imports`);
      await page.getByRole('link', { name: 'Morning news' }).click();
      await page.getByRole('button', { name: 'Discard' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      expect((await api('GET', `/v1/imports/${id}`)).status === 'review', 'The import was discarded although the person said no.');
      await page.getByRole('button', { name: 'Discard' }).click();
      await dialog.getByRole('button', { name: 'Discard' }).click();
      await page.getByText('This import was discarded.', { exact: false }).waitFor();
      const { status, appId } = await api('GET', `/v1/imports/${id}`);
      expect(status === 'discarded' && appId === null, 'The import or its app is still there.');
      expect((await page.getByRole('button', { name: 'Turn on' }).count()) === 0, 'A discarded import can be turned on.');
      await page.getByText('A note for people.').waitFor();
    },
  },
  {
    name: 'a file that is too long is minified',
    async run({ page, world }) {
      const file = (name, text) => ({ name, mimeType: 'application/json', buffer: Buffer.from(text) });
      await page.goto(`/w/${world.ws}/imports/new`);
      const input = page.locator('input[type=file]');
      await input.setInputFiles(file('binary.json', Buffer.from([0xff, 0x00])));
      await page.getByText('binary.json is not text in UTF-8.').waitFor();
      await input.setInputFiles(file('long.json', JSON.stringify({ nodes: 'x'.repeat(LONGEST) })));
      await page.getByRole('alert').filter({ hasText: 'even without white space' }).waitFor();
      await input.setInputFiles(file('padded.json', `${' '.repeat(LONGEST)}${WORKFLOW}`));
      await page.getByText('The JSON was minified', { exact: false }).waitFor();
      await page.getByRole('button', { name: 'Analyze' }).click();
      await page.getByLabel('Name', { exact: true }).waitFor();
    },
  },
];
