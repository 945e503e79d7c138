import { addMember, freshAddress, newPerson } from '../second-person.mjs';

const dialog = (page) => page.locator('dialog[open]');

/** Gives the page an authenticator that says yes, with a passkey that another one has. Returns how to read its passkeys. */
async function addAuthenticator(page, passkey) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const options = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true };
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', { options });
  if (passkey) await devtools.send('WebAuthn.addCredential', { authenticatorId, credential: passkey });
  return async () => (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
}

/** Adds a passkey “Laptop” on the page of the account, and returns it as authenticators know it. */
async function addPasskey(page, base) {
  const passkeys = await addAuthenticator(page);
  await page.goto(`${base}/account/passkeys`);
  await page.getByRole('button', { name: 'Add passkey' }).first().click();
  await dialog(page).getByLabel('Name').fill('Laptop');
  await dialog(page).getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('row', { name: 'Laptop' }).waitFor();
  return (await passkeys())[0];
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
    name: 'A passkey is added, signs in, is asked for before ownership passes, and is deleted',
    needs: 'passkeys',
    run: async ({ page, base, api, world, expect }) => {
      const passkey = await addPasskey(page, base);

      // In a browser where the person signed in otherwise, it is asked for before what cannot be undone.
      const other = await newPerson({ page, base, email: world.owner });
      const passkeysAfter = await addAuthenticator(other.page, passkey);
      const heir = freshAddress('heir');
      await addMember({ page, base, api, world, email: heir, role: 'admin' });
      const roleOf = async (email) => (await api('GET', `/v1/workspaces/${world.ws}/members`)).items.find(({ user }) => user.email === email);
      await other.page.goto(`${base}/w/${world.ws}/people/members/${(await roleOf(heir)).user.id}`);
      await other.page.getByRole('button', { name: 'Transfer ownership' }).click();
      await dialog(other.page).getByRole('textbox').fill((await api('GET', '/v1/workspaces')).items.find(({ id }) => id === world.ws).name);
      await dialog(other.page).getByRole('button', { name: 'Transfer ownership' }).click();
      const proof = dialog(other.page).getByRole('button', { name: 'Use passkey' });
      await proof.waitFor();
      expect((await roleOf(heir)).role === 'admin', 'nothing changes before the proof');
      await proof.click();
      await other.page.getByText('is an owner now; you are an admin').waitFor();
      expect((await roleOf(heir)).role === 'owner', 'the action goes on after the proof');
      // An older copy would have counted fewer signatures, which the server refuses as a clone.
      const [used] = await passkeysAfter();
      await other.close();

      // A visitor signs in with it, and need not say who they are.
      const visitor = await newPerson({ page, base });
      await addAuthenticator(visitor.page, used);
      await visitor.page.goto(`${base}/sign-in?next=/account/passkeys`);
      await visitor.page.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await visitor.page.waitForURL((url) => url.pathname === '/account/passkeys');
      const row = visitor.page.getByRole('row', { name: 'Laptop' });
      await row.getByRole('button', { name: 'Actions for Laptop' }).click();
      await visitor.page.getByRole('menuitem', { name: 'Delete' }).click();
      await dialog(visitor.page).getByRole('button', { name: 'Delete' }).click();
      await visitor.page.getByText('“Laptop” is deleted').waitFor();
      expect((await row.count()) === 0, 'the passkey is gone');
      await visitor.close();
    },
  },
  {
    name: 'Without a passkey for the proof, nothing happens, and the page says so',
    needs: 'passkeys',
    run: async ({ page, base, api, world, expect }) => {
      await addPasskey(page, base);
      const other = await newPerson({ page, base, email: world.owner });
      const { name } = (await api('GET', '/v1/workspaces')).items.find(({ id }) => id === world.ws);
      await other.page.goto(`${base}/w/${world.ws}/settings`);
      await other.page.getByRole('button', { name: 'Delete workspace' }).click();
      await dialog(other.page).getByRole('textbox').fill(name);
      await dialog(other.page).getByRole('button', { name: 'Delete workspace' }).click();
      await dialog(other.page).getByRole('button', { name: 'Use passkey' }).waitFor();
      await dialog(other.page).getByRole('button', { name: 'Cancel' }).last().click();
      expect((await api('GET', '/v1/workspaces')).items.some(({ id }) => id === world.ws), 'the workspace is still there');
      await other.close();
    },
  },
  {
    name: 'At an address without passkeys, the page says why none can be added',
    run: async ({ page, base, expect }) => {
      // As at an address that is no name, such as 127.0.0.1.
      await page.route('**/v1/auth/methods', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), passkeys: false } });
      });
      await page.goto(`${base}/account/passkeys`);
      const add = page.locator('button[aria-disabled="true"]', { hasText: 'Add passkey' }).first();
      await add.waitFor();
      expect((await add.getAttribute('data-tip')).includes('address'), 'The reason is not the address.');
      await page.unroute('**/v1/auth/methods');
      const { passkeys } = await (await page.request.get(`${base}/v1/auth/methods`)).json();
      await page.reload();
      await page.getByRole('button', { name: 'Add passkey' }).first().waitFor();
      if (passkeys) await page.locator('button:not([aria-disabled])', { hasText: 'Add passkey' }).first().waitFor();
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
