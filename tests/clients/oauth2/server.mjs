// oauth2-mock-server, and a service that takes its access tokens and sends back all that it gets.
//
// Prints one line of JSON with the ports. It ends with its standard input.
//
// The authorization server checks the client and PKCE, and gives out a new refresh token each time: the one before is valid
// until its successor is used. GET /state of the service tells what was asked; POST /state changes `lifetime` (seconds of
// access tokens), `delay` (milliseconds of the token endpoint), `hold` (the token endpoint answers only once it is false again),
// `ended` (every grant has ended) and `awayForRevocation` (the revocation endpoint does not work).

import { createServer } from 'node:http';
import { OAuth2Server } from 'oauth2-mock-server';

const CLIENT = { id: 'qala-tests', secret: 'the-secret-of-the-oauth-app' };
const state = { lifetime: 3600, delay: 0, hold: false, ended: false, exchanges: 0, refreshes: 0, refused: 0, revoked: 0, concurrent: 0, mostConcurrent: 0, calls: 0, awayForRevocation: false };
const accessTokens = new Set();
/** Requests for tokens that are answered once `hold` is false. */
let held = [];
/** Refresh tokens that are valid, each with the one before it. */
const refreshTokens = new Map();

const server = new OAuth2Server();
await server.issuer.keys.generate('RS256');
server.service.on('beforeResponse', (response, request) => {
  const { grant_type: grant, client_id: id, client_secret: secret, refresh_token: refresh } = request.body;
  const refuse = (error) => {
    state.refused += 1;
    response.statusCode = error === 'invalid_client' ? 401 : 400;
    response.body = { error };
  };
  if (id !== CLIENT.id || secret !== CLIENT.secret) return refuse('invalid_client');
  if (grant === 'authorization_code' && typeof request.body.code_verifier !== 'string') return refuse('invalid_request');
  if (state.ended || (grant === 'refresh_token' && !refreshTokens.has(refresh))) return refuse('invalid_grant');
  if (grant === 'refresh_token') {
    refreshTokens.delete(refreshTokens.get(refresh));
    state.refreshes += 1;
  } else {
    state.exchanges += 1;
  }
  refreshTokens.set(response.body.refresh_token, refresh);
  accessTokens.add(response.body.access_token);
  response.body.expires_in = state.lifetime;
  return undefined;
});
/** The revocation endpoint (RFC 7009). That of oauth2-mock-server does not read what it is sent. */
const revoke = async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const form = new URLSearchParams(body);
  const isClient = form.get('client_id') === CLIENT.id && form.get('client_secret') === CLIENT.secret;
  if (!isClient || state.awayForRevocation) return response.writeHead(isClient ? 503 : 401).end();
  if (form.get('token_type_hint') === 'refresh_token' && refreshTokens.delete(form.get('token'))) state.revoked += 1;
  return response.writeHead(200).end();
};
// The whole token endpoint is slower, so that renewals overlap if they can.
const handle = server.service.requestHandler;
const authorization = createServer((request, response) => {
  if (request.url === '/revoke') return void revoke(request, response);
  const isToken = request.url.startsWith('/token');
  if (isToken) {
    state.concurrent += 1;
    state.mostConcurrent = Math.max(state.mostConcurrent, state.concurrent);
    response.on('close', () => (state.concurrent -= 1));
  }
  const answer = () => setTimeout(() => handle(request, response), isToken ? state.delay : 0);
  if (isToken && state.hold) held.push(answer);
  else answer();
});

const service = createServer((request, response) => {
  const json = (status, body) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    if (request.url === '/state') {
      if (request.method === 'POST') Object.assign(state, JSON.parse(body));
      if (!state.hold) {
        for (const answer of held) answer();
        held = [];
      }
      return json(200, state);
    }
    state.calls += 1;
    const token = request.headers.authorization?.replace(/^Bearer /, '');
    const echo = { headers: request.headers, url: request.url, base64: Buffer.from(String(token)).toString('base64') };
    return json(accessTokens.has(token) ? 200 : 401, echo);
  });
});

const listen = (one) => new Promise((resolve) => one.listen(0, '127.0.0.1', () => resolve(one.address().port)));
const ports = { authorization: await listen(authorization), service: await listen(service) };
server.issuer.url = `http://auth.example.com:${ports.authorization}`;
process.stdin.on('end', () => process.exit()).resume();
console.log(JSON.stringify(ports));
