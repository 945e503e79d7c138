const takeArguments = (given, needed, method) => {
  if (given < needed) throw new TypeError(`${method} takes ${needed === 1 ? 'an argument' : `${needed} arguments`}`);
};

class URLSearchParams {
  #pairs = [];
  #changed = null;
  constructor(init = '') {
    if (typeof init === 'object' && init !== null) {
      if (typeof init[Symbol.iterator] === 'function') {
        for (const pair of init) {
          const both = [...pair];
          if (both.length !== 2) throw new TypeError('each pair must be a name and a value');
          this.#pairs.push([text(both[0]), text(both[1])]);
        }
      } else {
        for (const name of Object.keys(init)) this.#pairs.push([text(name), text(init[name])]);
      }
    } else {
      const query = text(init);
      this.#pairs = parseQuery(query.startsWith('?') ? query.slice(1) : query);
    }
  }
  static bind(params, query, changed) {
    params.#pairs = parseQuery(query);
    params.#changed = changed;
  }
  static format(params) { return native.formatQuery(params.#pairs.flat()); }
  static pairAt(params, at) { return params.#pairs[at]; }
  #touch() { this.#changed?.(); }
  get size() { return this.#pairs.length; }
  append(name, value) {
    takeArguments(arguments.length, 2, 'append');
    this.#pairs.push([text(name), text(value)]);
    this.#touch();
  }
  delete(name, value = undefined) {
    takeArguments(arguments.length, 1, 'delete');
    const [key, entry] = [text(name), value === undefined ? undefined : text(value)];
    this.#pairs = this.#pairs.filter((pair) => pair[0] !== key || (entry !== undefined && pair[1] !== entry));
    this.#touch();
  }
  get(name) {
    takeArguments(arguments.length, 1, 'get');
    const key = text(name);
    return this.#pairs.find((pair) => pair[0] === key)?.[1] ?? null;
  }
  getAll(name) {
    takeArguments(arguments.length, 1, 'getAll');
    const key = text(name);
    return this.#pairs.filter((pair) => pair[0] === key).map((pair) => pair[1]);
  }
  has(name, value = undefined) {
    takeArguments(arguments.length, 1, 'has');
    const [key, entry] = [text(name), value === undefined ? undefined : text(value)];
    return this.#pairs.some((pair) => pair[0] === key && (entry === undefined || pair[1] === entry));
  }
  set(name, value) {
    takeArguments(arguments.length, 2, 'set');
    const [key, entry] = [text(name), text(value)];
    const at = this.#pairs.findIndex((pair) => pair[0] === key);
    if (at < 0) {
      this.#pairs.push([key, entry]);
    } else {
      this.#pairs = this.#pairs.filter((pair, index) => index <= at || pair[0] !== key);
      this.#pairs[at] = [key, entry];
    }
    this.#touch();
  }
  sort() {
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#touch();
  }
  forEach(callback, self = undefined) {
    takeArguments(arguments.length, 1, 'forEach');
    if (typeof callback !== 'function') throw new TypeError('forEach takes a function');
    for (let at = 0; at < this.#pairs.length; at++) callback.call(self, this.#pairs[at][1], this.#pairs[at][0], this);
  }
  entries() { this.#pairs; return new ParamsIterator(this, ([name, value]) => [name, value]); }
  keys() { this.#pairs; return new ParamsIterator(this, ([name]) => name); }
  values() { this.#pairs; return new ParamsIterator(this, ([, value]) => value); }
  toString() { return formatParams(this); }
}
Object.defineProperty(URLSearchParams.prototype, Symbol.iterator, {
  value: URLSearchParams.prototype.entries, writable: true, configurable: true,
});
const { bind: bindParams, format: formatParams, pairAt } = URLSearchParams;
for (const name of ['bind', 'format', 'pairAt']) delete URLSearchParams[name];

/** An iterator over the pairs as they are at each step. */
class ParamsIterator {
  #params;
  #give;
  #at = 0;
  constructor(params, give) {
    this.#params = params;
    this.#give = give;
  }
  next() {
    const pair = this.#params && pairAt(this.#params, this.#at++);
    if (pair) return { value: this.#give(pair), done: false };
    this.#params = null;
    return { value: undefined, done: true };
  }
}
delete ParamsIterator.prototype.constructor;
Object.setPrototypeOf(ParamsIterator.prototype, Object.getPrototypeOf(Object.getPrototypeOf([].values())));
Object.defineProperty(ParamsIterator.prototype, Symbol.toStringTag, { value: 'URLSearchParams Iterator', configurable: true });

const parseQuery = (query) => {
  const flat = native.parseQuery(query);
  const pairs = [];
  for (let at = 0; at < flat.length; at += 2) pairs.push([flat[at], flat[at + 1]]);
  return pairs;
};

const URL_PARTS = ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'];

class URL {
  #parts;
  #params = null;
  #isQueryChanged = false;
  constructor(input, base) {
    const parts = native.parseUrl(text(input), base === undefined ? null : text(base));
    if (parts == null) throw new TypeError('Invalid URL');
    this.#parts = parts;
  }
  static canParse(input, base) { return native.parseUrl(text(input), base === undefined ? null : text(base)) != null; }
  static parse(input, base) { return URL.canParse(input, base) ? new URL(input, base) : null; }
  static part(url, at) { return url.#current()[at]; }
  static change(url, at, value) {
    const parts = native.changeUrl(url.#current()[0], at, text(value));
    if (parts == null) {
      if (at === 0) throw new TypeError('Invalid URL');
      return;
    }
    url.#parts = parts;
    if ((at === 0 || at === 8) && url.#params) url.#bindParams();
  }
  #bindParams() {
    bindParams(this.#params, this.#parts[8].slice(1), () => { this.#isQueryChanged = true; });
  }
  /** The parts, with the query of the parameters: it is written when somebody asks, and not with each change of one. */
  #current() {
    if (this.#isQueryChanged) {
      this.#isQueryChanged = false;
      this.#parts = native.changeUrl(this.#parts[0], 8, formatParams(this.#params)) ?? this.#parts;
    }
    return this.#parts;
  }
  get origin() { return this.#parts[10]; }
  get searchParams() {
    if (!this.#params) {
      this.#params = new URLSearchParams();
      this.#bindParams();
    }
    return this.#params;
  }
  toString() { return this.#current()[0]; }
  toJSON() { return this.#current()[0]; }
}
const { part: urlPart, change: changeUrl } = URL;
delete URL.part;
delete URL.change;
URL_PARTS.forEach((name, at) => Object.defineProperty(URL.prototype, name, {
  get() { return urlPart(this, at); },
  set(value) { changeUrl(this, at, value); },
  enumerable: true, configurable: true,
}));
