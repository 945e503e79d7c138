// A person in the console of the server that QALA_URL names: signs in, has a workspace, and lets an agent in.

export const base = process.env.QALA_URL;
export const callback = 'http://127.0.0.1:33418/callback';

export function check(what, holds) {
  if (!holds) throw new Error(`not so: ${what}`);
  console.log(`ok: ${what}`);
}

async function send(method, path, body, cookie) {
  const headers = { 'content-type': 'application/json', origin: base, ...(cookie && { cookie }) };
  const response = await fetch(base + path, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

const post = (path, body, cookie) => send('POST', path, body, cookie);

const ECHO = 'export default { async scheduled(event) { return { got: event.data }; } };';

/** Makes a version of an app that may reach these hosts. */
function versionOf(hosts) {
  const egress = hosts.map((host) => ({ host }));
  return {
    files: { 'main.js': ECHO },
    manifest: { name: 'Echo', description: 'Returns what it gets.', archetype: 'workshop', category: 'data', permissions: { egress } },
  };
}

export async function signIn(email) {
  const response = await post('/v1/auth/dev-login', { email });
  const cookie = response.headers.getSetCookie()[0].split(';')[0];
  const made = await post(
    '/v1/workspaces',
    { name: 'Home', profile: 'global', teamSize: 'solo', intents: [] },
    cookie,
  );
  const { workspace } = await made.json();
  const json = async (method, path, body) => (await send(method, path, body, cookie)).json();
  return {
    workspace: workspace.id,
    // Publishes an automation as the tool `echo`; returns a function that gives its app another permission.
    async publishTool() {
      const app = await json('POST', `/v1/workspaces/${workspace.id}/apps`, { name: 'Echo' });
      const versions = `/v1/apps/${app.id}/versions`;
      await json('POST', versions, versionOf([]));
      const automation = await json('POST', `/v1/workspaces/${workspace.id}/automations`, { name: 'Echo', appId: app.id, trigger: { type: 'manual' } });
      const path = `/v1/automations/${automation.id}/agent-tool`;
      const { hash } = await json('GET', path);
      const inputSchema = { type: 'object', properties: { text: { type: 'string', maxLength: 9 } }, required: ['text'], additionalProperties: false };
      await json('PUT', path, { name: 'echo', title: 'Echo', description: 'Returns what it gets.', inputSchema, reviewedHash: hash });
      return () => json('POST', versions, versionOf(['api.example.com']));
    },
    // Opens the address a client sends its person to, allows it in the console, and gives where the browser is sent.
    async allow(address) {
      const page = await fetch(address, { redirect: 'manual', headers: { cookie } });
      const id = page.headers.get('location')?.match(/\/oauth\/consent\/(oaz_\w+)$/)?.[1];
      check('the browser comes to the page of consent', page.status === 303 && id);
      const path = `/v1/oauth/authorizations/${id}`;
      const asked = await (await fetch(base + path, { headers: { cookie } })).json();
      check('the console shows a program on this device', asked.redirect.local && asked.redirect.host === '127.0.0.1');
      const decision = { decision: 'allow', workspaceId: workspace.id, access: asked.requestedAccess };
      const { outcome, redirectTo } = await (await post(`${path}/decision`, decision, cookie)).json();
      check('the agent is let in', outcome === 'allowed' && redirectTo.startsWith(callback));
      return new URL(redirectTo);
    },
  };
}
