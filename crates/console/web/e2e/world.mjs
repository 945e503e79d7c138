// A workspace of its own for each journey, with the people in it.

let people = 0;

/** Returns a function that calls the API with the session of a context and throws on an error status. */
export function apiOf(context, base) {
  return async (method, path, body) => {
    const response = await context.request.fetch(base + path, {
      method,
      headers: { origin: base, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { data: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok()) throw new Error(`${method} ${path}: ${response.status()} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
}

async function signIn(browser, base, name, options) {
  people += 1;
  const email = `${name.toLowerCase()}-${process.pid}-${people}@example.com`;
  const context = await browser.newContext({ baseURL: base, ...options });
  const api = apiOf(context, base);
  await api('POST', '/v1/auth/dev-login', { email, name });
  return { context, api, email };
}

/**
 * Creates a workspace, and a person with the role who is signed in to it.
 *
 * @returns {Promise<{context: object, api: Function, person: Function, world: object, close: Function}>} `context` is the person's
 * browser, `api` calls as the owner, `person` as the person.
 */
export async function createWorld(browser, base, { role = 'owner', options = {} } = {}) {
  const owner = await signIn(browser, base, 'Aru', options);
  const settings = { name: 'Meruert', profile: 'global', teamSize: 'solo', intents: ['automations'], timezone: 'Asia/Almaty' };
  const ws = (await owner.api('POST', '/v1/workspaces', settings)).workspace.id;
  const [apps, automations, projects] = await Promise.all(
    ['apps', 'automations', 'backend/projects'].map((list) => owner.api('GET', `/v1/workspaces/${ws}/${list}`)),
  );
  const world = { ws, app: apps.items[0]?.id, automation: automations.items[0]?.id, project: projects.items[0]?.id, owner: owner.email };
  if (role === 'owner') return { context: owner.context, api: owner.api, person: owner.api, world, close: () => owner.context.close() };
  const member = await signIn(browser, base, 'Bek', options);
  const { links } = await owner.api('POST', `/v1/workspaces/${ws}/invites`, { emails: [member.email], role, deliver: 'link' });
  const token = new URL(links[0].link).pathname.split('/').at(-1);
  await member.api('POST', `/v1/invites/${token}/accept`, {});
  const close = () => Promise.all([owner.context.close(), member.context.close()]);
  return { context: member.context, api: owner.api, person: member.api, world: { ...world, member: member.email }, close };
}
