import { freshAddress, newPerson } from '../second-person.mjs';

const dialog = (page) => page.locator('dialog[open]');

/** Gives the browser an authenticator that says yes. */
async function addAuthenticator(page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', { options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true } });
}

export default [
  {
    name: 'All other sessions are ended at once',
    run: async ({ page, base, expect }) => {
      const email = freshAddress('sessions');
      const here = await newPerson({ page, base, email });
      const there = await newPerson({ page, base, email });
      await here.page.goto(`${base}/account/sessions`);
      await here.page.locator('.list-table tbody tr').nth(1).waitFor();
      await here.page.getByRole('button', { name: 'End all others' }).click();
      await dialog(here.page).getByRole('button', { name: 'End all others' }).click();
      await here.page.getByText('All other sessions have ended').waitFor();
      expect((await there.context.request.get(`${base}/v1/session`)).status() === 401, 'the other browser is signed out');
      expect((await here.context.request.get(`${base}/v1/session`)).ok(), 'this browser is not');
      await here.close();
      await there.close();
    },
  },
  {
    name: 'One session is ended, and the others stay',
    phone: true,
    run: async ({ page, base, expect }) => {
      const email = freshAddress('one');
      const here = await newPerson({ page, base, email });
      const there = await newPerson({ page, base, email });
      await here.page.goto(`${base}/account/sessions`);
      const other = here.page.locator('.list-table tbody tr').filter({ hasNotText: 'This one' });
      await other.getByRole('button').click();
      await here.page.getByRole('menuitem', { name: 'End session' }).click();
      await dialog(here.page).getByRole('button', { name: 'End session' }).click();
      await other.waitFor({ state: 'detached' });
      expect((await there.context.request.get(`${base}/v1/session`)).status() === 401, 'the other browser is signed out');
      await here.close();
      await there.close();
    },
  },
  {
    name: 'A passkey is added, asked for before ownership or another passkey, and deleted',
    run: async ({ page, base, expect }) => {
      if (!(await page.goto(`${base}/account/passkeys`)).ok()) throw new Error('The page of passkeys is missing.');
      const add = page.getByRole('button', { name: 'Add passkey' }).first();
      await add.waitFor();
      // At a bare address there are no passkeys, and the button says so.
      if ((await add.getAttribute('aria-disabled')) === 'true' || /^\d|^\[/.test(new URL(base).hostname)) return;
      await addAuthenticator(page);
      await add.click();
      await dialog(page).getByLabel('Name').fill('Laptop');
      await dialog(page).getByRole('button', { name: 'Continue' }).click();
      const row = page.getByRole('row', { name: 'Laptop' });
      await row.waitFor();
      await row.getByRole('button', { name: 'Actions for Laptop' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await dialog(page).getByRole('button', { name: 'Delete' }).click();
      await dialog(page).getByRole('button', { name: 'Use passkey' }).or(page.getByText('“Laptop” is deleted')).first().waitFor();
      const asks = dialog(page).getByRole('button', { name: 'Use passkey' });
      if (await asks.count()) await asks.click();
      await page.getByText('“Laptop” is deleted').waitFor();
      expect((await row.count()) === 0, 'the passkey is gone');
    },
  },
  {
    name: 'The language and the theme of the console are chosen, and stay',
    run: async ({ page, base, expect }) => {
      await page.goto(`${base}/account`);
      await page.getByRole('button', { name: 'Русский' }).click();
      await page.getByRole('heading', { name: 'Аккаунт' }).waitFor();
      await page.getByRole('button', { name: 'Тёмная' }).click();
      await page.reload();
      await page.getByRole('heading', { name: 'Аккаунт' }).waitFor();
      expect((await page.locator('html').getAttribute('data-theme')) === 'dark', 'the theme is kept');
    },
  },
  {
    name: 'The last owner cannot leave, and is told why',
    run: async ({ page, base, api, world }) => {
      const { name } = (await api('GET', '/v1/workspaces')).items.find(({ id }) => id === world.ws);
      await page.goto(`${base}/account/workspaces`);
      await page.getByRole('button', { name: `Actions for ${name}` }).click();
      await page.getByRole('menuitem', { name: 'Leave' }).click();
      await dialog(page).getByRole('button', { name: 'Leave' }).click();
      await page.locator('.toast-bad').waitFor();
      await page.getByRole('link', { name }).first().waitFor();
    },
  },
];
