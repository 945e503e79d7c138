class Event {
  #type;
  #cancelable;
  #prevented = false;
  target = null;
  constructor(type, init = {}) {
    this.#type = `${type}`;
    this.#cancelable = Boolean(init?.cancelable);
  }
  get type() { return this.#type; }
  get cancelable() { return this.#cancelable; }
  get defaultPrevented() { return this.#prevented; }
  preventDefault() { if (this.#cancelable) this.#prevented = true; }
}

class CustomEvent extends Event {
  #detail;
  constructor(type, init = {}) {
    super(type, init);
    this.#detail = init?.detail ?? null;
  }
  get detail() { return this.#detail; }
}

class EventTarget {
  #listeners = new Map();
  addEventListener(type, listener, options) {
    if (!listener) return;
    const list = this.#listeners.get(type) ?? [];
    if (list.some((known) => known.listener === listener)) return;
    list.push({ listener, once: typeof options === 'object' && Boolean(options?.once) });
    this.#listeners.set(type, list);
  }
  removeEventListener(type, listener) {
    const list = this.#listeners.get(type) ?? [];
    this.#listeners.set(type, list.filter((known) => known.listener !== listener));
  }
  dispatchEvent(event) {
    event.target = this;
    for (const { listener, once } of [...(this.#listeners.get(event.type) ?? [])]) {
      if (once) this.removeEventListener(event.type, listener);
      report(() => (typeof listener === 'function' ? listener.call(this, event) : listener.handleEvent(event)));
    }
    const handler = this[`on${event.type}`];
    if (typeof handler === 'function') report(() => handler.call(this, event));
    return !event.defaultPrevented;
  }
}

/** Runs a callback nobody awaits; what it throws goes to the log. */
const report = (callback) => {
  try {
    callback();
  } catch (error) {
    native.log(3, text(`Uncaught ${safely(() => inspect(error))}`));
  }
};

const KEY = Symbol('only the prelude constructs');

class AbortSignal extends EventTarget {
  #reason;
  #aborted = false;
  onabort = null;
  constructor(key) {
    super();
    if (key !== KEY) throw new TypeError('Illegal constructor');
  }
  get aborted() { return this.#aborted; }
  get reason() { return this.#reason; }
  throwIfAborted() { if (this.#aborted) throw this.#reason; }
  static trip(signal, reason) {
    if (signal.#aborted) return;
    signal.#aborted = true;
    signal.#reason = reason === undefined ? new DOMException('The operation was aborted.', 'AbortError') : reason;
    signal.dispatchEvent(new Event('abort'));
  }
  static abort(reason) {
    const signal = new AbortSignal(KEY);
    trip(signal, reason);
    return signal;
  }
  static timeout(delay) {
    const signal = new AbortSignal(KEY);
    setTimeout(() => trip(signal, new DOMException('The operation timed out.', 'TimeoutError')), delay);
    return signal;
  }
  static any(signals) {
    const any = new AbortSignal(KEY);
    for (const signal of signals) {
      if (signal.aborted) {
        trip(any, signal.reason);
        break;
      }
      signal.addEventListener('abort', () => trip(any, signal.reason), { once: true });
    }
    return any;
  }
}
const { trip } = AbortSignal;
delete AbortSignal.trip;

class AbortController {
  #signal = new AbortSignal(KEY);
  static abortOf(controller, reason) { trip(controller.#signal, reason); }
  get signal() { return this.#signal; }
  abort(reason) { trip(this.#signal, reason); }
}
/** Aborts the signal of a controller, whatever app code made of its methods. */
const { abortOf: abortSignalOf } = AbortController;
delete AbortController.abortOf;

const timers = new Map();
let lastTimer = 0;

const arm = (callback, delay, args, repeat) => {
  if (typeof callback !== 'function') throw new TypeError('a timer needs a function');
  if (timers.size >= 10000) throw new RangeError('too many timers');
  const wait = Math.min(Math.max(Number(delay) || 0, 0), 2 ** 31);
  const id = ++lastTimer;
  timers.set(id, { callback, args, every: repeat ? Math.max(wait, 1) : null });
  native.arm(id, wait);
  return id;
};
const setTimeout = (callback, delay, ...args) => arm(callback, delay, args, false);
const setInterval = (callback, delay, ...args) => arm(callback, delay, args, true);
const clearTimeout = (id) => { if (timers.delete(id)) native.disarm(id); };

const fire = (id) => {
  const timer = timers.get(id);
  if (!timer) return;
  if (timer.every === null) timers.delete(id);
  else native.arm(id, timer.every);
  report(() => timer.callback(...timer.args));
};
