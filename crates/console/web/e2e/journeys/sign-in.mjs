// Signing in, and what a person decides for programs and from an invite.

import { freshAddress } from '../second-person.mjs';

const signIn = async (page, email) => {
  await page.getByLabel('Address', { exact: true }).fill(email);
  await page.getByRole('button', { name: /without/i }).click();
};

const visitor = (browser, base) => browser.newContext({ baseURL: base, locale: 'en-GB' });

async function whoIs(context) {
  const session = await (await context.request.get('/v1/session')).json();
  return session.user?.email;
}

export default [
  {
    name: 'a code from the mail signs in and opens the page that was wanted, after a wrong one was refused',
    needs: 'mail',
    run: async ({ browser, base, mailTo, expect }) => {
      const [email, context] = [freshAddress('code'), await visitor(browser, base)];
      const page = await context.newPage();
      await page.goto('/sign-in?next=/account/sessions');
      await page.getByLabel('E-mail address').fill(email);
      await page.getByRole('button', { name: 'Send code' }).click();
      const { code } = await mailTo(email);
      const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
      await page.getByLabel('Code').fill(wrong);
      await page.locator('[role="alert"]').first().waitFor();
      expect((await whoIs(context)) === undefined, 'a wrong code signs nobody in');
      await page.getByLabel('Code').fill(code);
      await page.waitForURL((url) => url.pathname === '/account/sessions');
      expect((await whoIs(context)) === email, 'the person of the address is signed in');
      await context.close();
    },
  },
  {
    name: 'the link from the mail signs in once a person presses the button, in another browser too',
    needs: 'mail',
    run: async ({ browser, base, mailTo, expect }) => {
      const [email, context, other] = [freshAddress('link'), await visitor(browser, base), await visitor(browser, base)];
      const page = await context.newPage();
      await page.goto('/sign-in');
      await page.getByLabel('E-mail address').fill(email);
      await page.getByRole('button', { name: 'Send code' }).click();
      const { link } = await mailTo(email);
      const opened = await other.newPage();
      await opened.goto(link);
      const button = opened.getByRole('button', { name: 'Sign in', exact: true });
      await button.waitFor();
      expect((await whoIs(other)) === undefined, 'opening the link signs nobody in');
      await button.click();
      await opened.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
      expect((await whoIs(other)) === email, 'the person of the address is signed in');
      await Promise.all([context.close(), other.close()]);
    },
  },
  {
    name: 'an issuer signs in and the page that was wanted opens; whoever cancels there can start again',
    needs: 'issuer',
    run: async ({ browser, base, expect }) => {
      const context = await visitor(browser, base);
      const page = await context.newPage();
      await page.goto('/sign-in?next=/account/sessions');
      await page.getByRole('link', { name: 'Sign in with Company' }).click();
      await page.getByRole('link', { name: 'Cancel' }).click();
      await page.getByText('This sign-in has ended').waitFor();
      expect((await whoIs(context)) === undefined, 'whoever cancels is not signed in');
      await page.goto('/sign-in?next=/account/sessions');
      await page.getByRole('link', { name: 'Sign in with Company' }).click();
      await page.getByRole('link', { name: 'Continue' }).click();
      await page.waitForURL((url) => url.pathname === '/account/sessions');
      await page.getByText('Issuer').first().waitFor();
      expect((await whoIs(context)) === 'aigerim@example.test', 'the person whom the issuer names is signed in');
      await context.close();
    },
  },
  {
    name: 'a program on a command line is connected, after its code was compared',
    run: async ({ page, base, context, expect }) => {
      const start = await context.request.post(`${base}/v1/cli/device`, { data: { client: 'shell', scopes: ['read', 'write'] } });
      expect(start.ok(), await start.text());
      const { deviceCode, userCode } = await start.json();
      await page.goto(`/device?user_code=${userCode}`);
      await page.getByText(userCode).first().waitFor();
      const pending = await context.request.post(`${base}/v1/cli/device/poll`, { data: { deviceCode } });
      expect((await pending.text()).includes('pending'), 'opening the page must not decide');
      await page.getByRole('button', { name: 'Allow', exact: true }).click();
      await page.getByText(/shell/).first().waitFor();
      await page.getByRole('button', { name: 'Allow', exact: true }).waitFor({ state: 'detached' });
    },
  },
  {
    name: 'an invite says who invites before it asks to sign in, and is accepted',
    run: async ({ browser, base, api, world, expect }) => {
      const email = `guest-${world.ws.slice(-8)}@example.com`;
      const { links } = await api('POST', `/v1/workspaces/${world.ws}/invites`, { emails: [email], role: 'viewer', deliver: 'link' });
      const guest = await browser.newContext({ baseURL: base, locale: 'en-GB' });
      const page = await guest.newPage();
      await page.goto(new URL(links[0].link).pathname);
      await page.getByText(/Aru invites you/).first().waitFor();
      await signIn(page, email);
      await page.getByRole('button', { name: 'Join', exact: true }).click();
      await page.waitForURL(`**/w/${world.ws}**`);
      const session = await (await guest.request.get(`${base}/v1/session`)).json();
      expect(session.workspaceRole === 'viewer', JSON.stringify(session));
      await guest.close();
    },
  },
];
