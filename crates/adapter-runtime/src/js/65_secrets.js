/** A secret of the app: code has its text, which stands for it in headers, and can make a key of it. */
class Secret {
  #name;
  constructor(key, name) {
    if (key !== KEY) throw new TypeError('Illegal constructor');
    this.#name = name;
    Object.freeze(this);
  }
  static nameOf(value) { return typeof value === 'object' && value !== null && #name in value ? value.#name : null; }
  toString() { return `[secret ${this.#name}]`; }
  toJSON() { return `[secret ${this.#name}]`; }
}
const { nameOf: secretName } = Secret;
delete Secret.nameOf;

/** The secrets by name, from pairs of a name and the text of one that code has in clear. */
const secretsOf = (pairs) => {
  const named = {};
  for (let at = 0; at < pairs.length; at += 2) named[pairs[at]] = pairs[at + 1] ?? new Secret(KEY, pairs[at]);
  return Object.freeze(named);
};

/** Asks the host for a secret; gives the number under which Rust has it until it is a key. */
const secretKey = (name, usages) => call(() => native.secretKey(name, usages), (number) => number);
