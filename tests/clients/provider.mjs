// What both generations of the official client ask of the program they are in: to keep things, and to open a browser.

import { callback } from './person.mjs';

export class Provider {
  kept = {};
  sentTo = undefined;
  registrations = 0;

  get redirectUrl() {
    return callback;
  }
  get clientMetadata() {
    return {
      client_name: 'Official client',
      redirect_uris: ['http://127.0.0.1/callback', callback],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }
  state() {
    return 'a-state';
  }
  clientInformation() {
    return this.kept.client;
  }
  saveClientInformation(client) {
    this.registrations += 1;
    this.kept.client = client;
  }
  tokens() {
    return this.kept.tokens;
  }
  saveTokens(tokens) {
    this.kept.tokens = tokens;
  }
  invalidateCredentials(what) {
    if (what === 'all' || what === 'tokens') delete this.kept.tokens;
    if (what === 'all' || what === 'client') delete this.kept.client;
  }
  redirectToAuthorization(address) {
    this.sentTo = address;
  }
  saveCodeVerifier(verifier) {
    this.kept.verifier = verifier;
  }
  codeVerifier() {
    return this.kept.verifier;
  }
}
