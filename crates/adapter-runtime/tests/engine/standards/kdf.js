import { bytes, each, hex, rejects, same, suite, utf8 } from './suite.js';

const { subtle } = crypto;
const HASHES = [['SHA-1', 20], ['SHA-256', 32], ['SHA-384', 48], ['SHA-512', 64]];
const load = (name) => (secret, usages = ['deriveBits', 'deriveKey']) => subtle.importKey('raw', secret, name, false, usages);

/** Cases of any function that derives; `how` gives its parameters. */
const common = (name, how) => {
  const own = () => load(name)(utf8('secret'));
  return [
    ...each(HASHES, (hash) => `bits with ${hash}`, async (hash, length) => {
      const all = hex(await subtle.deriveBits(how({ hash }), await own(), length * 8));
      const again = hex(await subtle.deriveBits(how({ hash }), await own(), length * 8));
      const other = hex(await subtle.deriveBits(how({ hash, salt: utf8('other') }), await own(), length * 8));
      same([all.length, all === again, all === other], [length * 2, true, false]);
    }),
    ...each([8, 64, 128, 264, 1024], (length) => `the first ${length} bits are those of more`, async (length) => {
      const all = hex(await subtle.deriveBits(how(), await own(), 1024));
      same(hex(await subtle.deriveBits(how(), await own(), length)), all.slice(0, length / 4));
    }),
    ...each([1, 7, 9, 129], (length) => `no ${length} bits`, async (length) =>
      rejects(subtle.deriveBits(how(), await own(), length), 'OperationError')),
    ...each([128, 192, 256], (length) => `a key for AES-GCM of ${length} bits`, async (length) => {
      const key = await subtle.deriveKey(how(), await own(), { name: 'AES-GCM', length }, true, ['encrypt']);
      same([key.algorithm.length, hex(await subtle.exportKey('raw', key))], [length, hex(await subtle.deriveBits(how(), await own(), length))]);
    }),
    ...each([['SHA-1', 512], ['SHA-256', 512], ['SHA-384', 1024], ['SHA-512', 1024]], (hash) => `a key for HMAC with ${hash}`,
      async (hash, length) => {
        const key = await subtle.deriveKey(how(), await own(), { name: 'HMAC', hash }, true, ['sign']);
        same([key.algorithm.length, (await subtle.exportKey('raw', key)).byteLength], [length, length / 8]);
      }),
    ['no length', async () => rejects(subtle.deriveBits(how(), await own(), null), 'OperationError')],
    ['no digest', async () => rejects(subtle.deriveBits({ ...how(), hash: undefined }, await own(), 256), 'TypeError')],
    ['an unknown digest', async () => rejects(subtle.deriveBits(how({ hash: 'MD5' }), await own(), 256), 'NotSupportedError')],
    ['no salt', async () => rejects(subtle.deriveBits({ ...how(), salt: undefined }, await own(), 256), 'TypeError')],
    ['an empty salt', async () => same((await subtle.deriveBits(how({ salt: new Uint8Array(0) }), await own(), 256)).byteLength, 32)],
    ['a key is never extractable', () => rejects(subtle.importKey('raw', utf8('x'), name, true, ['deriveBits']), 'SyntaxError')],
    ['usages of signatures', () => rejects(load(name)(utf8('x'), ['sign']), 'SyntaxError')],
    ['no usages', () => rejects(load(name)(utf8('x'), []), 'SyntaxError')],
    ['a key that only derives keys', async () =>
      rejects(subtle.deriveBits(how(), await load(name)(utf8('x'), ['deriveKey']), 256), 'InvalidAccessError')],
    ['a key that only derives bits', async () =>
      rejects(subtle.deriveKey(how(), await load(name)(utf8('x'), ['deriveBits']), { name: 'AES-GCM', length: 128 }, true, ['encrypt']), 'InvalidAccessError')],
    ['a key of a derived key without usages', async () =>
      rejects(subtle.deriveKey(how(), await own(), { name: 'AES-GCM', length: 128 }, true, []), 'SyntaxError')],
    ['what a key says', async () => {
      const key = await own();
      same([key.type, key.extractable, key.algorithm.name, key.usages], ['secret', false, name, ['deriveBits', 'deriveKey'].sort((one, other) => key.usages.indexOf(one) - key.usages.indexOf(other))]);
    }],
    ['an import as JWK', () => rejects(subtle.importKey('jwk', { kty: 'oct', k: 'AAAA' }, name, false, ['deriveBits']), 'NotSupportedError')],
  ];
};

