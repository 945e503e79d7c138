import { addMember, freshAddress, inviteByLink, newPerson } from '../second-person.mjs';

const dialog = (page) => page.locator('dialog[open]');
const panel = (page) => page.locator('aside.panel');

export default [
  {
    name: 'An owner invites by link, sees the link once, and the person joins',
    run: async ({ page, base, world, expect }) => {
      const email = freshAddress('aru');
      await page.goto(`${base}/w/${world.ws}/people/invites/new`);
      await panel(page).getByLabel('E-mail addresses').fill(email);
      await panel(page).getByRole('radio', { name: /^builder/ }).check();
      await panel(page).getByText('By a link that you pass on').click();
      await panel(page).getByRole('button', { name: 'Create links' }).click();
      const link = await dialog(page).locator('.people-links code').textContent();
      // Before it is kept, Esc does not lose it.
      await page.keyboard.press('Escape');
      expect(await dialog(page).isVisible(), 'the link is still shown');
      await dialog(page).getByLabel('I saved them').check();
      await dialog(page).getByRole('button', { name: 'Done' }).click();
      await page.locator('.list-table', { hasText: email }).waitFor();

      const guest = await newPerson({ page, base, email });
      await guest.page.goto(`${base}${new URL(link).pathname}`);
      await guest.page.getByRole('button', { name: 'Join' }).click();
      await guest.page.waitForURL(new RegExp(`/w/${world.ws}`));
      await guest.close();
      await page.goto(`${base}/w/${world.ws}/people?role=builder`);
      await page.getByRole('row', { name: email }).waitFor();
    },
  },
  {
    name: 'Wrong addresses are named before anything is sent',
    run: async ({ page, base, api, world, expect }) => {
      await page.goto(`${base}/w/${world.ws}/people/invites/new`);
      await panel(page).getByRole('button', { name: 'Send invites' }).click();
      await panel(page).getByRole('alert').filter({ hasText: 'at least one address' }).waitFor();
      await panel(page).getByLabel('E-mail addresses').fill('good@example.test, not-an-address');
      await panel(page).getByRole('alert').filter({ hasText: '“not-an-address”' }).waitFor();
      const { items } = await api('GET', `/v1/workspaces/${world.ws}/invites`);
      expect(items.every(({ email }) => email !== 'good@example.test'), 'nobody was invited');
    },
  },
  {
    name: 'Somebody who is a member already is not invited again, and the form keeps what was typed',
    run: async ({ page, base, api, world, expect }) => {
      const { items } = await api('GET', `/v1/workspaces/${world.ws}/members`);
      await page.goto(`${base}/w/${world.ws}/people/invites/new`);
      await panel(page).getByLabel('E-mail addresses').fill(items[0].user.email);
      await panel(page).getByRole('button', { name: 'Send invites' }).click();
      await panel(page).locator('.problem').waitFor();
      expect((await panel(page).getByLabel('E-mail addresses').inputValue()) === items[0].user.email, 'the address is kept');
    },
  },
  {
    name: 'A search finds a member who is on no page that was read yet, and opens them',
    run: async ({ page, base, api, world, expect }) => {
      const list = await api('GET', `/v1/workspaces/${world.ws}/members`);
      const [me] = list.items;
      const PAGES = 3;
      const personOf = (number) => ({ ...me, role: 'member', user: { ...me.user, id: `usr_${String(number).padStart(26, '0')}`, name: `Person ${number}`, email: `person-${number}@example.test` } });
      await page.route(/\/v1\/workspaces\/[^/]+\/members(\?|$)/, (route) => {
        const cursor = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
        const items = Array.from({ length: 50 }, (_, index) => personOf(cursor * 50 + index));
        return route.fulfill({ json: { ...list, items: cursor === 0 ? [me, ...items] : items, nextCursor: cursor + 1 < PAGES ? String(cursor + 1) : null } });
      });
      await page.goto(`${base}/w/${world.ws}/people`);
      const search = page.getByLabel('Search by name or address');
      await search.fill('nobody is called this');
      await page.getByText('Nobody found').waitFor();
      await search.fill('person-149@');
      await page.getByRole('row', { name: /Person 149/ }).getByRole('link').click();
      await panel(page).getByText('person-149@example.test').first().waitFor();
      expect((await panel(page).getByText('Not a member').count()) === 0, 'The panel says that they are no member.');
    },
  },
  {
    name: 'An owner changes a role, takes it back, and removes the member',
    run: async ({ page, base, api, world, expect }) => {
      const email = freshAddress('bek');
      await addMember({ page, base, api, world, email, role: 'viewer' });
      const roleOf = async () => (await api('GET', `/v1/workspaces/${world.ws}/members`)).items.find(({ user }) => user.email === email)?.role;
      await page.goto(`${base}/w/${world.ws}/people`);
      await page.getByLabel('Search by name or address').fill(email);
      await page.getByRole('row', { name: email }).getByRole('link').click();
      await panel(page).getByLabel('Role').selectOption('builder');
      await panel(page).getByRole('button', { name: 'Change role' }).click();
      await page.getByRole('button', { name: 'Undo' }).waitFor();
      expect((await roleOf()) === 'builder', 'the role is changed');
      const undone = page.waitForResponse((response) => response.request().method() === 'PATCH');
      await page.getByRole('button', { name: 'Undo' }).click();
      await undone;
      expect((await roleOf()) === 'viewer', 'the role is as before');
      await panel(page).getByRole('button', { name: 'Remove', exact: true }).click();
      await dialog(page).getByRole('button', { name: 'Remove', exact: true }).click();
      await panel(page).waitFor({ state: 'detached' });
      expect((await roleOf()) === undefined, 'the member is gone');
    },
  },
  {
    name: 'An owner transfers the workspace after typing its name',
    run: async ({ page, base, api, world, expect }) => {
      const email = freshAddress('dana');
      await addMember({ page, base, api, world, email, role: 'admin' });
      const { items, you } = await api('GET', `/v1/workspaces/${world.ws}/members`);
      const id = items.find(({ user }) => user.email === email).user.id;
      const { items: workspaces } = await api('GET', '/v1/workspaces');
      const { name } = workspaces.find(({ id: ws }) => ws === world.ws);
      await page.goto(`${base}/w/${world.ws}/people/members/${id}`);
      await panel(page).getByRole('button', { name: 'Transfer ownership' }).click();
      await dialog(page).getByRole('textbox').fill('something else');
      expect((await dialog(page).getByRole('button', { name: 'Transfer ownership' }).getAttribute('aria-disabled')) === 'true', 'another name does not do');
      await dialog(page).getByRole('textbox').fill(name);
      await dialog(page).getByRole('button', { name: 'Transfer ownership' }).click();
      await page.getByText('is an owner now; you are an admin').waitFor();
      const after = (await api('GET', `/v1/workspaces/${world.ws}/members`)).items;
      expect(after.find(({ user }) => user.id === id).role === 'owner' && after.find(({ user }) => user.id === you).role === 'admin', 'the roles are exchanged');
    },
  },
  {
    name: 'An admin cannot change an owner, and is told why',
    role: 'admin',
    run: async ({ page, base, api, world, expect }) => {
      const { items } = await api('GET', `/v1/workspaces/${world.ws}/members`);
      const owner = items.find(({ role }) => role === 'owner').user;
      await page.goto(`${base}/w/${world.ws}/people/members/${owner.id}`);
      await panel(page).getByText('Only an owner can change an owner').waitFor();
      expect((await panel(page).getByLabel('Role').count()) === 0, 'there is no choice of a role');
    },
  },
  {
    name: 'A viewer sees who is there, and no invites',
    role: 'viewer',
    run: async ({ page, base, world, expect }) => {
      await page.goto(`${base}/w/${world.ws}/people`);
      await page.locator('.list-table tbody tr').first().waitFor();
      expect((await page.getByRole('link', { name: 'Invites' }).count()) === 0, 'there is no tab of invites');
      await page.goto(`${base}/w/${world.ws}/people/invites`);
      await page.getByText('Only admins and owners can manage people').waitFor();
    },
  },
  {
    name: 'An invite that is revoked leads nowhere',
    phone: true,
    run: async ({ page, base, api, world }) => {
      const email = freshAddress('eldar');
      const path = await inviteByLink({ api, world, email, role: 'member' });
      await page.goto(`${base}/w/${world.ws}/people/invites`);
      await page.getByRole('button', { name: `Actions for ${email}` }).click();
      await page.getByRole('menuitem', { name: 'Revoke' }).click();
      await dialog(page).getByRole('button', { name: 'Revoke' }).click();
      await page.locator('tr', { hasText: email }).getByText('Revoked').waitFor();
      const guest = await newPerson({ page, base, email });
      await guest.page.goto(`${base}${path}`);
      await guest.page.getByRole('heading', { level: 1 }).or(guest.page.getByRole('heading', { level: 2 })).first().waitFor();
      if (await guest.page.getByRole('button', { name: 'Join' }).count()) throw new Error('The revoked invite offers to join.');
      await guest.close();
    },
  },
  {
    name: 'A join domain is claimed, cannot be verified without its record, and is given up',
    run: async ({ page, base, world }) => {
      await page.goto(`${base}/w/${world.ws}/people/domain`);
      await page.getByLabel('Domain').fill('gmail.com');
      await page.getByRole('button', { name: 'Claim domain' }).click();
      await page.locator('.problem').waitFor();
      await page.getByLabel('Domain').fill('no-such-bakery.kz');
      await page.getByRole('button', { name: 'Claim domain' }).click();
      await page.getByText('_qala-challenge.no-such-bakery.kz').waitFor();
      await page.getByRole('button', { name: 'Verify' }).click();
      // Without a resolver, the reason is another.
      await page.getByText(/The record was not found|DNS/).and(page.locator('.notice p, .problem h2')).first().waitFor();
      await page.getByRole('button', { name: 'Give up domain' }).click();
      await dialog(page).getByRole('button', { name: 'Give up domain' }).click();
      await page.getByText('No join domain').waitFor();
    },
  },
  {
    name: 'An invite of one’s own is in the list at once',
    run: async ({ page, base, api, world }) => {
      const [first, second] = [freshAddress('first'), freshAddress('second')];
      await api('POST', `/v1/workspaces/${world.ws}/invites`, { emails: [first], role: 'viewer', deliver: 'link' });
      await page.goto(`${base}/w/${world.ws}/people/invites/new`);
      await page.locator('.list-table', { hasText: first }).waitFor();
      await panel(page).getByLabel('E-mail addresses').fill(second);
      await panel(page).getByText('By a link that you pass on').click();
      await panel(page).getByRole('button', { name: 'Create links' }).click();
      await dialog(page).getByLabel('I saved them').check();
      await dialog(page).getByRole('button', { name: 'Done' }).click();
      await page.locator('.list-table tr', { hasText: second }).waitFor();
    },
  },
];
