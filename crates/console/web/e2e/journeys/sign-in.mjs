// Signing in, and what a person decides for programs and from an invite: on the pages of the console, and on the server's own,
// which people without JavaScript get at the same addresses.

import { redirected, startAuthorization } from '../authorization.mjs';
import { freshAddress, inviteByLink, newPerson } from '../second-person.mjs';

async function whoIs(context) {
  const session = await (await context.request.get('/v1/session')).json();
  return session.user?.email;
}

/** Clicks, and returns when the request that changes something was answered. */
async function submit(page, button) {
  const answered = page.waitForResponse((response) => response.request().method() === 'POST');
  await button.click();
  await answered;
}

async function askForCode(page, email, hasScript) {
  await page.goto('/sign-in?next=/account/sessions');
  await settle(page, hasScript);
  await page.getByLabel('E-mail address', { exact: true }).fill(email);
  await submit(page, page.getByRole('button', { name: /^Send (me a )?code$/ }));
}

async function signInWithoutProof(page, email) {
  const form = page.locator('form', { has: page.getByRole('button', { name: /without/ }) });
  await form.locator('input[type="email"]').fill(email);
  await submit(page, form.getByRole('button', { name: /without/ }));
}

/** Waits until the console has taken the place of the server's page, whose buttons have similar names. */
async function settle(page, hasScript) {
  if (hasScript) await page.locator('.narrow').waitFor();
}

const isAt = (path) => (url) => url.pathname === path;

/** Returns the journeys with and without JavaScript. `open` opens a browser, with `email` signed in. */
function onBothPages(journeys) {
  return [true, false].flatMap((hasScript) => journeys.map(({ name, needs, run }) => ({
    name: `${hasScript ? 'console' : 'without JavaScript'}: ${name}`,
    needs,
    run: async (tools) => {
      const opened = [];
      const open = async (email) => {
        const person = await newPerson({ ...tools, email, options: { javaScriptEnabled: hasScript } });
        opened.push(person);
        return person;
      };
      await run({ ...tools, open, hasScript });
      for (const person of opened) await person.close();
    },
  })));
}

const journeys = onBothPages([
  {
    name: 'a code from the mail signs in and opens the page that was wanted, after a wrong one was refused',
    needs: 'mail',
    run: async ({ open, mailTo, hasScript, expect }) => {
      const [email, { context, page }] = [freshAddress('code'), await open()];
      await askForCode(page, email, hasScript);
      const { code } = await mailTo(email);
      // The console sends a code that is complete.
      const enter = async (digits) => {
        await page.getByLabel('Code', { exact: true }).fill(digits);
        if (!hasScript) await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      };
      await enter(String((Number(code) + 1) % 1_000_000).padStart(6, '0'));
      await page.locator('.problem, .alarm').waitFor();
      expect((await whoIs(context)) === undefined, 'a wrong code signs nobody in');
      await enter(code);
      await page.waitForURL(isAt('/account/sessions'));
      expect((await whoIs(context)) === email, 'the person of the address is signed in');
    },
  },
  {
    name: 'the link from the mail signs in once a person presses the button, in another browser too',
    needs: 'mail',
    run: async ({ open, mailTo, hasScript, expect }) => {
      const [email, here, other] = [freshAddress('link'), await open(), await open()];
      await askForCode(here.page, email, hasScript);
      await other.page.goto((await mailTo(email)).link);
      const button = other.page.getByRole('button', { name: 'Sign in', exact: true });
      await button.waitFor();
      expect((await whoIs(other.context)) === undefined, 'opening the link signs nobody in');
      await submit(other.page, button);
      expect((await whoIs(other.context)) === email, 'the person of the address is signed in');
    },
  },
  {
    name: 'an issuer signs in and the page that was wanted opens; whoever cancels there can start again',
    needs: 'issuer',
    run: async ({ open, expect }) => {
      const { context, page } = await open();
      const toIssuer = page.getByRole('link', { name: /Company/ });
      await page.goto('/sign-in?next=/account/sessions');
      await toIssuer.click();
      await page.getByRole('link', { name: 'Cancel' }).click();
      await page.getByText('You cancelled the sign-in').waitFor();
      expect((await whoIs(context)) === undefined, 'whoever cancels is not signed in');
      await page.goto('/sign-in?next=/account/sessions');
      await toIssuer.click();
      await page.getByRole('link', { name: 'Continue' }).click();
      await page.waitForURL(isAt('/account/sessions'));
      expect((await whoIs(context)) === 'aigerim@example.test', 'the person whom the issuer names is signed in');
    },
  },
  {
    name: 'a program on a command line is connected, after its code was compared',
    run: async ({ open, base, context, world, hasScript, expect }) => {
      const start = await context.request.post(`${base}/v1/cli/device`, { data: { client: 'shell', scopes: ['read', 'write'] } });
      const { deviceCode, userCode } = await start.json();
      const { page } = await open(world.owner);
      await page.goto(`/device?user_code=${userCode}`);
      await settle(page, hasScript);
      await page.getByText(userCode).first().waitFor();
      const pending = await context.request.post(`${base}/v1/cli/device/poll`, { data: { deviceCode } });
      expect((await pending.text()).includes('pending'), 'opening the page must not decide');
      const allow = page.getByRole('button', { name: 'Allow', exact: true });
      await submit(page, allow);
      await page.getByText(/shell/).first().waitFor();
      await allow.waitFor({ state: 'detached' });
    },
  },
  {
    name: 'an agent is allowed, and gets its code',
    run: async ({ open, base, world, hasScript, expect }) => {
      const { page } = await open(world.owner);
      await page.goto(await startAuthorization(base));
      await settle(page, hasScript);
      const url = await redirected(page, () => page.getByRole('button', { name: 'Allow', exact: true }).click());
      expect(url.searchParams.has('code') && url.searchParams.get('state') === 'here', 'the agent gets a code');
    },
  },
  {
    name: 'an invite says who invites before it asks to sign in, and is accepted',
    run: async ({ open, api, world, hasScript, expect }) => {
      const email = freshAddress('guest');
      const { context, page } = await open();
      await page.goto(await inviteByLink({ api, world, email, role: 'viewer' }));
      await settle(page, hasScript);
      await page.getByText(/Aru.* invites you/).first().waitFor();
      await signInWithoutProof(page, email);
      await submit(page, page.getByRole('button', { name: hasScript ? 'Join' : 'Accept the invite', exact: true }));
      const { items } = await (await context.request.get('/v1/workspaces')).json();
      expect(items.some(({ id }) => id === world.ws), 'the guest is in the workspace');
    },
  },
]);

export default [
  ...journeys,
  {
    name: 'console: what was typed before it took the place of the server’s page is still there',
    run: async (tools) => {
      const person = await newPerson(tools);
      let goOn;
      const held = new Promise((release) => { goOn = release; });
      await person.page.route('**/console/main-*.js', async (route) => {
        await held;
        await route.continue();
      });
      await person.page.goto('/sign-in', { waitUntil: 'commit' });
      await person.page.locator('form[action="/sign-in/start"] input[name="email"]').fill('early@example.test');
      goOn();
      await person.page.locator('.narrow').waitFor();
      const typed = await person.page.getByLabel('E-mail address', { exact: true }).inputValue();
      tools.expect(typed === 'early@example.test', `The field has “${typed}”.`);
      await person.close();
    },
  },
];
