// Web Cryptography API, "HMAC"; vectors of RFC 2202 and RFC 4231.
import { bytes, each, hex, rejects, same, suite, utf8 } from './suite.js';

const { subtle } = crypto;
const HASHES = [['SHA-1', 64, 20], ['SHA-256', 64, 32], ['SHA-384', 128, 48], ['SHA-512', 128, 64]];
const raw = (key, hash = 'SHA-256', usages = ['sign', 'verify'], extractable = true) =>
  subtle.importKey('raw', key, { name: 'HMAC', hash }, extractable, usages);
const jefe = utf8('Jefe');
const question = utf8('what do ya want for nothing?');

export default suite(
  each([
    ['SHA-1', 'effcdf6ae5eb2fa2d27416d5f184df9c259a7c79'],
    ['SHA-256', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
    ['SHA-384', 'af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649'],
    ['SHA-512', '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737'],
  ], (hash) => `the second vector with ${hash}`, async (hash, mac) =>
    same(hex(await subtle.sign('HMAC', await raw(jefe, hash), question)), mac)),
  each([
    ['SHA-256', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
    ['SHA-384', 'afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f4af152e8b2fa9cb6'],
  ], (hash) => `the first vector with ${hash}`, async (hash, mac) =>
    same(hex(await subtle.sign('HMAC', await raw(new Uint8Array(20).fill(0x0b), hash), utf8('Hi There'))), mac)),
  each(HASHES, (hash) => `a key longer than a block of ${hash} is digested`, async (hash, block) => {
    const long = new Uint8Array(block + 1).fill(0xaa);
    const short = new Uint8Array(await subtle.digest(hash, long));
    same(hex(await subtle.sign('HMAC', await raw(long, hash), question)), hex(await subtle.sign('HMAC', await raw(short, hash), question)));
  }),
  each(HASHES, (hash) => `the length of a generated key with ${hash} is that of a block`, async (hash, block) => {
    const { algorithm, ...rest } = await subtle.generateKey({ name: 'HMAC', hash }, true, ['sign']).then(async (key) =>
      ({ algorithm: key.algorithm, bytes: (await subtle.exportKey('raw', key)).byteLength }));
    same([algorithm.name, algorithm.length, algorithm.hash.name, rest.bytes], ['HMAC', block * 8, hash, block]);
  }),
  each(HASHES, (hash) => `a signature with ${hash} is verified, a changed one is not`, async (hash, _, length) => {
    const key = await raw(jefe, hash);
    const mac = new Uint8Array(await subtle.sign('HMAC', key, question));
    same([mac.length, await subtle.verify('HMAC', key, mac, question)], [length, true]);
    mac[length - 1] ^= 1;
    same(await subtle.verify('HMAC', key, mac, question), false);
  }),
  each([[0], [1], [19], [31], [33]], (length) => `a signature of ${length} bytes is not valid`, async (length) =>
    same(await subtle.verify('HMAC', await raw(jefe), new Uint8Array(length), question), false)),
  each([['HS1', 'SHA-1'], ['HS256', 'SHA-256'], ['HS384', 'SHA-384'], ['HS512', 'SHA-512']], (alg) => `a JWK says ${alg}`,
    async (alg, hash) => {
      const jwk = await subtle.exportKey('jwk', await raw(jefe, hash));
      same([jwk.kty, jwk.alg, jwk.k, jwk.ext, jwk.key_ops], ['oct', alg, 'SmVmZQ', true, ['sign', 'verify']]);
      const key = await subtle.importKey('jwk', jwk, { name: 'HMAC', hash }, false, ['verify']);
      same([key.type, key.extractable, key.usages], ['secret', false, ['verify']]);
    }),
  {
    'a digest may be named in any case': async () => same((await raw(jefe, 'sha-512')).algorithm.hash.name, 'SHA-512'),
    'an unknown digest': () => rejects(raw(jefe, 'MD5'), 'NotSupportedError'),
    'no digest': () => rejects(subtle.importKey('raw', jefe, { name: 'HMAC' }, true, ['sign']), 'TypeError'),
    'an empty key': () => rejects(raw(new Uint8Array(0)), 'DataError'),
    'no usages': () => rejects(raw(jefe, 'SHA-256', []), 'SyntaxError'),
    'usages of other algorithms': () => rejects(raw(jefe, 'SHA-256', ['encrypt']), 'SyntaxError'),
    'a usage that does not exist': () => rejects(raw(jefe, 'SHA-256', ['sing']), 'TypeError'),
    'a key that only verifies does not sign': async () =>
      rejects(subtle.sign('HMAC', await raw(jefe, 'SHA-256', ['verify']), question), 'InvalidAccessError'),
    'a key that only signs does not verify': async () =>
      rejects(subtle.verify('HMAC', await raw(jefe, 'SHA-256', ['sign']), jefe, question), 'InvalidAccessError'),
    'a key that is not extractable': async () =>
      rejects(subtle.exportKey('raw', await raw(jefe, 'SHA-256', ['sign'], false)), 'InvalidAccessError'),
    'the message is copied when signing begins': async () => {
      const message = question.slice();
      const key = await raw(jefe);
      const signing = subtle.sign('HMAC', key, message);
      message.fill(0);
      same(hex(await signing), hex(await subtle.sign('HMAC', key, question)));
    },
    'a message of a view into a larger buffer': async () => {
      const all = new Uint8Array([0, ...question, 0]);
      const key = await raw(jefe);
      same(hex(await subtle.sign('HMAC', key, new DataView(all.buffer, 1, question.length))), hex(await subtle.sign('HMAC', key, question)));
    },
    'an empty message': async () => same((await subtle.sign('HMAC', await raw(jefe), new ArrayBuffer(0))).byteLength, 32),
    'a message of text': async () => rejects(subtle.sign('HMAC', await raw(jefe), 'text'), 'TypeError'),
    'a key of bytes instead of a CryptoKey': () => rejects(subtle.sign('HMAC', jefe, question), 'TypeError'),
    'a JWK for another digest': () =>
      rejects(subtle.importKey('jwk', { kty: 'oct', k: 'SmVmZQ', alg: 'HS1' }, { name: 'HMAC', hash: 'SHA-256' }, true, ['sign']), 'DataError'),
    'a generated key of a length': async () => {
      const key = await subtle.generateKey({ name: 'HMAC', hash: 'SHA-256', length: 256 }, true, ['sign']);
      same([key.algorithm.length, (await subtle.exportKey('raw', key)).byteLength], [256, 32]);
    },
    'the name of the algorithm in lower case': async () =>
      same((await subtle.sign({ name: 'hmac' }, await raw(jefe), question)).byteLength, 32),
  },
);
