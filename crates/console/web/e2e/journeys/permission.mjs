// What a person is asked once: a command line, an agent, an invite.

import { redirected, startAuthorization } from '../authorization.mjs';
import { freshAddress, inviteByLink, newPerson } from '../second-person.mjs';

async function startDevice(base, client = 'qala 1.0') {
  const response = await fetch(`${base}/v1/cli/device`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ client, host: 'aru-laptop', scopes: ['read', 'write'] }) });
  return response.json();
}

async function pollDevice(base, deviceCode) {
  const response = await fetch(`${base}/v1/cli/device/poll`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ deviceCode }) });
  return response.json();
}

export default [
  {
    name: 'A command line is connected for reading only',
    run: async ({ page, base, world, expect }) => {
      const { userCode, deviceCode } = await startDevice(base);
      await page.goto(`${base}/device?user_code=${userCode}`);
      await page.locator('.device-code', { hasText: userCode }).waitFor();
      await page.getByText('aru-laptop').first().waitFor();
      expect((await pollDevice(base, deviceCode)).status === 'pending', 'opening the page decides nothing');
      await page.getByLabel('Workspace').selectOption(world.ws);
      await page.getByText('Only read').click();
      await page.getByRole('button', { name: 'Allow', exact: true }).click();
      await page.getByText('qala 1.0 is connected').waitFor();
      // The interval between polls counts from the first.
      const approved = await page.waitForFunction(async (code) => {
        const response = await fetch('/v1/cli/device/poll', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ deviceCode: code }) });
        const body = await response.json();
        return body.status === 'approved' ? body.tokenRecord : null;
      }, deviceCode, { polling: 3_000, timeout: 60_000 });
      const { scopes } = await approved.jsonValue();
      expect(scopes.join() === 'read', 'the token reads only');
    },
  },
  {
    name: 'A wrong code is refused, and the right one can be typed and denied',
    phone: true,
    run: async ({ page, base, expect }) => {
      const { userCode, deviceCode } = await startDevice(base, 'somebody else');
      await page.goto(`${base}/device`);
      await page.getByLabel('Code that your command line shows').fill('bbbb-bbbb');
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.locator('.problem').waitFor();
      await page.getByRole('button', { name: 'Enter another code' }).click();
      await page.getByLabel('Code that your command line shows').fill(userCode.toLowerCase());
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('button', { name: 'Do not allow' }).click();
      await page.getByText('The command line gets no access').waitFor();
      expect((await pollDevice(base, deviceCode)).status === 'denied', 'the command line is told');
    },
  },
  {
    name: 'A visitor with a code signs in first, and comes back to it',
    run: async ({ page, base }) => {
      const { userCode } = await startDevice(base);
      const visitor = await newPerson({ page, base });
      await visitor.page.goto(`${base}/device?user_code=${userCode}`);
      await visitor.page.waitForURL('**/sign-in?**');
      await visitor.page.getByLabel('E-mail address', { exact: true }).fill(freshAddress('visitor'));
      await visitor.page.getByRole('button', { name: 'Sign in without a code' }).click();
      await visitor.page.locator('.device-code', { hasText: userCode }).waitFor();
      // Somebody without a workspace has nothing to connect to.
      await visitor.page.getByText('You are in no workspace').waitFor();
      await visitor.close();
    },
  },
  {
    name: 'An agent that is not proven is allowed to read, and its access is revoked in the settings',
    run: async ({ page, base, world, expect }) => {
      const path = await startAuthorization(base);
      await page.goto(`${base}${path}`);
      await page.getByText('Not verified: the program chose its own name').waitFor();
      await page.getByLabel('Workspace').selectOption(world.ws);
      await page.getByText('Read what you can see').click();
      const url = await redirected(page, () => page.getByRole('button', { name: 'Allow', exact: true }).click());
      expect(url.searchParams.has('code') && url.searchParams.get('state') === 'here', 'the agent gets a code');
      // A decided request is over.
      await page.goto(`${base}${path}`);
      await page.getByText('There is nothing to decide').waitFor();
    },
  },
  {
    name: 'An agent is not allowed, and is told so',
    run: async ({ page, base, expect }) => {
      await page.goto(`${base}${await startAuthorization(base)}`);
      const url = await redirected(page, () => page.getByRole('button', { name: 'Do not allow' }).click());
      expect(url.searchParams.get('error') === 'access_denied', 'the agent is told');
    },
  },
  {
    name: 'An invite names the workspace before it asks to sign in',
    phone: true,
    run: async ({ page, base, api, world }) => {
      const email = freshAddress('guest');
      const { name } = (await api('GET', '/v1/workspaces')).items.find(({ id }) => id === world.ws);
      const path = await inviteByLink({ api, world, email, role: 'viewer' });
      const guest = await newPerson({ page, base });
      await guest.page.goto(`${base}${path}`);
      await guest.page.getByRole('heading', { name: new RegExp(name) }).waitFor();
      const signIn = guest.page.getByRole('link', { name: 'Sign in', exact: true });
      if (await signIn.count()) await signIn.click();
      await guest.page.getByLabel('E-mail address', { exact: true }).fill(email);
      await guest.page.getByRole('button', { name: 'Sign in without a code' }).click();
      await guest.page.getByRole('button', { name: 'Join' }).click();
      await guest.page.waitForURL(new RegExp(`/w/${world.ws}`));
      await guest.close();
    },
  },
  {
    name: 'An invite does not open with another address',
    run: async ({ page, base, api, world }) => {
      const path = await inviteByLink({ api, world, email: freshAddress('meant'), role: 'viewer' });
      const stranger = await newPerson({ page, base, email: freshAddress('stranger') });
      await stranger.page.goto(`${base}${path}`);
      const join = stranger.page.getByRole('button', { name: 'Join' });
      await join.or(stranger.page.getByText(/another e-mail address/)).first().waitFor();
      if (await join.count()) {
        await join.click();
        await stranger.page.locator('.problem').waitFor();
      }
      await stranger.page.getByText('Use another account').waitFor();
      await stranger.close();
    },
  },
];
