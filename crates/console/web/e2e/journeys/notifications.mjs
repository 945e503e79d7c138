// What a person does with notifications: reads them, and chooses whether they come by e-mail.

import { failUntilTold } from '../failing-app.mjs';

const inRail = (page) => page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: /Notifications/ });
const countInRail = (page) => inRail(page).locator('.rail-count');

export default [
  {
    name: 'an automation that keeps failing is unread until its notification is seen',
    async run({ page, api, world, expect }) {
      await page.goto(`/w/${world.ws}/runs`);
      await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
      expect((await countInRail(page).count()) === 0, 'something is unread in a new workspace');
      const told = await failUntilTold(api, world, { name: 'Nightly' });
      expect(told.kind === 'automation_failing' && told.repeats === 0, `this was told: ${JSON.stringify(told)}`);
      await countInRail(page).filter({ hasText: '1 unread' }).waitFor();
      await inRail(page).click();
      const row = page.getByRole('row', { name: /The last three runs of the automation “Nightly” of the app “Nightly” failed or were blocked/ });
      await row.getByText('New', { exact: true }).waitFor();
      await row.getByText(told.code, { exact: true }).waitFor();
      await row.getByText(/^E-mail: /).waitFor();
      await countInRail(page).waitFor({ state: 'detached' });
      expect((await api('GET', `/v1/workspaces/${world.ws}/notifications`)).unread === 0, 'it is still unread on the server');
      expect(await row.getByText('New', { exact: true }).isVisible(), 'the mark is gone while the page is shown');
      await row.getByRole('link').click();
      await page.waitForURL(`**/runs/${told.runId}`);
      await page.getByRole('heading', { level: 1, name: /^Failed/ }).waitFor();
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Notifications' }).waitFor();
      await row.waitFor();
      expect((await row.getByText('New', { exact: true }).count()) === 0, 'it is new the second time too');
    },
  },
  {
    name: 'what comes while the page is shown waits until it is asked for',
    async run({ page, api, world, expect }) {
      await failUntilTold(api, world, { name: 'First' });
      await page.goto(`/w/${world.ws}/notifications`);
      await page.getByRole('row', { name: /“First”/ }).waitFor();
      await countInRail(page).waitFor({ state: 'detached' });
      await failUntilTold(api, world, { name: 'Second' });
      await countInRail(page).filter({ hasText: '1 unread' }).waitFor();
      expect((await api('GET', `/v1/workspaces/${world.ws}/notifications`)).unread === 1, 'what is not shown counts as read');
      await page.getByRole('button', { name: 'Show 1 new' }).click();
      await page.getByRole('row', { name: /“Second”/ }).getByText('New', { exact: true }).waitFor();
      await countInRail(page).waitFor({ state: 'detached' });
    },
  },
  {
    name: 'e-mail is turned off, and stays off',
    phone: true,
    async run({ page, api, world, expect }) {
      const settings = `/v1/workspaces/${world.ws}/notifications/settings`;
      await page.goto(`/w/${world.ws}/notifications`);
      const choice = page.getByLabel('E-mail me about what I administer or made');
      await choice.uncheck();
      await page.getByText('You get no e-mail about this workspace.').waitFor();
      expect((await api('GET', settings)).email === false, 'it was not saved');
      await page.reload();
      await choice.waitFor();
      expect(!(await choice.isChecked()), 'it is on again after a reload');
      await choice.check();
      await page.getByText('You get e-mail about this workspace.').waitFor();
      expect((await api('GET', settings)).email === true, 'it was not turned on again');
    },
  },
  {
    name: 'a workspace in which nothing fails says what will be here',
    async run({ page, world }) {
      await page.goto(`/w/${world.ws}/notifications`);
      await page.getByRole('heading', { name: 'All clear' }).waitFor();
      await page.getByRole('link', { name: 'Open runs' }).click();
      await page.waitForURL(`**/w/${world.ws}/runs`);
    },
  },
  {
    name: 'whoever looks as another role marks nothing as read',
    async run({ page, api, world, expect }) {
      await failUntilTold(api, world, { name: 'Nightly' });
      await page.goto(`/w/${world.ws}/runs`);
      await page.getByRole('button', { name: 'Aru' }).click();
      await page.getByRole('menuitemradio', { name: /as viewer/i }).click();
      await inRail(page).click();
      const row = page.getByRole('row', { name: /“Nightly”/ });
      await row.waitFor();
      expect(await page.getByLabel('E-mail me about what I administer or made').isDisabled(), 'e-mail can be changed as somebody else');
      expect((await api('GET', `/v1/workspaces/${world.ws}/notifications`)).unread === 1, 'it was marked as read');
      await page.getByRole('button', { name: 'Aru' }).click();
      await page.getByRole('menuitemradio', { name: /as viewer/i }).click();
      await row.getByText('New', { exact: true }).waitFor();
      await countInRail(page).waitFor({ state: 'detached' });
      expect((await api('GET', `/v1/workspaces/${world.ws}/notifications`)).unread === 0, 'it is still unread afterwards');
    },
  },
  {
    name: 'a viewer is not told of a private app',
    role: 'viewer',
    async run({ page, api, person, world, expect }) {
      await failUntilTold(api, world, { name: 'Ledger', sharing: 'private' });
      await page.goto(`/w/${world.ws}/notifications`);
      await page.getByRole('heading', { name: 'All clear' }).waitFor();
      expect((await countInRail(page).count()) === 0, 'the rail counts what is not shown');
      const { items, unread } = await person('GET', `/v1/workspaces/${world.ws}/notifications`);
      expect(items.length === 0 && unread === 0, `a viewer is told of a private app: ${JSON.stringify(items)}`);
    },
  },
];
