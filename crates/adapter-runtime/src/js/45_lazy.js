// Names that most code never touches. Each group of them is a module of its own, which is loaded when code first touches
// one: until then they are accessors of globalThis, which app code may replace.

/** What bodies need of streams; null until a name of theirs is touched, before which there is no stream. */
let bodies = null;
/** Loads them; gives the names. */
let loadStreams;
const isStream = (value) => bodies !== null && bodies.is(value);

/** What bodies need of blobs and forms; null until one can exist. */
let files = null;
/** Loads them; gives what bodies need. */
let loadFiles;

/** What other parts need of keys; null until one can exist. */
let keys = null;
/** The functions behind `crypto.subtle`, which are there once keys are loaded. */
let subtle;
let loadKeys;

const STREAM_NAMES = [
  'ReadableStream', 'ReadableStreamDefaultReader', 'ReadableStreamDefaultController', 'WritableStream',
  'WritableStreamDefaultWriter', 'WritableStreamDefaultController', 'TransformStream', 'TransformStreamDefaultController',
  'CountQueuingStrategy', 'ByteLengthQueuingStrategy', 'TextEncoderStream', 'TextDecoderStream',
];
const COMPRESSION_NAMES = ['CompressionStream', 'DecompressionStream'];
const FILE_NAMES = ['Blob', 'File', 'FormData'];
const KEY_NAMES = ['CryptoKey'];
const INTL_NAMES = ['Intl'];

/** Puts the names into place. */
const promiseModules = () => {
  const { apply, defineProperty, getOwnPropertyDescriptor, setPrototypeOf } = Reflect;
  const { decode } = TextDecoder.prototype;
  // As they are now: app code may put others into their places before a module is loaded.
  const lent = {
    native, Promise, TypeError, RangeError, then: Promise.prototype.then, apply, max: Math.max, create: Object.create,
    slice: String.prototype.slice, asyncIterator: Symbol.asyncIterator, syncIterator: Symbol.iterator,
    toStringTag: Symbol.toStringTag, defineProperty, setPrototypeOf, structuredClone, utf8, TextDecoder, AbortController,
    asyncIteratorPrototype: Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype),
    decode: (decoder, chunk, options) => apply(decode, decoder, [chunk, options]),
    abort: abortSignalOf,
    isSignal,
    /** Does something with the reason when a signal aborts, or at once. */
    onceAborted: (signal, act) => {
      if (isAborted(signal)) act(reasonOf(signal));
      else whenAborted(signal, () => act(reasonOf(signal)));
    },
    onAbort: (signal, callback) => apply(addEventListener, signal, ['abort', callback]),
    offAbort: (signal, callback) => apply(removeEventListener, signal, ['abort', callback]),
    Uint8Array, DOMException, bytesOf, text, utf8Text, now: Date.now, parse: JSON.parse, stringify: JSON.stringify,
    NumberOf: Number, getTime: Date.prototype.getTime, construct: Reflect.construct, keepWhile, secretName, secretKey, readerOf: (bytes) => {
      loadStreams();
      return bodies.of(bytes);
    },
  };
  const place = (target, name, value) => defineProperty(target, name, {
    __proto__: null, value, writable: true, configurable: true, enumerable: false,
  });
  /** Promises the names of one module; gives the function that loads it, which gives its names. */
  const promise = (module, promised, take) => {
    const getters = { __proto__: null };
    let names = null;
    const load = () => {
      if (names !== null) return names;
      const made = native.load(module)(lent);
      names = made.names;
      take(made);
      for (let at = 0; at < promised.length; at++) {
        const name = promised[at];
        // What app code has put there or taken away stays so.
        if (getOwnPropertyDescriptor(globalThis, name)?.get === getters[name]) place(globalThis, name, names[name]);
      }
      return names;
    };
    for (const name of promised) {
      getters[name] = () => load()[name];
      defineProperty(globalThis, name, {
        __proto__: null, get: getters[name], set(value) { place(this ?? globalThis, name, value); },
        configurable: true, enumerable: false,
      });
    }
    return load;
  };
  let parts;
  loadStreams = promise('streams', STREAM_NAMES, (made) => { ({ bodies, parts } = made); });
  lent.ofStreams = () => {
    loadStreams();
    return parts;
  };
  promise('compression', COMPRESSION_NAMES, () => {});
  loadKeys = promise('crypto', KEY_NAMES, (made) => { ({ keys, subtle } = made); });
  const loadFileNames = promise('files', FILE_NAMES, (made) => { ({ files } = made); });
  loadFiles = () => {
    loadFileNames();
    return files;
  };
  let localize, collationOf, checkCase;
  const loadIntl = promise('intl', INTL_NAMES, (made) => { ({ localize, collationOf, checkCase } = made); });
  let numbers = null;
  lent.ofNumbers = () => {
    loadIntl();
    numbers ??= native.load('numbers')(lent);
    return numbers;
  };
  const inDigits = (valueOf) => ({
    toLocaleString(locales = undefined, options = undefined) {
      const value = apply(valueOf, this, []);
      return lent.ofNumbers().localizeNumber(value, locales, options);
    },
  });
  define(Number.prototype, inDigits(Number.prototype.valueOf));
  define(BigInt.prototype, inDigits(BigInt.prototype.valueOf));
  const localized = (date, locales, options, needs, defaults) => {
    loadIntl();
    return localize(date, locales, options, needs, defaults);
  };
  const { toString: dateText, toTimeString: timeText } = Date.prototype;
  // The engine leaves the name of the zone out. The only zone is UTC.
  const named = (text) => (text === 'Invalid Date' ? text : `${text} (Coordinated Universal Time)`);
  define(Date.prototype, {
    toString() { return named(apply(dateText, this, [])); },
    toTimeString() { return named(apply(timeText, this, [])); },
    toLocaleString(locales = undefined, options = undefined) { return localized(this, locales, options, 'any', 'all'); },
    toLocaleDateString(locales = undefined, options = undefined) { return localized(this, locales, options, 'date', 'date'); },
    toLocaleTimeString(locales = undefined, options = undefined) { return localized(this, locales, options, 'time', 'time'); },
  });
  const { localeCompare, toLocaleLowerCase, toLocaleUpperCase } = String.prototype;
  // Text needs the module only where code names a language or gives options.
  const inOtherCase = (name, change) => ({
    [name](locales = undefined) {
      if (locales !== undefined) {
        loadIntl();
        checkCase(name, locales);
      }
      return apply(change, this, []);
    },
  });
  define(String.prototype, {
    localeCompare(that, locales = undefined, options = undefined) {
      const order = apply(localeCompare, this, [that]);
      if (locales === undefined && options === undefined) return order;
      loadIntl();
      const collation = collationOf(locales, options);
      return collation === null || order === 0 ? order : collation(`${this}`, `${that}`);
    },
    ...inOtherCase('toLocaleLowerCase', toLocaleLowerCase),
    ...inOtherCase('toLocaleUpperCase', toLocaleUpperCase),
  });
};
