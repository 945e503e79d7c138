// The Streams standard (streams.spec.whatwg.org) without byte streams. The sections of this folder are joined into one
// module, which is loaded when app code first touches a name of it. App code may have changed the globals by then, so
// everything of the language that is called here was taken before: these names hide the global ones.

let Promise, TypeError, RangeError, then, apply, max, create, slice, asyncIterator, syncIterator;
let AbortController, abort, onAbort, offAbort, onceAborted, isSignal, structuredClone, utf8, TextDecoder, decode;

const object = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

const deferred = () => {
  const it = { promise: undefined, resolve: undefined, reject: undefined };
  it.promise = new Promise((resolve, reject) => {
    it.resolve = resolve;
    it.reject = reject;
  });
  return it;
};
const resolved = (value) => new Promise((resolve) => resolve(value));
const rejected = (reason) => new Promise((_, reject) => reject(reason));
const after = (promise, ok, failed) => apply(then, promise, [ok, failed]);
/** What the call gives, as a promise; what it throws rejects it. */
const promised = (call) => {
  try {
    return resolved(call());
  } catch (error) {
    return rejected(error);
  }
};
const nothing = () => undefined;
/** Rejects a promise that counts as handled, as the standard has it ([[PromiseIsHandled]]): most code never looks at it. */
const rejectHandled = (it, error) => {
  after(it.promise, undefined, nothing);
  it.reject(error);
};

/** A queue of which nothing can be patched. */
const fifo = () => ({ head: null, tail: null, length: 0 });
const put = (queue, value) => {
  const node = { value, next: null };
  if (queue.tail) queue.tail.next = node;
  else queue.head = node;
  queue.tail = node;
  queue.length++;
};
const take = (queue) => {
  const { value, next } = queue.head;
  queue.head = next;
  if (!next) queue.tail = null;
  queue.length--;
  return value;
};

/** The queue-with-sizes of a controller (§8.1). */
const putSized = (controller, value, size) => {
  if (!(size >= 0) || size === 1 / 0) throw new RangeError('the size of a chunk must be a finite number that is not negative');
  put(controller.queue, { value, size });
  controller.total += size;
};
const takeSized = (controller) => {
  const { value, size } = take(controller.queue);
  controller.total = max(0, controller.total - size);
  return value;
};
const resetQueue = (controller) => {
  controller.queue = fifo();
  controller.total = 0;
};

/** An argument that is a dictionary: nothing, or an object. */
const dictionary = (value, what) => {
  if (value === undefined || value === null) return create(null);
  if (!object(value)) throw new TypeError(`${what} must be an object`);
  return value;
};
/** A member that is a callback, bound to its dictionary. */
const method = (holder, name, otherwise) => {
  const found = holder[name];
  if (found === undefined) return otherwise;
  if (typeof found !== 'function') throw new TypeError(`${name} must be a function`);
  return (...args) => apply(found, holder, args);
};
const strategyOf = (value) => {
  const strategy = dictionary(value, 'the strategy');
  const mark = strategy.highWaterMark;
  const size = strategy.size;
  if (size !== undefined && typeof size !== 'function') throw new TypeError('size must be a function');
  return { mark: mark === undefined ? undefined : +mark, size };
};
const markOf = ({ mark }, otherwise) => {
  if (mark === undefined) return otherwise;
  if (!(mark >= 0)) throw new RangeError('highWaterMark must be a number that is not negative');
  return mark;
};
const sizeOf = ({ size }) => (size === undefined ? () => 1 : (chunk) => +apply(size, undefined, [chunk]));

const countSize = { size: () => 1 }.size;
const byteSize = { size: (chunk) => chunk.byteLength }.size;
const markIn = (init) => {
  if (!object(init) || init.highWaterMark === undefined) throw new TypeError('highWaterMark is needed');
  return +init.highWaterMark;
};

class CountQueuingStrategy {
  #mark;
  constructor(init) { this.#mark = markIn(init); }
  get highWaterMark() { return this.#mark; }
  get size() { this.#mark; return countSize; }
}

class ByteLengthQueuingStrategy {
  #mark;
  constructor(init) { this.#mark = markIn(init); }
  get highWaterMark() { return this.#mark; }
  get size() { this.#mark; return byteSize; }
}
