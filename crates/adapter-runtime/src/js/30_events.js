/** How far an event is on its way. */
const IDLE = 0;
const AT_TARGET = 2;

class Event {
  #type;
  #bubbles;
  #cancelable;
  #composed;
  #timeStamp = ownTime.now();
  #prevented = false;
  #stopped = false;
  #stoppedAtOnce = false;
  #isPassive = false;
  #phase = IDLE;
  #target = null;
  constructor(type, init) {
    if (arguments.length === 0) throw new TypeError('an event needs a type');
    if (init !== undefined && init !== null && typeof init !== 'object' && typeof init !== 'function') {
      throw new TypeError('the properties of an event must be an object');
    }
    this.#type = `${type}`;
    this.#bubbles = Boolean(init?.bubbles);
    this.#cancelable = Boolean(init?.cancelable);
    this.#composed = Boolean(init?.composed);
  }
  get type() { return this.#type; }
  get target() { return this.#target; }
  get srcElement() { return this.#target; }
  get currentTarget() { return this.#phase === IDLE ? null : this.#target; }
  get eventPhase() { return this.#phase; }
  get bubbles() { return this.#bubbles; }
  get cancelable() { return this.#cancelable; }
  get composed() { return this.#composed; }
  get defaultPrevented() { return this.#prevented; }
  get isTrusted() { return false; }
  get timeStamp() { return this.#timeStamp; }
  get returnValue() { return !this.#prevented; }
  set returnValue(value) { if (!value) this.preventDefault(); }
  get cancelBubble() { return this.#stopped; }
  set cancelBubble(value) { if (value) this.#stopped = true; }
  composedPath() { return this.#phase === IDLE ? [] : [this.#target]; }
  preventDefault() { if (this.#cancelable && !this.#isPassive) this.#prevented = true; }
  stopPropagation() { this.#stopped = true; }
  stopImmediatePropagation() { this.#stopped = this.#stoppedAtOnce = true; }
  /** Calls the listeners one after the other until one stops that; gives false if one prevented the default. */
  static deliver(event, target, listeners, invoke) {
    if (!(typeof event === 'object' && event !== null && #type in event)) throw new TypeError('only an Event is dispatched');
    if (event.#phase !== IDLE) throw new DOMException('the event is being dispatched', 'InvalidStateError');
    event.#target = target;
    event.#phase = AT_TARGET;
    for (const listener of event.#stopped ? [] : listeners(event.#type)) {
      event.#isPassive = listener.passive;
      invoke(listener);
      event.#isPassive = false;
      if (event.#stoppedAtOnce) break;
    }
    event.#phase = IDLE;
    event.#stopped = event.#stoppedAtOnce = false;
    return !event.#prevented;
  }
}
const { deliver } = Event;
delete Event.deliver;
for (const target of [Event, Event.prototype]) {
  for (const [value, name] of ['NONE', 'CAPTURING_PHASE', 'AT_TARGET', 'BUBBLING_PHASE'].entries()) {
    Object.defineProperty(target, name, { value, enumerable: true });
  }
}

class CustomEvent extends Event {
  #detail;
  constructor(type, init) {
    if (arguments.length === 0) throw new TypeError('an event needs a type');
    super(type, init);
    this.#detail = init?.detail === undefined ? null : init.detail;
  }
  get detail() { return this.#detail; }
}

const removeListener = (entry) => {
  if (entry.removed) return;
  entry.known.delete(entry.listener);
  entry.removed = true;
  entry.forget?.();
};

class EventTarget {
  /**
   * Listeners by type, and of each type first those that do not capture, then those that do: each by its callback, in the
   * order in which they were added. Made with the first listener, as most signals have none.
   */
  #listeners = null;
  addEventListener(type, listener, options) {
    if (arguments.length < 2) throw new TypeError('addEventListener takes a type and a listener');
    const details = typeof options === 'object' && options !== null || typeof options === 'function' ? options : null;
    const { signal } = details ?? {};
    if (signal !== undefined && !isSignal(signal)) throw new TypeError('signal must be an AbortSignal');
    if (listener !== null && listener !== undefined && typeof listener !== 'object' && typeof listener !== 'function') {
      throw new TypeError('a listener must be a function or an object');
    }
    if (!listener || signal && isAborted(signal)) return;
    const capture = Boolean(details === null ? options : details.capture);
    const key = `${type}`;
    this.#listeners ??= new Map();
    if (!this.#listeners.has(key)) this.#listeners.set(key, [new Map(), new Map()]);
    const known = this.#listeners.get(key)[Number(capture)];
    if (known.has(listener)) return;
    const entry = {
      listener, known, once: Boolean(details?.once), passive: Boolean(details?.passive), removed: false, forget: null,
    };
    known.set(listener, entry);
    if (signal) entry.forget = whenAborted(signal, () => removeListener(entry));
  }
  removeEventListener(type, listener, options) {
    if (arguments.length < 2) throw new TypeError('removeEventListener takes a type and a listener');
    const capture = Boolean(typeof options === 'object' && options !== null ? options.capture : options);
    const found = this.#listeners?.get(`${type}`)?.[Number(capture)].get(listener);
    if (found) removeListener(found);
  }
  dispatchEvent(event) {
    // At its target, an event meets the capturing listeners first. Those that are added meanwhile do not hear of it.
    const listeners = (type) => {
      const [bubbling, capturing] = this.#listeners?.get(type) ?? [new Map(), new Map()];
      return [...capturing.values(), ...bubbling.values()];
    };
    return deliver(event, this, listeners, (entry) => {
      if (entry.removed) return;
      if (entry.once) removeListener(entry);
      const { listener } = entry;
      report(() => {
        if (typeof listener === 'function') return listener.call(this, event);
        if (typeof listener.handleEvent !== 'function') throw new TypeError('the listener has no handleEvent');
        return listener.handleEvent(event);
      });
    });
  }
}
const { addEventListener, removeEventListener, dispatchEvent } = EventTarget.prototype;

/** Runs a callback nobody awaits; what it throws goes to the log. */
const report = (callback) => {
  try {
    callback();
  } catch (error) {
    native.log(3, text(`Uncaught ${safely(() => inspect(error))}`));
  }
};

const KEY = Symbol('only the prelude constructs');

const abortError = () => new DOMException('The operation was aborted.', 'AbortError');

class AbortSignal extends EventTarget {
  #reason;
  #aborted = false;
  /** What the prelude does on abort, before the event. */
  #steps = null;
  /** The signals of `any` that follow this one, and those that this one follows. */
  #dependents = null;
  #sources = null;
  #onabort = null;
  #isHandling = false;
  constructor(key) {
    super();
    if (key !== KEY) throw new TypeError('Illegal constructor');
  }
  get aborted() { return this.#aborted; }
  get reason() { return this.#reason; }
  get onabort() { return this.#onabort; }
  set onabort(value) {
    this.#onabort = typeof value === 'function' || typeof value === 'object' ? value : null;
    if (this.#isHandling || this.#onabort === null) return;
    // It keeps its place among the listeners, whatever it is later.
    this.#isHandling = true;
    addEventListener.call(this, 'abort', (event) => {
      if (typeof this.#onabort === 'function') this.#onabort.call(this, event);
    });
  }
  throwIfAborted() { if (this.#aborted) throw this.#reason; }
  static is(value) { return typeof value === 'object' && value !== null && #aborted in value; }
  static isAborted(signal) { return signal.#aborted; }
  static reasonOf(signal) { return signal.#reason; }
  /** Runs a step when the signal aborts; gives the function that forgets the step. */
  static when(signal, step) {
    signal.#steps ??= new Set();
    signal.#steps.add(step);
    return () => { signal.#steps?.delete(step); };
  }
  static trip(signal, reason) {
    if (signal.#aborted) return;
    const because = reason === undefined ? abortError() : reason;
    // All are aborted before any code hears of it.
    const all = [signal, ...(signal.#dependents ?? [])].filter((one) => !one.#aborted);
    for (const one of all) {
      one.#aborted = true;
      one.#reason = because;
    }
    for (const one of all) {
      const steps = one.#steps ?? [];
      one.#steps = one.#dependents = one.#sources = null;
      for (const step of steps) step();
      dispatchEvent.call(one, new Event('abort'));
    }
  }
  static abort(reason) {
    const signal = new AbortSignal(KEY);
    trip(signal, reason);
    return signal;
  }
  static timeout(delay) {
    const millis = Math.trunc(Number(delay));
    if (arguments.length === 0 || !(millis >= 0 && millis <= Number.MAX_SAFE_INTEGER)) {
      throw new TypeError('a timeout is a number of milliseconds');
    }
    const signal = new AbortSignal(KEY);
    setTimeout(() => trip(signal, new DOMException('The operation timed out.', 'TimeoutError')), millis);
    return signal;
  }
  static any(signals) {
    const list = [...signals];
    if (!list.every(isSignal)) throw new TypeError('any takes signals');
    const any = new AbortSignal(KEY);
    const aborted = list.find((signal) => signal.#aborted);
    if (aborted) {
      trip(any, aborted.#reason);
      return any;
    }
    any.#sources = new Set(list.flatMap((signal) => (signal.#sources ? [...signal.#sources] : [signal])));
    for (const source of any.#sources) {
      source.#dependents ??= new Set();
      source.#dependents.add(any);
    }
    return any;
  }
}
const { trip, is: isSignal, isAborted, reasonOf, when: whenAborted, any: anySignal } = AbortSignal;
for (const name of ['trip', 'is', 'isAborted', 'reasonOf', 'when']) delete AbortSignal[name];

class AbortController {
  #signal = new AbortSignal(KEY);
  static abortOf(controller, reason) { trip(controller.#signal, reason); }
  get signal() { return this.#signal; }
  abort(reason) { trip(this.#signal, reason); }
}
/** Aborts the signal of a controller, whatever app code made of its methods. */
const { abortOf: abortSignalOf } = AbortController;
delete AbortController.abortOf;
const EVENT_CLASSES = [Event, CustomEvent, EventTarget, AbortSignal, AbortController];

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
const clearTimeout = (id) => {
  const number = Number(id);
  if (timers.delete(number)) native.disarm(number);
};

const fire = (id) => {
  const timer = timers.get(id);
  if (!timer) return;
  if (timer.every === null) timers.delete(id);
  else native.arm(id, timer.every);
  report(() => timer.callback(...timer.args));
};
