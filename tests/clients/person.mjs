// A person in the console of the server that QALA_URL names: signs in, has a workspace, and lets an agent in.

export const base = process.env.QALA_URL;
export const callback = 'http://127.0.0.1:33418/callback';

export function check(what, holds) {
  if (!holds) throw new Error(`not so: ${what}`);
  console.log(`ok: ${what}`);
}

async function post(path, body, cookie) {
  const headers = { 'content-type': 'application/json', origin: base, ...(cookie && { cookie }) };
  const response = await fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
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
  return {
    workspace: workspace.id,
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
