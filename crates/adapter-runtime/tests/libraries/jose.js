import * as jose from 'jose';
import vectors from './crypto_vectors.json';
import { app, equal, rejects } from './checks.js';

const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => Number.parseInt(pair, 16));
const base64 = (hex) => btoa(String.fromCharCode(...bytes(hex))).match(/.{1,64}/g).join('\n');
const pem = (label, hex) => `-----BEGIN ${label} KEY-----\n${base64(hex)}\n-----END ${label} KEY-----`;
const secret = new TextEncoder().encode('a secret of at least thirty-two bytes');

const sign = (alg, key, claims = {}) => new jose.SignJWT({ role: 'admin', ...claims })
  .setProtectedHeader({ alg, kid: 'k1' }).setIssuer('https://issuer.example').setAudience('shop')
  .setSubject('ana').setIssuedAt().setExpirationTime('2h').sign(key);

const roundTrip = async (alg, own, shown) => {
  const token = await sign(alg, own);
  const { payload, protectedHeader } = await jose.jwtVerify(token, shown, {
    issuer: 'https://issuer.example', audience: 'shop', algorithms: [alg],
  });
  equal([payload.sub, payload.role, payload.exp - payload.iat, protectedHeader.alg], ['ana', 'admin', 7200, alg]);
  const [head, body, signature] = token.split('.');
  const flipped = `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`;
  await rejects(jose.jwtVerify(`${head}.${body}.${flipped}`, shown), 'JWSSignatureVerificationFailed');
  await rejects(jose.jwtVerify(token, shown, { audience: 'other' }), 'JWTClaimValidationFailed');
};

const keyPair = (alg, hexes) => Promise.all([
  jose.importPKCS8(pem('PRIVATE', hexes.pkcs8), alg), jose.importSPKI(pem('PUBLIC', hexes.spki), alg),
]);

export default app({
  HS256: () => roundTrip('HS256', secret, secret),
  HS512: () => roundTrip('HS512', new Uint8Array(64).fill(7), new Uint8Array(64).fill(7)),
  RS256: async () => roundTrip('RS256', ...await keyPair('RS256', vectors)),
  PS256: async () => roundTrip('PS256', ...await keyPair('PS256', vectors)),
  ES256: async () => roundTrip('ES256', ...await keyPair('ES256', vectors['P-256'])),
  ES384: async () => roundTrip('ES384', ...await keyPair('ES384', vectors['P-384'])),
  EdDSA: async () => roundTrip('EdDSA', ...await keyPair('EdDSA', vectors.ed)),
  'generated keys': async () => {
    for (const alg of ['ES256', 'EdDSA']) {
      const { privateKey, publicKey } = await jose.generateKeyPair(alg, { extractable: true });
      await roundTrip(alg, privateKey, publicKey);
      await roundTrip(alg, await jose.exportJWK(privateKey), await jose.exportJWK(publicKey));
    }
  },
  'a token of RFC 7515': async () => {
    const key = { kty: 'oct', k: 'AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow' };
    const token = 'eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
    const { payload } = await jose.compactVerify(token, key);
    equal(JSON.parse(new TextDecoder().decode(payload)).iss, 'joe');
    await rejects(jose.jwtVerify(token, key), 'JWTExpired');
  },
  'JWE of a shared key': async () => {
    const key = crypto.getRandomValues(new Uint8Array(32));
    const token = await new jose.EncryptJWT({ card: '4242' }).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setExpirationTime('1m').encrypt(key);
    equal((await jose.jwtDecrypt(token, key)).payload.card, '4242');
    await rejects(jose.jwtDecrypt(token, new Uint8Array(32)), 'JWEDecryptionFailed');
    const compact = await new jose.CompactEncrypt(new TextEncoder().encode('héllo'))
      .setProtectedHeader({ alg: 'dir', enc: 'A128GCM' }).encrypt(key.slice(0, 16));
    const { plaintext } = await jose.compactDecrypt(compact, key.slice(0, 16));
    equal(new TextDecoder().decode(plaintext), 'héllo');
  },
  'JWE with a wrapped key': async () => {
    const key = crypto.getRandomValues(new Uint8Array(32));
    const token = await new jose.CompactEncrypt(new Uint8Array([1, 2, 3]))
      .setProtectedHeader({ alg: 'A256GCMKW', enc: 'A256GCM' }).encrypt(key);
    equal([...(await jose.compactDecrypt(token, key)).plaintext], [1, 2, 3]);
  },
  JWKS: async () => {
    const [own, shown] = await keyPair('ES256', vectors['P-256']);
    const keys = jose.createLocalJWKSet({
      keys: [{ kty: 'oct', k: 'AAAA', kid: 'k0' }, { ...await jose.exportJWK(await jose.importSPKI(pem('PUBLIC', vectors['P-256'].spki), 'ES256', { extractable: true })), kid: 'k1', alg: 'ES256', use: 'sig' }],
    });
    equal((await jose.jwtVerify(await sign('ES256', own), keys)).payload.sub, 'ana');
    await rejects(jose.jwtVerify(await sign('ES384', (await jose.generateKeyPair('ES384')).privateKey), keys), 'JWKSNoMatchingKey');
    equal(shown.type, 'public');
  },
  'JWKS of a server': async () => {
    const [own] = await keyPair('RS256', vectors);
    const { n, e } = vectors.jwk;
    let asked = 0;
    const keys = jose.createRemoteJWKSet(new URL('https://issuer.example/jwks.json'), {
      [jose.customFetch]: async (url, init) => {
        asked++;
        equal([url, init.method, init.signal instanceof AbortSignal], ['https://issuer.example/jwks.json', 'GET', true]);
        return Response.json({ keys: [{ kty: 'RSA', n, e, kid: 'k1', alg: 'RS256' }] });
      },
    });
    equal((await jose.jwtVerify(await sign('RS256', own), keys)).payload.sub, 'ana');
    equal((await jose.jwtVerify(await sign('RS256', own), keys)).payload.sub, 'ana');
    equal(asked, 1);
  },
  thumbprints: async () => {
    const key = { kty: 'RSA', e: 'AQAB', n: '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw' };
    equal(await jose.calculateJwkThumbprint(key), 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs');
  },
  'what is not signed': async () => {
    await rejects(jose.jwtVerify(new jose.UnsecuredJWT({ sub: 'eve' }).encode(), secret), 'JOSENotSupported');
    equal(jose.decodeJwt(await sign('HS256', secret)).sub, 'ana');
  },
});
