// Blobs and files of the File API (w3c.github.io/FileAPI), and forms of the XHR and Fetch standards with their encoding as
// multipart/form-data (RFC 7578). The sections of this folder are joined into one module, which is loaded when app code
// first touches a name of it. What it calls of the language was taken before app code ran, as far as app code could use a
// replacement to break more than its own objects.

let native, TypeError, Uint8Array, bytesOf, text, utf8, utf8Text, now, readerOf, defineProperty;
let toStringTag, syncIterator;

const KEY = {};
const object = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';
const dictionary = (value, what) => {
  if (value === undefined || value === null) return {};
  if (!object(value)) throw new TypeError(`${what} must be an object`);
  return value;
};
const joined = (chunks, length) => {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (let index = 0; index < chunks.length; index++) {
    bytes.set(chunks[index], at);
    at += chunks[index].length;
  }
  return bytes;
};
/** Line endings as they are written on the system the code runs on (§4, `endings: 'native'`). */
const withNativeEndings = (value) => value.replace(/\r\n?/g, '\n');
/** A type is ASCII without control characters, in lower case; any other is none (§3.1). */
const typeOf = (value) => {
  const type = `${value}`;
  return /^[\x20-\x7e]*$/.test(type) ? type.toLowerCase() : '';
};
/** A position in `size` bytes, as slices count: from the end if it is negative. */
const positionIn = (size, value, otherwise) => {
  if (value === undefined) return otherwise;
  const at = Math.trunc(+value) || 0;
  return at < 0 ? Math.max(size + at, 0) : Math.min(at, size);
};

class Blob {
  #bytes;
  #type;
  constructor(parts = undefined, options = undefined, key = undefined) {
    if (key === KEY) {
      this.#bytes = parts;
      this.#type = options;
      return;
    }
    if (parts !== undefined && (!object(parts) || typeof parts[syncIterator] !== 'function')) {
      throw new TypeError('the parts of a blob must be a sequence');
    }
    const { type = '', endings = 'transparent' } = dictionary(options, 'the options of a blob');
    if (`${endings}` !== 'transparent' && `${endings}` !== 'native') throw new TypeError('endings must be transparent or native');
    const chunks = [];
    let length = 0;
    for (const part of parts ?? []) {
      const chunk = isBlob(part) ? part.#bytes
        : bytesOf(part) ?? utf8(`${endings}` === 'native' ? withNativeEndings(`${part}`) : part);
      chunks.push(chunk);
      length += chunk.length;
    }
    this.#bytes = joined(chunks, length);
    this.#type = typeOf(type);
  }
  static is(value) { return object(value) && #bytes in value; }
  /** The bytes themselves: nobody may write to them. */
  static bytes(blob) { return blob.#bytes; }
  get size() { return this.#bytes.length; }
  get type() { return this.#type; }
  slice(start = undefined, end = undefined, type = '') {
    const size = this.#bytes.length;
    const from = positionIn(size, start, 0);
    return new Blob(this.#bytes.subarray(from, Math.max(positionIn(size, end, size), from)), typeOf(type), KEY);
  }
  async arrayBuffer() { return this.#bytes.slice().buffer; }
  async bytes() { return this.#bytes.slice(); }
  async text() { return utf8Text(this.#bytes); }
  stream() { return readerOf(this.#bytes.slice()); }
}
const { is: isBlob, bytes: bytesIn } = Blob;
delete Blob.is;
delete Blob.bytes;

class File extends Blob {
  #name;
  #lastModified;
  constructor(parts, name, options = undefined, key = undefined) {
    if (key === KEY) {
      super(bytesIn(parts), parts.type, KEY);
      this.#name = name;
      this.#lastModified = options ?? now();
      return;
    }
    if (arguments.length < 2) throw new TypeError('a file needs parts and a name');
    if (parts === undefined) throw new TypeError('the parts of a file must be a sequence');
    super(parts, options);
    this.#name = text(name);
    const { lastModified } = dictionary(options, 'the options of a file');
    this.#lastModified = lastModified === undefined ? now() : Math.trunc(+lastModified) || 0;
  }
  static is(value) { return object(value) && #name in value; }
  get name() { return this.#name; }
  get lastModified() { return this.#lastModified; }
  get webkitRelativePath() { this.#name; return ''; }
}
const { is: isFile } = File;
delete File.is;
