const DIGESTS = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'];
/** Bytes of a block of each digest, which is the length of a generated HMAC key. */
const BLOCKS = { __proto__: null, 'SHA-1': 64, 'SHA-256': 64, 'SHA-384': 128, 'SHA-512': 128 };
/** Names of HMAC with each digest in a JSON Web Key (RFC 7518 §3.1). */
const JWK_NAMES = { __proto__: null, 'SHA-1': 'HS1', 'SHA-256': 'HS256', 'SHA-384': 'HS384', 'SHA-512': 'HS512' };
const HMAC_USAGES = ['sign', 'verify'];
const KEY_USAGES = ['encrypt', 'decrypt', 'sign', 'verify', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey'];
const INTEGER_VIEWS = [
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array,
];

const cryptoError = (name, message) => new DOMException(message, name);
const algorithmName = (algorithm) => `${typeof algorithm === 'object' ? algorithm?.name : algorithm}`.toUpperCase();
const digestName = (algorithm) => {
  const name = algorithmName(algorithm);
  if (!DIGESTS.includes(name)) throw cryptoError('NotSupportedError', `the digest ${name} is not supported`);
  return name;
};
const dataOf = (data, what) => {
  const bytes = bytesOf(data);
  if (bytes === null) throw new TypeError(`${what} must be a buffer or a view`);
  return bytes;
};
const hmacOf = (algorithm) => {
  const name = algorithmName(algorithm);
  if (name !== 'HMAC') throw cryptoError('NotSupportedError', `keys for ${name} are not supported; only those for HMAC are`);
};
/** The usages of an HMAC key, each once and in the order of the standard. */
const hmacUsages = (usages) => {
  const asked = [...usages].map(String);
  const unknown = asked.find((usage) => !KEY_USAGES.includes(usage));
  if (unknown !== undefined) throw new TypeError(`${unknown} is not a usage of a key`);
  if (!asked.every((usage) => HMAC_USAGES.includes(usage))) throw cryptoError('SyntaxError', 'an HMAC key can only sign and verify');
  if (asked.length === 0) throw cryptoError('SyntaxError', 'a secret key needs a usage');
  return HMAC_USAGES.filter((usage) => asked.includes(usage));
};

/** A key for HMAC (W3C Web Cryptography API §31); other kinds do not exist yet. */
class CryptoKey {
  #extractable;
  #algorithm;
  #usages;
  #bytes;
  #hash;
  #allowed;
  constructor(key, bytes, hash, extractable, usages) {
    if (key !== KEY) throw new TypeError('Illegal constructor');
    this.#bytes = bytes;
    this.#hash = hash;
    this.#allowed = [...usages];
    this.#algorithm = { name: 'HMAC', hash: { name: hash }, length: bytes.length * 8 };
    this.#extractable = Boolean(extractable);
    this.#usages = usages;
  }
  get type() { return 'secret'; }
  get extractable() { return this.#extractable; }
  get algorithm() { return this.#algorithm; }
  get usages() { return this.#usages; }
  /** What only the prelude sees: `algorithm` and `usages` are objects that app code may change. */
  static secretOf(key) {
    if (!(#bytes in key)) throw new TypeError('a CryptoKey is needed');
    return { bytes: key.#bytes, hash: key.#hash, extractable: key.#extractable, usages: key.#allowed };
  }
}
const { secretOf } = CryptoKey;
delete CryptoKey.secretOf;

const fromBase64Url = (value) => {
  if (typeof value !== 'string' || !/^[\w-]+$/.test(value)) throw cryptoError('DataError', 'k must be base64url without padding');
  const binary = native.atob(value.replaceAll('-', '+').replaceAll('_', '/'));
  if (binary == null) throw cryptoError('DataError', 'k must be base64url without padding');
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
};
const toBase64Url = (bytes) => native.btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

const bytesFromJwk = (jwk, hash, extractable, usages) => {
  if (typeof jwk !== 'object' || jwk === null) throw new TypeError('a JSON Web Key must be an object');
  if (jwk.kty !== 'oct') throw cryptoError('DataError', 'the kty of an HMAC key must be oct');
  if (jwk.alg !== undefined && jwk.alg !== JWK_NAMES[hash]) throw cryptoError('DataError', `the alg must be ${JWK_NAMES[hash]}`);
  if (jwk.use !== undefined && jwk.use !== 'sig') throw cryptoError('DataError', 'the use must be sig');
  if (jwk.key_ops !== undefined && !(Array.isArray(jwk.key_ops) && usages.every((usage) => jwk.key_ops.includes(usage)))) {
    throw cryptoError('DataError', 'the key_ops do not allow the usages');
  }
  if (jwk.ext === false && extractable) throw cryptoError('DataError', 'the key must not be extractable');
  return fromBase64Url(jwk.k);
};

/** Checks the length in bits that is asked for: a key whose last byte is used in part is refused. */
const cutTo = (bytes, length) => {
  if (length === undefined) return bytes;
  const bits = Number(length);
  if (!Number.isInteger(bits) || bits > bytes.length * 8 || bits <= bytes.length * 8 - 8) {
    throw cryptoError('DataError', 'the length does not fit the key');
  }
  if (bits % 8 !== 0) throw cryptoError('NotSupportedError', 'the length of a key must be whole bytes');
  return bytes;
};

const usable = (algorithm, key, usage) => {
  const secret = secretOf(key);
  if (algorithmName(algorithm) !== 'HMAC') throw cryptoError('InvalidAccessError', 'the key is for HMAC');
  if (!secret.usages.includes(usage)) throw cryptoError('InvalidAccessError', `the key may not ${usage}`);
  return secret;
};

const subtle = {
  async digest(algorithm, data) { return native.digest(digestName(algorithm), dataOf(data, 'the data')); },
  async importKey(format, data, algorithm, extractable, usages) {
    hmacOf(algorithm);
    const [hash, allowed] = [digestName(algorithm.hash), hmacUsages(usages)];
    let bytes;
    if (format === 'raw') bytes = dataOf(data, 'a raw key').slice();
    else if (format === 'jwk') bytes = bytesFromJwk(data, hash, extractable, allowed);
    else throw cryptoError('NotSupportedError', 'an HMAC key is imported as raw or jwk');
    if (bytes.length === 0) throw cryptoError('DataError', 'the key is empty');
    return new CryptoKey(KEY, cutTo(bytes, algorithm.length), hash, extractable, allowed);
  },
  async exportKey(format, key) {
    const { bytes, hash, extractable, usages } = secretOf(key);
    if (!['raw', 'jwk'].includes(format)) throw cryptoError('NotSupportedError', 'an HMAC key is exported as raw or jwk');
    if (!extractable) throw cryptoError('InvalidAccessError', 'the key is not extractable');
    if (format === 'raw') return bytes.slice().buffer;
    return { kty: 'oct', k: toBase64Url(bytes), alg: JWK_NAMES[hash], key_ops: [...usages], ext: true };
  },
  async generateKey(algorithm, extractable, usages) {
    hmacOf(algorithm);
    const [hash, allowed] = [digestName(algorithm.hash), hmacUsages(usages)];
    const bits = algorithm.length === undefined ? BLOCKS[hash] * 8 : Number(algorithm.length);
    if (!Number.isInteger(bits) || bits <= 0 || bits % 8 !== 0 || bits > 65536) {
      throw cryptoError('OperationError', 'the length must be whole bytes, at most 65536 bits');
    }
    return new CryptoKey(KEY, new Uint8Array(native.random(bits / 8)), hash, extractable, allowed);
  },
  async sign(algorithm, key, data) {
    const { bytes, hash } = usable(algorithm, key, 'sign');
    return native.hmac(hash, bytes, dataOf(data, 'the data'));
  },
  async verify(algorithm, key, signature, data) {
    const { bytes, hash } = usable(algorithm, key, 'verify');
    return native.verifyHmac(hash, bytes, dataOf(signature, 'the signature'), dataOf(data, 'the data'));
  },
};

const crypto = {
  getRandomValues(view) {
    if (!INTEGER_VIEWS.some((kind) => view instanceof kind)) throw new TypeError('getRandomValues takes an integer view');
    if (view.byteLength > 65536) throw new DOMException('at most 65536 bytes at once', 'QuotaExceededError');
    bytesOf(view).set(new Uint8Array(native.random(view.byteLength)));
    return view;
  },
  randomUUID() {
    const bytes = new Uint8Array(native.random(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  },
  subtle,
};