// Vectors of RFC 5869.
const hkdf = (more = {}) => ({ name: 'HKDF', hash: 'SHA-256', salt: utf8('salt'), info: utf8('info'), ...more });
export const HKDF = suite(common('HKDF', hkdf), each([
  ['1', 'SHA-256', '0b'.repeat(22), '000102030405060708090a0b0c', 'f0f1f2f3f4f5f6f7f8f9', '3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865'],
  ['3', 'SHA-256', '0b'.repeat(22), '', '', '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8'],
  ['4', 'SHA-1', '0b'.repeat(11), '000102030405060708090a0b0c', 'f0f1f2f3f4f5f6f7f8f9', '085a01ea1b10f36933068b56efa5ad81a4f14b822f5b091568a9cdd4f155fda2c22e422478d305f3f896'],
], (number) => `test case ${number} of RFC 5869`, async (_, hash, secret, salt, info, out) => {
  const key = await load('HKDF')(bytes(secret));
  same(hex(await subtle.deriveBits(hkdf({ hash, salt: bytes(salt), info: bytes(info) }), key, out.length * 4)), out);
}), {
  'no info': async () => rejects(subtle.deriveBits({ ...hkdf(), info: undefined }, await load('HKDF')(utf8('x')), 256), 'TypeError'),
  'another info': async () => {
    const key = await load('HKDF')(utf8('secret'));
    same(hex(await subtle.deriveBits(hkdf(), key, 256)) === hex(await subtle.deriveBits(hkdf({ info: utf8('x') }), key, 256)), false);
  },
  'the most bits': async () => same((await subtle.deriveBits(hkdf(), await load('HKDF')(utf8('x')), 255 * 256)).byteLength, 255 * 32),
  'more than the most bits': async () => rejects(subtle.deriveBits(hkdf(), await load('HKDF')(utf8('x')), 255 * 256 + 8), 'OperationError'),
});

// Vectors of RFC 6070 and RFC 7914.
const pbkdf2 = (more = {}) => ({ name: 'PBKDF2', hash: 'SHA-256', salt: utf8('salt'), iterations: 2, ...more });
export const PBKDF2 = suite(common('PBKDF2', pbkdf2), each([
  ['one iteration', 'SHA-1', 'password', 'salt', 1, '0c60c80f961f0e71f3a9b524af6012062fe037a6'],
  ['4,096 iterations', 'SHA-1', 'password', 'salt', 4096, '4b007901b765489abead49d926f721d065a429c1'],
  ['a long password', 'SHA-1', 'passwordPASSWORDpassword', 'saltSALTsaltSALTsaltSALTsaltSALTsalt', 4096, '3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038'],
  ['a password with NUL', 'SHA-1', 'pass\0word', 'sa\0lt', 4096, '56fa6aa75548099dcc37d7f03425e0c3'],
  ['SHA-256', 'SHA-256', 'passwd', 'salt', 1, '55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc'],
], (name) => `the vector of ${name}`, async (_, hash, password, salt, iterations, out) =>
  same(hex(await subtle.deriveBits(pbkdf2({ hash, salt: utf8(salt), iterations }), await load('PBKDF2')(utf8(password)), out.length * 4)), out)), {
  'no iterations': async () => rejects(subtle.deriveBits(pbkdf2({ iterations: 0 }), await load('PBKDF2')(utf8('x')), 256), 'OperationError'),
  'iterations that are left out': async () => rejects(subtle.deriveBits(pbkdf2({ iterations: undefined }), await load('PBKDF2')(utf8('x')), 256), 'TypeError'),
  'another count of iterations': async () => {
    const key = await load('PBKDF2')(utf8('x'));
    same(hex(await subtle.deriveBits(pbkdf2(), key, 256)) === hex(await subtle.deriveBits(pbkdf2({ iterations: 3 }), key, 256)), false);
  },
  'an empty password': async () => same((await subtle.deriveBits(pbkdf2(), await load('PBKDF2')(new Uint8Array(0)), 256)).byteLength, 32),
});
