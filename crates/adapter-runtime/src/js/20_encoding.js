/** Getter of a class, which tells its objects from all others. */
const accessor = (kind, name) => Object.getOwnPropertyDescriptor(kind.prototype, name).get;
const TypedArray = Object.getPrototypeOf(Uint8Array);
const arrayTag = accessor(TypedArray, Symbol.toStringTag);
/** Name of the class of a typed array, whatever is derived from it; undefined for anything else. */
const arrayKind = (value) => applyTo(arrayTag, value, []);

class TextEncoder {
  get encoding() { return 'utf-8'; }
  encode(input = '') { return new Uint8Array(native.encode(text(input))); }
  encodeInto(input, target) {
    if (arguments.length < 2) throw new TypeError('encodeInto takes text and a Uint8Array');
    const whole = `${input}`;
    if (arrayKind(target) !== 'Uint8Array') throw new TypeError('encodeInto writes to a Uint8Array');
    // Each unit of the text takes a byte or more, so no more of them can fit.
    const room = target.length;
    const piece = whole.slice(0, room);
    if (piece === '') return { read: 0, written: 0 };
    const bytes = utf8(piece);
    if (bytes.length <= room) {
      target.set(bytes);
      return { read: piece.length, written: bytes.length };
    }
    let written = room;
    while (written > 0 && (bytes[written] & 0xc0) === 0x80) written--;
    const fitting = bytes.subarray(0, written);
    target.set(fitting);
    return { read: native.decode(fitting, false, true).length, written };
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

const ARRAY_KINDS = { __proto__: null };
for (const name of [
  'Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'BigInt64Array',
  'BigUint64Array', 'Float16Array', 'Float32Array', 'Float64Array',
]) ARRAY_KINDS[name] = globalThis[name];

const { at: arrayAt } = TypedArray.prototype;
const { transferToFixedLength: detachBuffer } = ArrayBuffer.prototype;
const viewLength = accessor(DataView, 'byteLength');
const bufferLength = accessor(ArrayBuffer, 'byteLength');
const mapSize = accessor(Map, 'size');
const patternOf = accessor(RegExp, 'source');
const setSize = accessor(Set, 'size');
const { getTime } = Date.prototype;
const boxes = [Boolean, Number, String, BigInt].map((kind) => [kind, kind.prototype.valueOf]);

/** Whether an object is of a class, as a member that needs its internal slots tells. */
const accepts = (member, object) => {
  try {
    applyTo(member, object, []);
    return true;
  } catch {
    return false;
  }
};
const isA = (object, kind, member) => object instanceof kind && accepts(member, object);
const fitsBuffer = (view) => accepts(arrayKind(view) === undefined ? viewLength : arrayAt, view);

/** Prototypes of what has internal slots and no copy. */
const uncloneable = new Set([
  ...[Promise, WeakMap, WeakSet, WeakRef, FinalizationRegistry, Symbol].map((kind) => kind.prototype),
  Object.getPrototypeOf(function* () {}).prototype, Object.getPrototypeOf(async function* () {}).prototype,
  ...[[].values(), new Map().values(), new Set().values(), ''[Symbol.iterator](), /x/[Symbol.matchAll]('')].map(Object.getPrototypeOf),
]);
const isUncloneable = (object) => {
  for (let at = Object.getPrototypeOf(object); at !== null; at = Object.getPrototypeOf(at)) if (uncloneable.has(at)) return true;
  return isStream(object);
};

/** CreateDataProperty: no setter and no property of a prototype has a say. */
const createProperty = (to, key, value) => {
  if (key in to) {
    Object.defineProperty(to, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  } else {
    to[key] = value;
  }
};

/** A buffer of the same size and limit. */
const emptyLike = (buffer) =>
  (buffer.resizable ? new ArrayBuffer(buffer.byteLength, { maxByteLength: buffer.maxByteLength }) : new ArrayBuffer(buffer.byteLength));
const fillFrom = (to, from) => {
  new Uint8Array(to).set(new Uint8Array(from));
  return to;
};

/** Whether a view follows the length of its resizable buffer: only a change of that length tells. */
const followsLength = (view, buffer) => {
  const before = buffer.slice(0);
  buffer.resize(view.byteOffset);
  const follows = fitsBuffer(view);
  buffer.resize(before.byteLength);
  fillFrom(buffer, before);
  return follows;
};

const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';
const transfersIn = (options) => {
  if (options === undefined || options === null) return [];
  if (!isObject(options)) throw new TypeError('the options must be an object');
  const { transfer } = options;
  if (transfer === undefined) return [];
  if (!isObject(transfer) || typeof transfer[Symbol.iterator] !== 'function') throw new TypeError('transfer must be a sequence');
  const list = [...transfer];
  if (!list.every(isObject)) throw new TypeError('only objects can be transferred');
  return list;
};

const refuse = (what) => { throw new DOMException(what, 'DataCloneError'); };

/** Copies what is no array and no plain object, and refuses what has no copy; undefined for an object that has only properties. */
const copySpecial = (from, keep, copy) => {
  if (isA(from, Date, getTime)) return keep(new Date(applyTo(getTime, from, [])));
  if (isA(from, RegExp, patternOf)) return keep(new RegExp(from.source, from.flags));
  for (const [kind, valueOf] of boxes) if (isA(from, kind, valueOf)) return keep(Object(applyTo(valueOf, from, [])));
  if (isA(from, ArrayBuffer, bufferLength)) {
    if (from.detached) refuse('a detached buffer cannot be cloned');
    return keep(fillFrom(emptyLike(from), from));
  }
  if (ArrayBuffer.isView(from)) {
    if (!fitsBuffer(from)) refuse('a view that its buffer does not hold cannot be cloned');
    const { buffer, byteOffset, byteLength } = from;
    const kind = ARRAY_KINDS[arrayKind(from)] ?? DataView;
    const length = buffer.resizable && followsLength(from, buffer) ? undefined : byteLength / (kind.BYTES_PER_ELEMENT ?? 1);
    return keep(new kind(copy(buffer), byteOffset, length));
  }
  if (isA(from, Map, mapSize)) {
    const to = keep(new Map());
    for (const [key, entry] of [...from]) to.set(copy(key), copy(entry));
    return to;
  }
  if (isA(from, Set, setSize)) {
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
  if (isUncloneable(from)) refuse('this object cannot be cloned');
  return undefined;
};

const { structuredClone } = {
  structuredClone(value, options = undefined) {
    if (arguments.length === 0) throw new TypeError('structuredClone takes a value');
    const seen = new Map();
    const copy = (from) => {
      if (typeof from === 'function' || typeof from === 'symbol') refuse(`a ${typeof from} cannot be cloned`);
      if (typeof from !== 'object' || from === null) return from;
      if (seen.has(from)) return seen.get(from);
      const keep = (to) => { seen.set(from, to); return to; };
      const isArray = Array.isArray(from);
      const special = isArray || isPlain(from) ? undefined : copySpecial(from, keep, copy);
      if (special !== undefined) return special;
      const to = keep(isArray ? new Array(from.length) : {});
      for (const key of Object.keys(from)) {
        // A getter may have deleted it.
        if (Object.hasOwn(from, key)) createProperty(to, key, copy(from[key]));
      }
      return to;
    };
    const transfers = transfersIn(options);
    for (const from of transfers) {
      if (!isA(from, ArrayBuffer, bufferLength)) refuse('only an ArrayBuffer can be transferred');
      if (seen.has(from)) refuse('a buffer can be transferred once');
      // Views of it in the value are views of this one, which has the bytes in the end: if the copy fails, nothing is detached.
      seen.set(from, emptyLike(from));
    }
    const out = copy(value);
    for (const from of transfers) {
      if (from.detached) refuse('a detached buffer cannot be transferred');
      const to = seen.get(from);
      if (to.resizable) to.resize(from.byteLength);
      fillFrom(to, from);
      applyTo(detachBuffer, from, [0]);
    }
    return out;
  },
};
