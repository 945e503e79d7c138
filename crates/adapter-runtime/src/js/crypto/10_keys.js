/** A key (§13). What code sees of it is a copy: it may change its objects, and not the key. */
class CryptoKey {
  /** What Rust knows the key by; shared by the copies of a key. */
  #handle;
  #type;
  #extractable;
  #algorithm;
  #usages;
  constructor(key, handle, shown) {
    if (key !== KEY) throw new TypeError('Illegal constructor');
    this.#handle = handle;
    const { type, extractable, algorithm, usages } = parse(shown);
    if (algorithm.publicExponent !== undefined) algorithm.publicExponent = new Uint8Array(algorithm.publicExponent);
    this.#type = type;
    this.#extractable = extractable;
    this.#algorithm = algorithm;
    this.#usages = usages;
  }
  static number(key) {
    if (!object(key) || !(#handle in key)) throw new TypeError('a CryptoKey is needed');
    return key.#handle.number;
  }
  static is(value) { return object(value) && #handle in value; }
  static copy(key) { return new CryptoKey(KEY, key.#handle, native.describeKey(key.#handle.number)); }
  get type() { return this.#type; }
  get extractable() { return this.#extractable; }
  get algorithm() { return this.#algorithm; }
  get usages() { return this.#usages; }
}
const { number: numberOf, is: isKey, copy: copyKey } = CryptoKey;
delete CryptoKey.number;
delete CryptoKey.is;
delete CryptoKey.copy;

/** A key that Rust keeps under a number. */
const wrap = (number) => {
  const handle = { number };
  keepWhile(handle, number);
  return new CryptoKey(KEY, handle, checked(native.describeKey(number)));
};

const JWK_MEMBERS = [
  'kty', 'use', 'key_ops', 'alg', 'ext', 'crv', 'x', 'y', 'd', 'n', 'e', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k',
];
/** The members of a JSON Web Key (§22), as JSON in bytes. */
const jwkBytes = (jwk, utf8) => {
  if (!object(jwk) || bytesOf(jwk) !== null) throw new TypeError('a JSON Web Key must be an object');
  const out = { __proto__: null };
  for (let at = 0; at < JWK_MEMBERS.length; at++) {
    const member = JWK_MEMBERS[at];
    const value = jwk[member];
    if (value === undefined) continue;
    if (member === 'ext') out[member] = Boolean(value);
    else if (member === 'oth') out[member] = true;
    else if (member !== 'key_ops') out[member] = `${value}`;
    else if (object(value) && typeof value[Symbol.iterator] === 'function') out[member] = [...value].map(String);
    else out[member] = `${value}`;
  }
  return utf8(stringify(out));
};
