class URLSearchParams {
  #pairs = [];
  #changed = null;
  constructor(init = '') {
    if (typeof init === 'object' && init !== null) {
      if (typeof init[Symbol.iterator] === 'function') {
        for (const pair of init) {
          const [name, value, ...more] = pair;
          if (value === undefined || more.length) throw new TypeError('each pair must be a name and a value');
          this.#pairs.push([text(name), text(value)]);
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
  #touch() { this.#changed?.(this.toString()); }
  get size() { return this.#pairs.length; }
  append(name, value) { this.#pairs.push([text(name), text(value)]); this.#touch(); }
  delete(name, value) {
    this.#pairs = this.#pairs.filter(([key, entry]) => key !== text(name) || (value !== undefined && entry !== text(value)));
    this.#touch();
  }
  get(name) { return this.#pairs.find(([key]) => key === text(name))?.[1] ?? null; }
  getAll(name) { return this.#pairs.filter(([key]) => key === text(name)).map(([, value]) => value); }
  has(name, value) {
    return this.#pairs.some(([key, entry]) => key === text(name) && (value === undefined || entry === text(value)));
  }
  set(name, value) {
    const at = this.#pairs.findIndex(([key]) => key === text(name));
    if (at < 0) return this.append(name, value);
    this.#pairs = this.#pairs.filter(([key], index) => index <= at || key !== text(name));
    this.#pairs[at] = [text(name), text(value)];
    this.#touch();
  }
  sort() {
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#touch();
  }
  forEach(callback, self) { for (const [name, value] of this) callback.call(self, value, name, this); }
  *entries() { for (const [name, value] of this.#pairs) yield [name, value]; }
  *keys() { for (const [name] of this.#pairs) yield name; }
  *values() { for (const [, value] of this.#pairs) yield value; }
  [Symbol.iterator]() { return this.entries(); }
  toString() { return native.formatQuery(this.#pairs.flat()); }
}
const { bind: bindParams } = URLSearchParams;
delete URLSearchParams.bind;

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
  constructor(input, base) {
    const parts = native.parseUrl(text(input), base === undefined ? null : text(base));
    if (parts == null) throw new TypeError('Invalid URL');
    this.#parts = parts;
  }
  static canParse(input, base) { return native.parseUrl(text(input), base === undefined ? null : text(base)) != null; }
  static parse(input, base) { return URL.canParse(input, base) ? new URL(input, base) : null; }
  static part(url, at) { return url.#parts[at]; }
  static change(url, at, value) {
    const parts = native.changeUrl(url.#parts[0], at, text(value));
    if (parts == null) {
      if (at === 0) throw new TypeError('Invalid URL');
      return;
    }
    url.#parts = parts;
    if ((at === 0 || at === 8) && url.#params) url.#bindParams();
  }
  #bindParams() {
    bindParams(this.#params, this.#parts[8].slice(1), (query) => {
      this.#parts = native.changeUrl(this.#parts[0], 8, query) ?? this.#parts;
    });
  }
  get origin() { return this.#parts[10]; }
  get searchParams() {
    if (!this.#params) {
      this.#params = new URLSearchParams();
      this.#bindParams();
    }
    return this.#params;
  }
  toString() { return this.#parts[0]; }
  toJSON() { return this.#parts[0]; }
}
const { part: urlPart, change: changeUrl } = URL;
delete URL.part;
delete URL.change;
URL_PARTS.forEach((name, at) => Object.defineProperty(URL.prototype, name, {
  get() { return urlPart(this, at); },
  set(value) { changeUrl(this, at, value); },
  enumerable: true, configurable: true,
}));
