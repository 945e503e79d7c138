// The Web Cryptography API (w3c.github.io/webcrypto, level 2). The sections of this folder are joined into one module,
// which is loaded when app code first touches `crypto.subtle` or `CryptoKey`. Keys are in Rust, which decides what each of
// them may do: whatever app code has made of the language or of its objects, it cannot make a key do more.

let native, TypeError, DOMException, Uint8Array, bytesOf, parse, stringify, keepWhile, defineProperty, toStringTag;
let secretName, secretKey;

const KEY = {};
const object = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';
const USAGES = ['encrypt', 'decrypt', 'sign', 'verify', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey'];
const FORMATS = ['raw', 'spki', 'pkcs8', 'jwk'];

/** What Rust gives: a pair of name and message is an error. */
const checked = (out) => {
  if (object(out) && typeof out[0] === 'string') throw new DOMException(out[1], out[0]);
  return out;
};

const dataOf = (value, what) => {
  const bytes = bytesOf(value);
  if (bytes === null) throw new TypeError(`${what} must be a buffer or a view`);
  return bytes;
};
/** A number without fraction, as `[EnforceRange]` has it. */
const integer = (most) => (value, what) => {
  const number = +value;
  const whole = number < 0 ? Math.ceil(number) : Math.floor(number);
  if (!(whole >= 0 && whole <= most)) throw new TypeError(`${what} must be a number from 0 to ${most}`);
  return whole;
};
const nameOf = (algorithm, what = 'the algorithm') => {
  if (!object(algorithm)) return `${algorithm}`;
  const { name } = algorithm;
  if (name === undefined) throw new TypeError(`${what} has no name`);
  return `${name}`;
};

/** How each member of an algorithm is read. */
const READ = {
  __proto__: null,
  hash: (value) => nameOf(value, 'the hash'),
  namedCurve: (value) => `${value}`,
  length: integer(2 ** 32 - 1),
  modulusLength: integer(2 ** 32 - 1),
  saltLength: integer(2 ** 32 - 1),
  iterations: integer(2 ** 32 - 1),
  tagLength: integer(255),
  publicExponent: (value) => {
    if (!(value instanceof Uint8Array)) throw new TypeError('publicExponent must be a Uint8Array');
    return value;
  },
  iv: dataOf, additionalData: dataOf, salt: dataOf, info: dataOf,
};
/** Members that are bytes, which are handed over by themselves. */
const BYTES = ['publicExponent', 'iv', 'additionalData', 'salt', 'info'];

const DIGESTS = { 'SHA-1': [], 'SHA-256': [], 'SHA-384': [], 'SHA-512': [] };
const SIGNATURES = { HMAC: [], ECDSA: ['hash'], Ed25519: [], 'RSASSA-PKCS1-v1_5': [], 'RSA-PSS': ['saltLength'] };
const CIPHERS = { 'AES-GCM': ['iv', 'additionalData?', 'tagLength?'] };
const DERIVATIONS = { HKDF: ['hash', 'salt', 'info'], PBKDF2: ['hash', 'salt', 'iterations'] };
const NEW_RSA = ['modulusLength', 'publicExponent', 'hash'];
/** What each operation knows: algorithms with their members, of which those with a question mark may be left out. */
const OPERATIONS = {
  digest: DIGESTS, sign: SIGNATURES, verify: SIGNATURES, encrypt: CIPHERS, decrypt: CIPHERS, 'derive bits': DERIVATIONS,
  'import keys': {
    HMAC: ['hash', 'length?'], 'AES-GCM': [], HKDF: [], PBKDF2: [], ECDSA: ['namedCurve'], Ed25519: [],
    'RSASSA-PKCS1-v1_5': ['hash'], 'RSA-PSS': ['hash'],
  },
  'generate keys': {
    HMAC: ['hash', 'length?'], 'AES-GCM': ['length'], ECDSA: ['namedCurve'], Ed25519: [], 'RSASSA-PKCS1-v1_5': NEW_RSA,
    'RSA-PSS': NEW_RSA,
  },
  'derive keys': { HMAC: ['hash', 'length?'], 'AES-GCM': ['length'], HKDF: [], PBKDF2: [] },
};

/** The members of an algorithm that an operation reads (§18.4.4): `json` of most, and bytes. */
const normalize = (operation, algorithm) => {
  const asked = nameOf(algorithm);
  const known = OPERATIONS[operation];
  for (const name in known) {
    if (name.toUpperCase() !== asked.toUpperCase()) continue;
    const scalars = { __proto__: null, name };
    const out = { __proto__: null, name, json: '' };
    const members = known[name];
    for (let at = 0; at < members.length; at++) {
      const isOptional = members[at].endsWith('?');
      const member = isOptional ? members[at].slice(0, -1) : members[at];
      const value = object(algorithm) ? algorithm[member] : undefined;
      if (value === undefined) {
        if (isOptional) continue;
        throw new TypeError(`${name} needs ${member}`);
      }
      (BYTES.includes(member) ? out : scalars)[member] = READ[member](value, member);
    }
    out.json = stringify(scalars);
    return out;
  }
  throw new DOMException(`${asked.slice(0, 40)} cannot ${operation}`, 'NotSupportedError');
};

const usagesOf = (usages) => {
  const asked = [...usages].map(String);
  const unknown = asked.find((usage) => !USAGES.includes(usage));
  if (unknown !== undefined) throw new TypeError(`${unknown.slice(0, 40)} is not a usage of a key`);
  return asked;
};
const formatOf = (format) => {
  if (!FORMATS.includes(`${format}`)) throw new TypeError('the format must be raw, spki, pkcs8 or jwk');
  return `${format}`;
};
