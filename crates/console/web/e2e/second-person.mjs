// Other people beside the one whose page a journey drives.

import { randomUUID } from 'node:crypto';

/** Returns an address that nobody has used. */
export function freshAddress(name) {
  return `${name}-${randomUUID().slice(0, 8)}@example.test`;
}

/** Opens a browser of somebody's own, signed in with `email`, or of a visitor. */
export async function newPerson({ page, base, email, options = {} }) {
  const context = await page.context().browser().newContext({ locale: 'en', baseURL: base, ...options });
  if (email !== undefined) {
    const signedIn = await context.request.post(`${base}/v1/auth/dev-login`, { data: { email }, headers: { origin: base } });
    if (!signedIn.ok()) throw new Error(`Nobody could sign in as ${email}: ${signedIn.status()}`);
  }
  return { context, page: await context.newPage(), close: () => context.close() };
}

/** Creates an invite and returns the path of its page. */
export async function inviteByLink({ api, world, email, role }) {
  const { links } = await api('POST', `/v1/workspaces/${world.ws}/invites`, { emails: [email], role, deliver: 'link' });
  return new URL(links[0].link).pathname;
}

/** Adds a member to the workspace. */
export async function addMember({ page, base, api, world, email, role }) {
  const path = await inviteByLink({ api, world, email, role });
  const person = await newPerson({ page, base, email });
  const accepted = await person.context.request.post(`${base}/v1${path.replace('/invite/', '/invites/')}/accept`, { data: {}, headers: { origin: base } });
  if (!accepted.ok()) throw new Error(`${email} could not join: ${accepted.status()}`);
  await person.close();
}
