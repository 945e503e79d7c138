/** The value of an entry: text, or a file, which a blob becomes (XHR §5.1, create an entry). */
const entryValue = (value, given, filename) => {
  if (!isBlob(value)) {
    if (given) throw new TypeError('only a blob has a file name');
    return text(value);
  }
  if (isFile(value) && !given) return value;
  return new File(value, given ? text(filename) : 'blob', isFile(value) ? value.lastModified : undefined, KEY);
};

class FormData {
  #entries = [];
  constructor(form = undefined) {
    if (form !== undefined) throw new TypeError('there are no form elements to take entries from');
  }
  static is(value) { return object(value) && #entries in value; }
  static entries(form) { return form.#entries; }
  append(name, value, filename = undefined) {
    if (arguments.length < 2) throw new TypeError('an entry needs a name and a value');
    this.#entries.push([text(name), entryValue(value, arguments.length > 2, filename)]);
  }
  delete(name) {
    const key = text(name);
    this.#entries = this.#entries.filter((entry) => entry[0] !== key);
  }
  get(name) {
    const key = text(name);
    return this.#entries.find((entry) => entry[0] === key)?.[1] ?? null;
  }
  getAll(name) {
    const key = text(name);
    return this.#entries.filter((entry) => entry[0] === key).map((entry) => entry[1]);
  }
  has(name) {
    const key = text(name);
    return this.#entries.some((entry) => entry[0] === key);
  }
  set(name, value, filename = undefined) {
    if (arguments.length < 2) throw new TypeError('an entry needs a name and a value');
    const entry = [text(name), entryValue(value, arguments.length > 2, filename)];
    const first = this.#entries.findIndex((known) => known[0] === entry[0]);
    if (first < 0) {
      this.#entries.push(entry);
      return;
    }
    this.#entries = this.#entries.filter((known, at) => at <= first || known[0] !== entry[0]);
    this.#entries[first] = entry;
  }
  forEach(callback, self = undefined) {
    if (typeof callback !== 'function') throw new TypeError('forEach takes a function');
    for (const [name, value] of this.entries()) callback.call(self, value, name, this);
  }
  *entries() {
    // Entries that are added meanwhile are visited too.
    for (let at = 0; at < this.#entries.length; at++) yield [this.#entries[at][0], this.#entries[at][1]];
  }
  *keys() { for (const [name] of this.entries()) yield name; }
  *values() { for (const [, value] of this.entries()) yield value; }
}
const { is: isForm, entries: entriesOf } = FormData;
delete FormData.is;
delete FormData.entries;
