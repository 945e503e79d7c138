// An agent that asks a person to be connected.

import { CALLBACK } from './browser.mjs';

/** Registers an agent, starts an authorization, and returns the path of its page. */
export async function startAuthorization(base) {
  const registered = await fetch(`${base}/oauth/register`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ client_name: 'Code assistant', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' }) });
  const { client_id: clientId } = await registered.json();
  const query = new URLSearchParams({ response_type: 'code', client_id: clientId, redirect_uri: CALLBACK, code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256', state: 'here', scope: 'read write' });
  const started = await fetch(`${base}/oauth/authorize?${query}`, { redirect: 'manual' });
  return new URL(started.headers.get('location'), base).pathname;
}

/** Returns the URL of the agent that the page is redirected to. */
export async function redirected(page, click) {
  await Promise.all([page.waitForURL(`${CALLBACK}**`), click()]);
  return new URL(page.url());
}
