// What a person does with connections: connects services, changes and disconnects them. No secret ever comes back.

const SECRET = 'ghp_000011112222333344445555666677778888';
const panel = (page) => page.locator('aside.panel');
const dialog = (page) => page.locator('dialog[open]');

const HTTP = { displayName: 'Orders', baseUrl: 'https://api.example.com/v1', auth: { type: 'bearer' }, methods: ['GET'], secret: SECRET };

/** Collects the bodies of all responses of the API. Call the returned function to wait for them. */
function recordResponses(page) {
  const bodies = [];
  page.on('response', (response) => {
    const isStream = response.headers()['content-type']?.startsWith('text/event-stream');
    if (new URL(response.url()).pathname.startsWith('/v1/') && !isStream) bodies.push(response.text().catch(() => ''));
  });
  return async () => (await Promise.all(bodies)).join('\n');
}

export default [
  {
    name: 'an admin connects a service, and its secret never comes back',
    role: 'admin',
    async run({ page, world, api, expect }) {
      const responses = recordResponses(page);
      await page.goto(`/w/${world.ws}/connections`);
      await page.getByText('No connections yet').waitFor();
      await page.getByRole('link', { name: 'Connections' }).first().waitFor();
      await page.getByRole('button', { name: 'Connect a service' }).first().click();
      await panel(page).getByLabel('Search').fill('git');
      await panel(page).getByRole('link', { name: /GitLab/ }).waitFor();
      await panel(page).getByRole('link', { name: /GitHub/ }).click();
      await panel(page).getByRole('listitem').filter({ hasText: 'Fine-grained tokens' }).waitFor();
      await panel(page).getByRole('button', { name: 'Connect', exact: true }).click();
      await panel(page).getByRole('alert').filter({ hasText: 'Fill this in' }).waitFor();
      const secret = panel(page).getByLabel('Secret', { exact: true });
      expect((await secret.getAttribute('type')) === 'password', 'The secret is shown while it is typed.');
      await secret.fill(SECRET);
      await panel(page).getByRole('button', { name: 'Connect', exact: true }).click();
      await page.getByText('GitHub is saved.', { exact: false }).waitFor();
      await panel(page).getByText('Stored, and never shown').waitFor();
      await panel(page).getByText('Raw JSON').click();
      const row = page.getByRole('row', { name: /GitHub/ });
      await row.getByText('Saved, not tried').waitFor();
      await panel(page).getByRole('link', { name: 'Change' }).click();
      expect((await panel(page).getByLabel('Secret', { exact: true }).inputValue()) === '', 'The field for the secret is filled.');
      expect(!(await page.content()).includes(SECRET), 'The page has the secret.');
      expect(!(await responses()).includes(SECRET), 'A response has the secret.');
      const { connections } = await api('GET', `/v1/workspaces/${world.ws}/connections`);
      expect(connections.length === 1 && connections[0].secret === 'write-only', 'The connection was not stored.');
    },
  },
  {
    name: 'services that nobody can connect say why',
    async run({ page, world, expect }) {
      await page.goto(`/w/${world.ws}/connections/new`);
      await panel(page).getByLabel('Group').selectOption({ label: 'E-mail' });
      const gmail = panel(page).getByRole('listitem').filter({ hasText: 'Gmail' });
      await gmail.getByText('It needs an OAuth application').waitFor();
      expect((await panel(page).getByRole('link', { name: /Gmail/ }).count()) === 0, 'Gmail can be chosen.');
      await panel(page).getByLabel('Search').fill('no such service');
      await panel(page).getByText('No service fits').waitFor();
      await panel(page).getByRole('button', { name: 'Show all' }).click();
      await panel(page).getByRole('listitem').filter({ hasText: 'Kaspi' }).getByText('cannot be connected yet').waitFor();
      await page.goto(`/w/${world.ws}/connections/new/gmail`);
      await panel(page).getByText('It needs an OAuth application').waitFor();
    },
  },
  {
    name: 'an HTTP API moves to another host only with its secret',
    role: 'admin',
    async run({ page, world, api, expect }) {
      const responses = recordResponses(page);
      const find = async () => (await api('GET', `/v1/workspaces/${world.ws}/connections`)).connections[0];
      await page.goto(`/w/${world.ws}/connections/new`);
      await panel(page).getByLabel('Search').fill('http api');
      await panel(page).getByRole('link', { name: /^HTTP API/ }).click();
      await panel(page).getByLabel('Name', { exact: true }).fill('Orders');
      await panel(page).getByLabel('Base URL').fill('http://api.example.com/v1');
      await panel(page).getByLabel('Authentication').selectOption({ label: 'Bearer token' });
      await panel(page).getByLabel('Secret', { exact: true }).fill(SECRET);
      await panel(page).getByLabel('POST').check();
      await panel(page).getByLabel('Path prefix').fill('/orders');
      await panel(page).getByRole('button', { name: 'Connect', exact: true }).click();
      await panel(page).getByRole('alert').filter({ hasText: 'begins with https://' }).waitFor();
      expect((await panel(page).getByLabel('Base URL').getAttribute('aria-invalid')) === 'true', 'The message is not at its field.');
      await panel(page).getByLabel('Base URL').fill('https://api.example.com/v1');
      await panel(page).getByRole('button', { name: 'Connect', exact: true }).click();
      await page.getByText('Orders is saved.', { exact: false }).waitFor();
      const created = await find();
      expect(created.http.methods.join() === 'GET,POST' && created.http.pathPrefix === '/orders', 'The connection is not as it was described.');

      await panel(page).getByRole('link', { name: 'Change' }).click();
      await panel(page).getByLabel('Base URL').fill('https://api.example.org/v1');
      await panel(page).getByRole('button', { name: 'Save' }).click();
      await panel(page).getByRole('alert').filter({ hasText: 'Enter the secret again' }).waitFor();
      const secret = panel(page).getByLabel('Secret', { exact: true });
      expect((await secret.getAttribute('aria-invalid')) === 'true', 'The message is not at the secret.');
      expect((await find()).http.host === 'api.example.com', 'The host was changed without the secret.');
      await secret.fill(SECRET);
      await panel(page).getByRole('button', { name: 'Save' }).click();
      await page.getByText('Orders is changed.').waitFor();
      await panel(page).getByText('https://api.example.org/v1').first().waitFor();
      expect((await find()).http.host === 'api.example.org', 'The host was not changed.');
      expect(!(await page.content()).includes(SECRET) && !(await responses()).includes(SECRET), 'The secret came back.');

      // Without another host, the stored secret stays.
      await panel(page).getByRole('link', { name: 'Change' }).click();
      await panel(page).getByLabel('Name', { exact: true }).fill('Shop orders');
      await panel(page).getByRole('button', { name: 'Save' }).click();
      await page.getByText('Shop orders', { exact: true }).first().waitFor();
      expect((await find()).secret === 'write-only', 'The secret is gone.');
    },
  },
  {
    name: 'a connection is green only once it was seen to work',
    async run({ page, world, api, expect }) {
      await api('POST', `/v1/workspaces/${world.ws}/connectors/http`, { ...HTTP, baseUrl: 'https://nowhere.invalid/v1', testPath: '/orders' });
      await page.goto(`/w/${world.ws}/connections`);
      const row = page.getByRole('row', { name: /Orders/ });
      await row.getByText('Saved, not tried').waitFor();
      await row.click();
      await panel(page).getByRole('button', { name: 'Test' }).click();
      await panel(page).getByText('Could not be reached').first().waitFor();
      await panel(page).locator('.connections-status time').waitFor();
      expect((await page.locator('.status.tone-ok').count()) === 0, 'Something is green though nothing was reached.');
    },
  },
  {
    name: 'the newer of the last test and the last call says whether a connection works',
    async run({ page, world, api, expect }) {
      await api('POST', `/v1/workspaces/${world.ws}/connectors/http`, HTTP);
      const ago = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();
      const tested = (minutes, ok) => ({ at: ago(minutes), checked: 'gate', ok, status: ok ? 200 : 401, latencyMs: 84, reason: ok ? null : 'auth_rejected' });
      const called = (calls24h, errors24h, minutes) => ({ calls24h, errors24h, blocked24h: 0, lastCallAt: ago(minutes) });
      let known = {};
      await page.route(`**/v1/workspaces/${world.ws}/connections?*`, async (route) => {
        const body = await (await route.fetch()).json();
        await route.fulfill({ json: { ...body, connections: body.connections.map((one) => ({ ...one, updatedAt: ago(10_000), ...known })) } });
      });
      const state = page.getByRole('row', { name: /Orders/ }).locator('.connections-status');
      const shows = async (next, tone, text) => {
        known = next;
        await page.goto(`/w/${world.ws}/connections`);
        await state.locator(`.status.tone-${tone}`).getByText(text, { exact: true }).waitFor();
      };
      await shows({ lastCheck: tested(120, true), health: called(500, 500, 5) }, 'bad', '500 of 500 calls failed in 24 hours');
      await shows({ lastCheck: tested(120, false), health: called(500, 0, 5) }, 'neutral', '0 of 500 calls failed in 24 hours');
      await shows({ lastCheck: null, health: called(500, 499, 5) }, 'warn', '499 of 500 calls failed in 24 hours');
      await shows({ lastCheck: tested(5, true), health: called(500, 500, 120) }, 'ok', 'Works (200, 84 ms)');
      expect((await state.locator('time').getAttribute('datetime')) === known.lastCheck.at, 'It does not say when it was tested.');
    },
  },
  {
    name: 'a person who changed a connection after somebody else is asked',
    async run({ page, world, api, expect }) {
      const url = `/v1/workspaces/${world.ws}/connections`;
      const { id } = await api('POST', `/v1/workspaces/${world.ws}/connectors/http`, HTTP);
      await page.goto(`/w/${world.ws}/connections/${id}/edit`);
      await panel(page).getByLabel('Name', { exact: true }).fill('Mine');
      await api('PUT', `${url}/${id}/http`, { ...HTTP, displayName: 'Theirs', secret: undefined });
      await panel(page).getByRole('button', { name: 'Save' }).click();
      await dialog(page).waitFor();
      expect((await api('GET', `${url}/${id}`)).displayName === 'Theirs', 'What somebody else wrote was overwritten unseen.');
    },
  },
  {
    name: 'a connection is disconnected by its name, and connected again',
    async run({ page, world, api, expect }) {
      const { id } = await api('POST', `/v1/workspaces/${world.ws}/connectors/http`, HTTP);
      const { name, currentVersionId } = await api('GET', `/v1/apps/${world.app}`);
      const { manifest, files } = await api('GET', `/v1/apps/${world.app}/versions/${currentVersionId}`);
      const connectors = [{ name: 'orders', connectionId: id }];
      await api('POST', `/v1/apps/${world.app}/versions`, { files, manifest: { ...manifest, permissions: { ...manifest.permissions, connectors } }, summary: 'Call orders' });
      await page.goto(`/w/${world.ws}/connections/${id}`);
      await panel(page).getByRole('link', { name }).waitFor();
      await panel(page).getByRole('button', { name: 'Disconnect' }).click();
      await dialog(page).getByRole('listitem').filter({ hasText: name }).waitFor();
      const go = dialog(page).getByRole('button', { name: 'Disconnect' });
      expect((await go.getAttribute('aria-disabled')) === 'true', 'It can be disconnected without its name.');
      await dialog(page).getByRole('textbox').fill('Orders');
      await go.click();
      await page.getByText('Orders is disconnected.').waitFor();
      await page.getByRole('row', { name: /Orders/ }).getByText('Disconnected').waitFor();
      const read = () => api('GET', `/v1/workspaces/${world.ws}/connections/${id}`);
      expect((await read()).secret === 'none', 'The secret is still stored.');
      await page.getByRole('row', { name: /Orders/ }).click();
      await panel(page).getByRole('link', { name: 'Connect again' }).click();
      await panel(page).getByRole('button', { name: 'Connect again' }).click();
      await panel(page).getByRole('alert').waitFor();
      await panel(page).getByLabel('Secret', { exact: true }).fill(SECRET);
      await panel(page).getByRole('button', { name: 'Connect again' }).click();
      await panel(page).getByText('Stored, and never shown').waitFor();
      expect((await read()).status === 'connected', 'It is not connected again.');
    },
  },
  {
    name: 'a member reads connections and may not change them',
    role: 'member',
    async run({ page, world, api, expect }) {
      const { id } = await api('POST', `/v1/workspaces/${world.ws}/connectors/http`, HTTP);
      await page.goto(`/w/${world.ws}/connections`);
      await page.getByRole('row', { name: /Orders/ }).getByText('api.example.com').waitFor();
      const disabled = async (button) => (await button.getAttribute('aria-disabled')) === 'true';
      expect(await disabled(page.getByRole('button', { name: 'Connect a service' })), 'A member can connect a service.');
      await page.goto(`/w/${world.ws}/connections/${id}`);
      await panel(page).getByText('https://api.example.com/v1').first().waitFor();
      for (const name of ['Disconnect', 'Change']) expect(await disabled(panel(page).getByRole('button', { name })), `A member can use “${name}”.`);
      for (const address of [`${id}/edit`, 'new/http', 'new/github']) {
        await page.goto(`/w/${world.ws}/connections/${address}`);
        await panel(page).getByText('Only admins connect, change and disconnect services').waitFor();
        expect((await panel(page).getByLabel('Secret', { exact: true }).count()) === 0, `A member sees the form at ${address}.`);
      }
    },
  },
  {
    name: 'the guide is in the language of the person',
    options: { locale: 'ru-RU' },
    async run({ page, world }) {
      await page.goto(`/w/${world.ws}/connections/new/github`);
      await panel(page).getByRole('listitem').filter({ hasText: 'Войдите' }).waitFor();
      await panel(page).getByRole('button', { name: 'Подключить', exact: true }).click();
      await panel(page).getByRole('alert').filter({ hasText: 'Заполните это поле' }).waitFor();
    },
  },
  {
    name: 'a service is connected on a phone',
    phone: true,
    async run({ page, world, expect }) {
      const fits = async () => (await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0;
      await page.goto(`/w/${world.ws}/connections`);
      await page.getByRole('button', { name: 'Connect a service' }).first().click();
      await panel(page).getByRole('link', { name: /Stripe/ }).click();
      await panel(page).getByLabel('Secret', { exact: true }).fill('sk_test_000011112222');
      expect(await fits(), 'The form is wider than the phone.');
      await panel(page).getByRole('button', { name: 'Connect', exact: true }).click();
      await page.getByText('Stripe is saved.', { exact: false }).waitFor();
      await panel(page).getByText('Stored, and never shown').waitFor();
      expect(await fits(), 'The connection is wider than the phone.');
      await panel(page).getByRole('button', { name: 'Close' }).click();
      await page.locator('.list-table', { hasText: 'Stripe' }).getByText('Saved, not tried', { exact: true }).waitFor();
      expect(await fits(), 'The list is wider than the phone.');
    },
  },
];
