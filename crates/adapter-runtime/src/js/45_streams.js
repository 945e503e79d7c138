/** What bodies need of streams; null until a name of theirs is touched, before which there is no stream. */
let bodies = null;
/** Loads them; gives the names. */
let loadStreams;
const isStream = (value) => bodies !== null && bodies.is(value);

const STREAM_NAMES = [
  'ReadableStream', 'ReadableStreamDefaultReader', 'ReadableStreamDefaultController', 'WritableStream',
  'WritableStreamDefaultWriter', 'WritableStreamDefaultController', 'TransformStream', 'TransformStreamDefaultController',
  'CountQueuingStrategy', 'ByteLengthQueuingStrategy', 'TextEncoderStream', 'TextDecoderStream',
];

/** Puts the names of streams into place, which load them when they are first touched. */
const promiseStreams = () => {
  const { apply, defineProperty, getOwnPropertyDescriptor, setPrototypeOf } = Reflect;
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  const { decode } = TextDecoder.prototype;
  // As they are now: app code may put others into their places before streams are loaded.
  const lent = {
    Promise, TypeError, RangeError, then: Promise.prototype.then, apply, max: Math.max, create: Object.create,
    slice: String.prototype.slice, asyncIterator: Symbol.asyncIterator, syncIterator: Symbol.iterator,
    toStringTag: Symbol.toStringTag, defineProperty, setPrototypeOf, structuredClone, utf8, TextDecoder, AbortController,
    asyncIteratorPrototype: Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype),
    decode: (decoder, chunk, options) => apply(decode, decoder, [chunk, options]),
    abort: abortSignalOf,
    isSignal: (value) => value instanceof AbortSignal,
    onAbort: (signal, callback) => apply(addEventListener, signal, ['abort', callback]),
    offAbort: (signal, callback) => apply(removeEventListener, signal, ['abort', callback]),
  };
  const place = (target, name, value) => defineProperty(target, name, {
    __proto__: null, value, writable: true, configurable: true, enumerable: false,
  });
  const getters = { __proto__: null };
  let names = null;
  loadStreams = () => {
    if (names !== null) return names;
    const made = native.streams()(lent);
    ({ names, bodies } = made);
    for (let at = 0; at < STREAM_NAMES.length; at++) {
      const name = STREAM_NAMES[at];
      // What app code has put there or taken away stays so.
      if (getOwnPropertyDescriptor(globalThis, name)?.get === getters[name]) place(globalThis, name, names[name]);
    }
    return names;
  };
  for (const name of STREAM_NAMES) {
    getters[name] = () => loadStreams()[name];
    defineProperty(globalThis, name, {
      __proto__: null, get: getters[name], set(value) { place(this ?? globalThis, name, value); },
      configurable: true, enumerable: false,
    });
  }
};
