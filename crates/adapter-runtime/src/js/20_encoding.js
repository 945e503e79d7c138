class TextEncoder {
  get encoding() { return 'utf-8'; }
  encode(input = '') { return new Uint8Array(native.encode(text(input))); }
  encodeInto(input, target) {
    let read = 0;
    let written = 0;
    for (const character of text(input)) {
      const bytes = this.encode(character);
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      written += bytes.length;
      read += character.length;
    }
    return { read, written };
  }
}

class TextDecoder {
  #fatal;
  #keepMark;
  #rest = new Uint8Array(0);
  /** Whether a mark at the start can no longer come. */
  #begun = false;
  constructor(label = 'utf-8', options = {}) {
    if (!['utf-8', 'utf8', 'unicode-1-1-utf-8'].includes(`${label}`.trim().toLowerCase())) {
      throw new RangeError(`the encoding ${label} is not supported; only utf-8 is`);
    }
    this.#fatal = Boolean(options?.fatal);
    this.#keepMark = Boolean(options?.ignoreBOM);
  }
  get encoding() { return 'utf-8'; }
  get fatal() { return this.#fatal; }
  get ignoreBOM() { return this.#keepMark; }
  decode(input, options = {}) {
    let bytes = input === undefined ? new Uint8Array(0) : bytesOf(input);
    if (bytes === null) throw new TypeError('TextDecoder.decode takes a buffer or a view');
    if (this.#rest.length) {
      const joined = new Uint8Array(this.#rest.length + bytes.length);
      joined.set(this.#rest);
      joined.set(bytes, this.#rest.length);
      bytes = joined;
    }
    let end = bytes.length;
    if (options?.stream) {
      // Keep back a character whose bytes have not all come yet.
      let start = end;
      while (start > 0 && end - start < 3 && (bytes[start - 1] & 0xc0) === 0x80) start--;
      const lead = start > 0 ? bytes[start - 1] : 0;
      const need = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
      if (need > 1 && end - start + 1 < need) end = start - 1;
    }
    this.#rest = bytes.slice(end);
    const out = native.decode(bytes.subarray(0, end), this.#fatal, this.#keepMark || this.#begun);
    this.#begun = Boolean(options?.stream) && (this.#begun || end > 0);
    if (out == null) throw new TypeError('the bytes are not valid utf-8');
    return out;
  }
}

const utf8 = (value) => new Uint8Array(native.encode(text(value)));
const utf8Text = (bytes) => native.decode(bytes, false, false);

const atob = (input) => {
  const out = native.atob(text(input));
  if (out == null) throw new DOMException('the text is not valid base64', 'InvalidCharacterError');
  return out;
};
const btoa = (input) => {
  const out = native.btoa(text(input));
  if (out == null) throw new DOMException('the text holds characters above U+00FF', 'InvalidCharacterError');
  return out;
};

/** The kinds of error that keep their kind in a copy. */
const errorKinds = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError];

const structuredClone = (value) => {
  const seen = new Map();
  const refuse = (what) => { throw new DOMException(`${what} cannot be cloned`, 'DataCloneError'); };
  const copy = (from) => {
    if (typeof from === 'function' || typeof from === 'symbol') refuse(`a ${typeof from}`);
    if (typeof from !== 'object' || from === null) return from;
    if (seen.has(from)) return seen.get(from);
    const keep = (to) => { seen.set(from, to); return to; };
    if (from instanceof Date) return keep(new Date(from.getTime()));
    if (from instanceof RegExp) return keep(new RegExp(from.source, from.flags));
    if (from instanceof Boolean || from instanceof Number || from instanceof String) return keep(Object(from.valueOf()));
    if (from instanceof ArrayBuffer) return keep(from.slice(0));
    if (ArrayBuffer.isView(from)) {
      const buffer = copy(from.buffer);
      return keep(new from.constructor(buffer, from.byteOffset, from.length ?? from.byteLength));
    }
    if (from instanceof Map) {
      const to = keep(new Map());
      for (const [key, entry] of [...from]) to.set(copy(key), copy(entry));
      return to;
    }
    if (from instanceof Set) {
      const to = keep(new Set());
      for (const entry of [...from]) to.add(copy(entry));
      return to;
    }
    if (files?.isBlob(from)) return keep(files.copy(from));
    if (from instanceof DOMException) return keep(new DOMException(from.message, from.name));
    if (from instanceof Error) {
      const kind = errorKinds.find((kind) => kind.name === from.name) ?? Error;
      const to = keep(new kind(from.message));
      const has = (name) => Object.prototype.hasOwnProperty.call(from, name);
      if (!has('message')) delete to.message;
      define(to, { stack: `${from.stack}` });
      if (has('cause')) define(to, { cause: copy(from.cause) });
      return to;
    }
    if (from instanceof Promise || from instanceof WeakMap || from instanceof WeakSet) refuse('this object');
    const to = keep(Array.isArray(from) ? new Array(from.length) : {});
    for (const key of Object.keys(from)) to[key] = copy(from[key]);
    return to;
  };
  return copy(value);
};
