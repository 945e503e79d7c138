// Signing in, and what a person decides for programs and from an invite.

const signIn = async (page, email) => {
  await page.getByLabel('Address', { exact: true }).fill(email);
  await page.getByRole('button', { name: /without/i }).click();
};

export default [
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
