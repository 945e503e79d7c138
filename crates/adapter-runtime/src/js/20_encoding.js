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

/** Has what Rust keeps for an object freed when the object is gone. */
const { FinalizationRegistry } = globalThis;
const { register } = FinalizationRegistry.prototype;
const { apply: applyTo } = Reflect;
let registry = null;
const keepWhile = (holder, number) => {
  registry ??= new FinalizationRegistry((gone) => native.release(gone));
  applyTo(register, registry, [holder, number]);
};

class TextDecoder {
  #encoding = 'utf-8';
  #fatal;
  #keepMark;
  /** What holds the decoder that Rust keeps between two pieces of a stream. */
  #open = null;
  constructor(label = 'utf-8', options = {}) {
    if (label !== 'utf-8') {
      const name = native.encodingName(text(label));
      if (name == null) throw new RangeError(`there is no encoding called ${text(label).slice(0, 100)}`);
      this.#encoding = name;
    }
    this.#fatal = Boolean(options?.fatal);
    this.#keepMark = Boolean(options?.ignoreBOM);
  }
  get encoding() { return this.#encoding; }
  get fatal() { return this.#fatal; }
  get ignoreBOM() { return this.#keepMark; }
  decode(input, options = {}) {
    const bytes = input === undefined ? new Uint8Array(0) : bytesOf(input);
    if (bytes === null) throw new TypeError('TextDecoder.decode takes a buffer or a view');
    const out = Boolean(options?.stream) || this.#open !== null ? this.#decodePart(bytes, !options?.stream)
      : this.#encoding === 'utf-8' ? native.decode(bytes, this.#fatal, this.#keepMark)
        : native.decodeAs(this.#encoding, bytes, this.#fatal, this.#keepMark);
    if (out == null) throw new TypeError(`the bytes are not valid ${this.#encoding}`);
    return out;
  }
  #decodePart(bytes, isLast) {
    if (this.#open === null) {
      const number = native.openDecoder(this.#encoding, this.#fatal, this.#keepMark);
      if (number == null) throw new RangeError('too many streams are being decoded');
      this.#open = { number };
      keepWhile(this.#open, number);
    }
    const out = native.decodePart(this.#open.number, bytes, isLast);
    if (isLast || out == null) this.#open = null;
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
    if (keys?.is(from)) return keep(keys.copy(from));
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
