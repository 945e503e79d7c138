// A client that is strict about the standards, on the protocol of OAuth alone.

import * as oauth from 'oauth4webapi';

import { base, callback, check, signIn } from './person.mjs';

const plain = { [oauth.allowInsecureRequests]: true };
const person = await signIn('oauth4webapi@example.test');
const server = new URL(`${base}/mcp`);

const asked = await fetch(server, { method: 'POST' });
const challenge = asked.headers.get('www-authenticate');
check('without a token it is told where to look', asked.status === 401 && challenge.includes('resource_metadata="'));

const found = await oauth.resourceDiscoveryRequest(server, plain);
const resource = await oauth.processResourceDiscoveryResponse(server, found);
const issuer = new URL(resource.authorization_servers[0]);
const described = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...plain });
const as = await oauth.processDiscoveryResponse(issuer, described);

const registered = await oauth.dynamicClientRegistrationRequest(
  as,
  { client_name: 'Strict client', redirect_uris: [callback], token_endpoint_auth_method: 'none' },
  plain,
);
const client = await oauth.processDynamicClientRegistrationResponse(registered);
check('it registered itself', client.client_id.startsWith('qac_') && client.client_secret === undefined);

const verifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();
const address = new URL(as.authorization_endpoint);
address.search = new URLSearchParams({
  client_id: client.client_id,
  redirect_uri: callback,
  response_type: 'code',
  scope: 'read write',
  state,
  resource: server.href,
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
});
const answer = oauth.validateAuthResponse(as, client, await person.allow(address), state);
const none = oauth.None();
const exchange = () => oauth.authorizationCodeGrantRequest(as, client, none, answer, callback, verifier, plain);
const first = await oauth.processAuthorizationCodeResponse(as, client, await exchange());
check('it has tokens', first.token_type === 'bearer' && first.expires_in === 3600 && first.scope === 'read write');

const call = (token) =>
  oauth.protectedResourceRequest(
    token,
    'POST',
    server,
    new Headers({ 'content-type': 'application/json', accept: 'application/json, text/event-stream' }),
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } }),
    plain,
  );
const { result } = await (await call(first.access_token)).json();
check('a tool knows the person', result.structuredContent.workspace.id === person.workspace);

const refreshed = await oauth.refreshTokenGrantRequest(as, client, none, first.refresh_token, plain);
const second = await oauth.processRefreshTokenResponse(as, client, refreshed);
check('it refreshed', second.refresh_token !== first.refresh_token);
check('the new token is good', (await call(second.access_token)).status === 200);

const given = await oauth.revocationRequest(as, client, none, second.refresh_token, plain);
await oauth.processRevocationResponse(given);
for (const token of [first.access_token, second.access_token]) {
  const error = await call(token).catch((error) => error);
  check('a token ended with the grant', error instanceof oauth.WWWAuthenticateChallengeError && error.status === 401);
}
const dead = await oauth.refreshTokenGrantRequest(as, client, none, second.refresh_token, plain);
const error = await oauth.processRefreshTokenResponse(as, client, dead).catch((error) => error);
check('so did the refresh token', error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant');
