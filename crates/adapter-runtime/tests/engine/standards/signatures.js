// Web Cryptography API: algorithms that sign with a private key.
import { bytes, each, hex, rejects, same, suite, utf8 } from './suite.js';
import vectors from './vectors.js';

const { subtle } = crypto;
const message = utf8('an order');
const importing = (format, data, algorithm, extractable, usages) => subtle.importKey(format, data, algorithm, extractable, usages);

/**
 * Cases of any such algorithm. `own` and `shown` import the keys of `keys`, `how` are the parameters to sign with, `jwk` the
 * members that a JWK must have, `length` the bytes of a signature.
 */
const common = ({ algorithm, how, keys, jwk, length, isFixed }) => {
  const own = (usages = ['sign'], extractable = true) => importing('pkcs8', bytes(keys.pkcs8), algorithm, extractable, usages);
  const shown = (usages = ['verify'], extractable = true) => importing('spki', bytes(keys.spki), algorithm, extractable, usages);
  const signed = async (text = message) => new Uint8Array(await subtle.sign(how, await own(), text));
  return [
    ...each([0, 1, 64, 1000, 100000], (size) => `a message of ${size} bytes`, async (size) => {
      const text = new Uint8Array(size).fill(7);
      const signature = await signed(text);
      same([signature.length, await subtle.verify(how, await shown(), signature, text)], [length, true]);
    }),
    ...each(['first', 'middle', 'last'], (where) => `a change of the ${where} byte of a signature`, async (where) => {
      const signature = await signed();
      signature[{ first: 0, middle: length >> 1, last: length - 1 }[where]] ^= 1;
      same(await subtle.verify(how, await shown(), signature, message), false);
    }),
    ...each([['nothing', 0], ['half', length >> 1], ['a byte less', length - 1], ['a byte more', length + 1]],
      (what) => `a signature of ${what}`, async (_, size) => {
        const signature = new Uint8Array(size);
        signature.set((await signed()).slice(0, size));
        same(await subtle.verify(how, await shown(), signature, message), false);
      }),
    ['a signature of zeros', async () => same(await subtle.verify(how, await shown(), new Uint8Array(length), message), false)],
    ['another message', async () => same(await subtle.verify(how, await shown(), await signed(), utf8('an ordeR')), false)],
    ['two signatures of one message', async () => {
      const [one, other] = [await signed(), await signed()];
      // ECDSA may choose anew for each.
      if (isFixed !== undefined) same(hex(one) === hex(other), isFixed);
      for (const signature of [one, other]) same(await subtle.verify(how, await shown(), signature, message), true);
    }],
    ['the public key does not sign', async () => rejects(subtle.sign(how, await shown(), message), 'InvalidAccessError')],
    ['the private key does not verify', async () => rejects(subtle.verify(how, await own(), await signed(), message), 'InvalidAccessError')],
    ['a private key without usages', () => rejects(own([]), 'SyntaxError')],
    ['a public key without usages', async () => same((await shown([])).usages, [])],
    ['a private key that verifies', () => rejects(own(['verify']), 'SyntaxError')],
    ['a public key that signs', () => rejects(shown(['sign']), 'SyntaxError')],
    ['usages of encryption', () => rejects(own(['sign', 'decrypt']), 'SyntaxError')],
    ['what keys say', async () => {
      const [one, other] = [await own(), await shown()];
      same([one.type, one.extractable, one.usages, other.type, other.usages, one.algorithm.name],
        ['private', true, ['sign'], 'public', ['verify'], algorithm.name]);
    }],
    ['pkcs8 there and back', async () => same(hex(await subtle.exportKey('pkcs8', await own())), keys.pkcs8)],
    ['spki there and back', async () => same(hex(await subtle.exportKey('spki', await shown())), keys.spki)],
    ['a private key has no spki', async () => rejects(subtle.exportKey('spki', await own()), 'InvalidAccessError')],
    ['a public key has no pkcs8', async () => rejects(subtle.exportKey('pkcs8', await shown()), 'InvalidAccessError')],
    ['the JWK of a public key', async () => {
      const out = await subtle.exportKey('jwk', await shown());
      for (const [name, value] of Object.entries(jwk)) same([name, out[name]], [name, value]);
      same([out.ext, out.key_ops, 'd' in out], [true, ['verify'], false]);
      const again = await importing('jwk', out, algorithm, true, ['verify']);
      same([again.type, await subtle.verify(how, again, await signed(), message)], ['public', true]);
    }],
    ['the JWK of a private key', async () => {
      const out = await subtle.exportKey('jwk', await own());
      same([typeof out.d, out.key_ops], ['string', ['sign']]);
      const again = await importing('jwk', out, algorithm, false, ['sign']);
      same(await subtle.verify(how, await shown(), await subtle.sign(how, again, message), message), true);
    }],
    ['a private key that is not extractable', async () => {
      const key = await own(['sign'], false);
      for (const format of ['pkcs8', 'jwk']) {
        const error = await subtle.exportKey(format, key).then(() => null, (caught) => caught);
        same(error instanceof DOMException && error.name.startsWith('InvalidAccess'), true);
      }
    }],
    ['pkcs8 that is cut off', () => rejects(importing('pkcs8', bytes(keys.pkcs8).slice(0, -1), algorithm, true, ['sign']), 'DataError')],
    ['spki of nothing', () => rejects(importing('spki', new Uint8Array(0), algorithm, true, ['verify']), 'DataError')],
    ['a JWK of another kind', () => rejects(importing('jwk', { ...jwk, kty: 'oct', k: 'AAAA' }, algorithm, true, ['verify']), 'DataError')],
    ['a JWK for encryption', async () =>
      rejects(importing('jwk', { ...await subtle.exportKey('jwk', await shown()), use: 'enc' }, algorithm, true, ['verify']), 'DataError')],
    ['a JWK with other operations', async () =>
      rejects(importing('jwk', { ...await subtle.exportKey('jwk', await shown()), key_ops: ['sign'] }, algorithm, true, ['verify']), 'DataError')],
    ['a JWK that is not extractable', async () =>
      rejects(importing('jwk', { ...await subtle.exportKey('jwk', await shown()), ext: false }, algorithm, true, ['verify']), 'DataError')],
    ['a format that does not exist', () => rejects(importing('pem', new Uint8Array(1), algorithm, true, ['sign']), 'TypeError')],
    ['a key of another algorithm', async () => {
      const hmac = await importing('raw', utf8('k'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
      await rejects(subtle.sign(how, hmac, message), 'InvalidAccessError');
    }],
  ];
};

const rsaJwk = (alg) => ({ kty: 'RSA', n: vectors.jwk.n, e: 'AQAB', alg });
const rsa = (name, extra, alg) => common({
  algorithm: { name, hash: 'SHA-256' }, how: { name, ...extra }, keys: vectors, jwk: rsaJwk(alg), length: 256, isFixed: name === 'RSASSA-PKCS1-v1_5',
});
const madeElsewhere = (name, kind, hashes) => each(hashes, (hash, salt) => `a signature of another implementation with ${hash}`,
  async (hash, saltLength) => {
    const key = await importing('spki', bytes(vectors.spki), { name, hash }, true, ['verify']);
    const { hash: digest, modulusLength, publicExponent } = key.algorithm;
    same([digest.name, modulusLength, [...publicExponent]], [hash, 2048, [1, 0, 1]]);
    const signature = bytes(vectors[`${kind} ${hash}`]);
    same([await subtle.verify({ name, saltLength }, key, signature, message), await subtle.verify({ name, saltLength }, key, signature, utf8('x'))], [true, false]);
  });

export const RSASSA = suite(rsa('RSASSA-PKCS1-v1_5', {}, 'RS256'),
  madeElsewhere('RSASSA-PKCS1-v1_5', 'pkcs1', ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']));

export const PSS = suite(rsa('RSA-PSS', { saltLength: 32 }, 'PS256'),
  madeElsewhere('RSA-PSS', 'pss', [['SHA-256', 32], ['SHA-384', 48], ['SHA-512', 64]]),
  { 'no length of the salt': async () => rejects(subtle.sign('RSA-PSS', await importing('pkcs8', bytes(vectors.pkcs8), { name: 'RSA-PSS', hash: 'SHA-256' }, true, ['sign']), message), 'TypeError') });

const curve = (namedCurve, size, hash) => {
  const { pkcs8, spki, jwk } = vectors[namedCurve];
  return common({
    algorithm: { name: 'ECDSA', namedCurve }, how: { name: 'ECDSA', hash }, keys: { pkcs8, spki },
    jwk: { kty: 'EC', crv: namedCurve, x: jwk.x, y: jwk.y }, length: size * 2,
  }).map(([name, check]) => [`${namedCurve}: ${name}`, check]);
};
export const ECDSA = suite(
  curve('P-256', 32, 'SHA-256'), curve('P-384', 48, 'SHA-384'),
  each(['P-256', 'P-384'], (namedCurve) => `a generated key of ${namedCurve}`, async (namedCurve) => {
    const { privateKey, publicKey } = await subtle.generateKey({ name: 'ECDSA', namedCurve }, false, ['sign', 'verify']);
    const how = { name: 'ECDSA', hash: 'SHA-256' };
    same([privateKey.extractable, publicKey.extractable, privateKey.usages, publicKey.usages], [false, true, ['sign'], ['verify']]);
    same(await subtle.verify(how, publicKey, await subtle.sign(how, privateKey, message), message), true);
    same((await subtle.exportKey('raw', publicKey)).byteLength, namedCurve === 'P-256' ? 65 : 97);
  }),
  each(['SHA-256', 'SHA-384', 'SHA-512'], (hash) => `P-256 with ${hash}`, async (hash) => {
    const key = await importing('pkcs8', bytes(vectors['P-256'].pkcs8), { name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign']);
    const shown = await importing('spki', bytes(vectors['P-256'].spki), { name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify']);
    same(await subtle.verify({ name: 'ECDSA', hash }, shown, await subtle.sign({ name: 'ECDSA', hash }, key, message), message), true);
  }),
  {
    'a curve that does not exist': () => rejects(subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-1' }, true, ['sign']), 'NotSupportedError'),
    'a key of another curve': () => rejects(importing('spki', bytes(vectors['P-384'].spki), { name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify']), 'DataError'),
    'a point that is not on the curve': () => rejects(importing('raw', new Uint8Array(65).fill(4), { name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify']), 'DataError'),
    'signing without a digest': async () => rejects(subtle.sign('ECDSA', await importing('pkcs8', bytes(vectors['P-256'].pkcs8), { name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign']), message), 'TypeError'),
  },
);

export const Ed25519 = suite(
  common({
    algorithm: { name: 'Ed25519' }, how: { name: 'Ed25519' }, keys: vectors.ed, length: 64, isFixed: true,
    jwk: { kty: 'OKP', crv: 'Ed25519', x: btoa(String.fromCharCode(...bytes(vectors.ed.spki).slice(12))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '') },
  }),
  // RFC 8032, section 7.1.
  each([
    ['1', 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', '', 'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b'],
    ['2', '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c', '72', '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00'],
    ['3', 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025', 'af82', '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a'],
  ], (number) => `test ${number} of RFC 8032`, async (_, key, text, signature) => {
    const shown = await importing('raw', bytes(key), 'Ed25519', true, ['verify']);
    same([await subtle.verify('Ed25519', shown, bytes(signature), bytes(text)), hex(await subtle.exportKey('raw', shown))], [true, key]);
  }),
  { 'a raw key of another length': () => rejects(importing('raw', new Uint8Array(31), 'Ed25519', true, ['verify']), 'DataError') },
);
