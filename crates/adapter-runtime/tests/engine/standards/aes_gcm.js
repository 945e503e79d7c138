// Web Cryptography API, "AES-GCM"; vectors of the submission to NIST.
import { bytes, each, hex, rejects, same, suite, utf8 } from './suite.js';

const { subtle } = crypto;
const load = (raw, usages = ['encrypt', 'decrypt'], extractable = true) => subtle.importKey('raw', raw, 'AES-GCM', extractable, usages);
const iv = bytes('cafebabefacedbaddecaf888');
const key = bytes('feffe9928665731c6d6a8f9467308308');
const plain = bytes('d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255');
const short = plain.slice(0, 60);
const head = bytes('feedfacedeadbeeffeedfacedeadbeefabaddad2');
const message = utf8('an order');
const gcm = (more = {}) => ({ name: 'AES-GCM', iv, ...more });

export default suite(
  each([
    ['an empty text', new Uint8Array(16), { iv: new Uint8Array(12) }, new Uint8Array(0), '', '58e2fccefa7e3061367f1d57a4e7455a'],
    ['one block', new Uint8Array(16), { iv: new Uint8Array(12) }, new Uint8Array(16), '0388dace60b6a392f328c2b971b2fe78', 'ab6e47d42cec13bdf53a67b21257bddf'],
    ['four blocks', key, {}, plain, '42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985', '4d5c2af327cd64a62cf35abd2ba6fab4'],
    ['additional data', key, { additionalData: head }, short, null, '5bc94fbc3221a5db94fae95ae7121a47'],
    ['an empty text and 256 bits', new Uint8Array(32), { iv: new Uint8Array(12) }, new Uint8Array(0), '', '530f8afbc74536b9a963b4f1c4cb738b'],
    ['additional data and 256 bits', new Uint8Array([...key, ...key]), { additionalData: head }, short, null, '76fc6ece0f4e1768cddf8853bb2d551b'],
    ['an empty text and 192 bits', new Uint8Array(24), { iv: new Uint8Array(12) }, new Uint8Array(0), '', 'cd33b28ac773f74ba00ed1f312572435'],
  ], (name) => `the vector of ${name}`, async (_, raw, more, text, sealed, tag) => {
    const own = await load(raw);
    const out = hex(await subtle.encrypt(gcm(more), own, text));
    same(out.slice(-32), tag);
    if (sealed !== null) same(out, sealed + tag);
    same(hex(await subtle.decrypt(gcm(more), own, bytes(out))), hex(text));
  }),
  each([32, 64, 96, 104, 112, 120, 128], (length) => `a tag of ${length} bits`, async (tagLength) => {
    const own = await load(key);
    const sealed = await subtle.encrypt(gcm({ tagLength }), own, message);
    same([sealed.byteLength, hex(await subtle.decrypt(gcm({ tagLength }), own, sealed))], [message.length + tagLength / 8, hex(message)]);
  }),
  each([0, 8, 31, 100, 129, 136], (length) => `no tag of ${length} bits`, async (tagLength) =>
    rejects(subtle.encrypt(gcm({ tagLength }), await load(key), message), 'OperationError')),
  each([0, 1, 15, 17, 23, 31, 33], (length) => `no key of ${length} bytes`, (length) => rejects(load(new Uint8Array(length)), 'DataError')),
  each([128, 192, 256], (length) => `a generated key of ${length} bits`, async (length) => {
    const own = await subtle.generateKey({ name: 'AES-GCM', length }, true, ['encrypt', 'decrypt']);
    same([own.algorithm.length, (await subtle.exportKey('raw', own)).byteLength, (await subtle.exportKey('jwk', own)).alg], [length, length / 8, `A${length}GCM`]);
  }),
  each([0, 64, 129, 512], (length) => `no generated key of ${length} bits`, (length) =>
    rejects(subtle.generateKey({ name: 'AES-GCM', length }, true, ['encrypt']), 'OperationError')),
  each([1, 8, 13, 16, 60], (length) => `an iv of ${length} bytes`, async (length) => {
    const own = await load(key);
    const how = gcm({ iv: new Uint8Array(length).fill(3) });
    same(hex(await subtle.decrypt(how, own, await subtle.encrypt(how, own, message))), hex(message));
  }),
  each(['the text', 'the tag', 'the iv', 'the additional data', 'the key'], (what) => `a change of ${what} is found`, async (what) => {
    const own = await load(key);
    const sealed = new Uint8Array(await subtle.encrypt(gcm({ additionalData: head }), own, message));
    if (what === 'the text') sealed[0] ^= 1;
    if (what === 'the tag') sealed[sealed.length - 1] ^= 1;
    const how = gcm({ additionalData: what === 'the additional data' ? message : head });
    if (what === 'the iv') how.iv = new Uint8Array(12);
    await rejects(subtle.decrypt(how, what === 'the key' ? await load(new Uint8Array(16)) : own, sealed), 'OperationError');
  }),
  {
    'less than a tag': async () => rejects(subtle.decrypt(gcm(), await load(key), new Uint8Array(15)), 'OperationError'),
    'no iv': async () => rejects(subtle.encrypt({ name: 'AES-GCM' }, await load(key), message), 'TypeError'),
    'a key that only decrypts': async () => rejects(subtle.encrypt(gcm(), await load(key, ['decrypt']), message), 'InvalidAccessError'),
    'a key that only encrypts': async () => rejects(subtle.decrypt(gcm(), await load(key, ['encrypt']), message), 'InvalidAccessError'),
    'usages of signatures': () => rejects(load(key, ['sign']), 'SyntaxError'),
    'no usages': () => rejects(load(key, []), 'SyntaxError'),
    'a JWK of another length': () => rejects(subtle.importKey('jwk', { kty: 'oct', k: 'AAAA', alg: 'A128GCM' }, 'AES-GCM', true, ['encrypt']), 'DataError'),
    'the text is copied when encryption begins': async () => {
      const own = await load(key);
      const text = plain.slice();
      const sealing = subtle.encrypt(gcm(), own, text);
      text.fill(0);
      same(hex(await subtle.decrypt(gcm(), own, await sealing)), hex(plain));
    },
  },
);
