// Writable streams (§5): `w` is a stream's slots, `c` its controller's, `t` its writer's.

let writableSlots, wrapWritable, wrapWritableController;

const makeWritable = () => ({
  state: 'writable', error: undefined, writer: null, controller: null, pressure: false,
  inWrite: null, inClose: null, closing: null, aborting: null, requests: fifo(),
});
const closeQueuedOrInFlight = (w) => w.closing !== null || w.inClose !== null;
const wantedByWritable = (w) => {
  if (w.state === 'errored' || w.state === 'erroring') return null;
  return w.state === 'closed' ? 0 : w.controller.mark - w.controller.total;
};

const abortWritable = (w, reason) => {
  if (w.state === 'closed' || w.state === 'errored') return resolved(undefined);
  abort(w.controller.abortController, reason);
  if (w.state === 'closed' || w.state === 'errored') return resolved(undefined);
  if (w.aborting) return w.aborting.done.promise;
  const erroring = w.state === 'erroring';
  w.aborting = { done: deferred(), reason: erroring ? undefined : reason, erroring };
  const { promise } = w.aborting.done;
  if (!erroring) startErroring(w, reason);
  return promise;
};
const closeWritable = (w) => {
  if (w.state === 'closed' || w.state === 'errored') {
    return rejected(new TypeError('the stream is closed or errored already'));
  }
  w.closing = deferred();
  const { promise } = w.closing;
  if (w.writer && w.pressure && w.state === 'writable') w.writer.ready.resolve(undefined);
  putSized(w.controller, CLOSE, 0);
  advance(w.controller);
  return promise;
};
const CLOSE = {};

const dealWithRejection = (w, error) => {
  if (w.state === 'writable') startErroring(w, error);
  else finishErroring(w);
};
const startErroring = (w, reason) => {
  w.state = 'erroring';
  w.error = reason;
  if (w.writer) ensureReadyRejected(w.writer, reason);
  if (!w.inWrite && !w.inClose && w.controller.started) finishErroring(w);
};
const finishErroring = (w) => {
  w.state = 'errored';
  resetQueue(w.controller);
  const { requests } = w;
  w.requests = fifo();
  while (requests.length) take(requests).reject(w.error);
  const { aborting } = w;
  if (!aborting) return rejectCloseAndClosed(w);
  w.aborting = null;
  if (aborting.erroring) {
    aborting.done.reject(w.error);
    return rejectCloseAndClosed(w);
  }
  const { abort } = w.controller;
  forgetSink(w.controller);
  after(promised(() => abort(aborting.reason)), () => {
    aborting.done.resolve(undefined);
    rejectCloseAndClosed(w);
  }, (error) => {
    aborting.done.reject(error);
    rejectCloseAndClosed(w);
  });
};
const rejectCloseAndClosed = (w) => {
  if (w.closing) {
    w.closing.reject(w.error);
    w.closing = null;
  }
  if (w.writer) rejectHandled(w.writer.closed, w.error);
};
const updatePressure = (w, pressure) => {
  const { writer } = w;
  if (writer && pressure !== w.pressure) {
    if (pressure) writer.ready = waiting();
    else writer.ready.resolve(undefined);
  }
  w.pressure = pressure;
};
/** Like `deferred`, and knows whether it was settled. */
const waiting = () => {
  const inner = deferred();
  const it = {
    promise: inner.promise, pending: true,
    resolve: (value) => { it.pending = false; inner.resolve(value); },
    reject: (reason) => { it.pending = false; inner.reject(reason); },
  };
  return it;
};
const ensureReadyRejected = (t, error) => {
  if (!t.ready.pending) t.ready = waiting();
  rejectHandled(t.ready, error);
};
const ensureClosedRejected = (t, error) => {
  if (!t.closed.pending) t.closed = waiting();
  rejectHandled(t.closed, error);
};

const forgetSink = (c) => { c.write = c.close = c.abort = c.size = null; };
const errorIfNeeded = (c, error) => { if (c.stream.state === 'writable') errorWritable(c, error); };
const errorWritable = (c, error) => {
  forgetSink(c);
  startErroring(c.stream, error);
};
const advance = (c) => {
  const w = c.stream;
  if (!c.started || w.inWrite) return;
  if (w.state === 'erroring') return finishErroring(w);
  if (c.queue.length === 0 || w.state !== 'writable' || w.inClose) return;
  const { value } = c.queue.head.value;
  if (value === CLOSE) processClose(c);
  else processWrite(c, value);
};
const processClose = (c) => {
  const w = c.stream;
  w.inClose = w.closing;
  w.closing = null;
  takeSized(c);
  const { close } = c;
  forgetSink(c);
  after(promised(close), () => {
    w.inClose.resolve(undefined);
    w.inClose = null;
    if (w.state === 'erroring') {
      w.error = undefined;
      if (w.aborting) {
        w.aborting.done.resolve(undefined);
        w.aborting = null;
      }
    }
    w.state = 'closed';
    if (w.writer) w.writer.closed.resolve(undefined);
  }, (error) => {
    w.inClose.reject(error);
    w.inClose = null;
    if (w.aborting) {
      w.aborting.done.reject(error);
      w.aborting = null;
    }
    dealWithRejection(w, error);
  });
};
const processWrite = (c, chunk) => {
  const w = c.stream;
  w.inWrite = take(w.requests);
  const { write } = c;
  after(promised(() => write(chunk)), () => {
    w.inWrite.resolve(undefined);
    w.inWrite = null;
    takeSized(c);
    if (!closeQueuedOrInFlight(w) && w.state === 'writable') updatePressure(w, c.mark - c.total <= 0);
    advance(c);
  }, (error) => {
    if (w.state === 'writable') forgetSink(c);
    w.inWrite.reject(error);
    w.inWrite = null;
    dealWithRejection(w, error);
  });
};

const setUpWritable = (w, start, write, close, abort, mark, size) => {
  const c = {
    stream: w, queue: fifo(), total: 0, started: false, mark, size, write, close, abort,
    abortController: new AbortController(),
  };
  w.controller = c;
  updatePressure(w, c.mark - c.total <= 0);
  after(resolved(start(c)), () => {
    c.started = true;
    advance(c);
  }, (error) => {
    c.started = true;
    dealWithRejection(w, error);
  });
  return w;
};

class WritableStreamDefaultController {
  #c;
  static {
    wrapWritableController = (c) => {
      const made = new WritableStreamDefaultController(KEY);
      made.#c = c;
      return made;
    };
  }
  constructor(key) { if (key !== KEY) throw new TypeError('Illegal constructor'); }
  get signal() { return this.#c.abortController.signal; }
  error(reason = undefined) { errorIfNeeded(this.#c, reason); }
}

const acquireWriter = (w) => {
  if (w.writer) throw new TypeError('the stream is locked to a writer');
  const t = { stream: w, ready: waiting(), closed: waiting() };
  w.writer = t;
  if (w.state === 'writable') {
    if (closeQueuedOrInFlight(w) || !w.pressure) t.ready.resolve(undefined);
  } else if (w.state === 'erroring') {
    rejectHandled(t.ready, w.error);
  } else if (w.state === 'closed') {
    t.ready.resolve(undefined);
    t.closed.resolve(undefined);
  } else {
    rejectHandled(t.ready, w.error);
    rejectHandled(t.closed, w.error);
  }
  return t;
};
const releaseWriter = (t) => {
  const w = t.stream;
  if (!w) return;
  const error = new TypeError('the writer was released');
  ensureReadyRejected(t, error);
  ensureClosedRejected(t, error);
  w.writer = t.stream = null;
};
const write = (t, chunk) => {
  const w = t.stream;
  const c = w.controller;
  let size = 1;
  if (c.size) {
    try {
      size = c.size(chunk);
    } catch (error) {
      errorIfNeeded(c, error);
    }
  }
  // Asking for the size may have done anything.
  if (w !== t.stream) return rejected(new TypeError('the writer was released'));
  if (w.state === 'errored') return rejected(w.error);
  if (closeQueuedOrInFlight(w) || w.state === 'closed') return rejected(new TypeError('the stream is closed or being closed'));
  if (w.state === 'erroring') return rejected(w.error);
  const request = deferred();
  put(w.requests, request);
  try {
    putSized(c, chunk, size);
  } catch (error) {
    errorIfNeeded(c, error);
    return request.promise;
  }
  if (!closeQueuedOrInFlight(w) && w.state === 'writable') updatePressure(w, c.mark - c.total <= 0);
  advance(c);
  return request.promise;
};
const held = (t) => {
  if (!t.stream) throw new TypeError('the writer was released');
  return t.stream;
};

class WritableStreamDefaultWriter {
  #t;
  constructor(stream) { this.#t = acquireWriter(writableSlots(stream)); }
  get closed() {
    try {
      return this.#t.closed.promise;
    } catch (error) {
      return rejected(error);
    }
  }
  get ready() {
    try {
      return this.#t.ready.promise;
    } catch (error) {
      return rejected(error);
    }
  }
  get desiredSize() { return wantedByWritable(held(this.#t)); }
  abort(reason = undefined) { return promised(() => abortWritable(held(this.#t), reason)); }
  close() {
    return promised(() => {
      const w = held(this.#t);
      if (closeQueuedOrInFlight(w)) throw new TypeError('the stream is being closed already');
      return closeWritable(w);
    });
  }
  releaseLock() { releaseWriter(this.#t); }
  write(chunk = undefined) {
    return promised(() => {
      held(this.#t);
      return write(this.#t, chunk);
    });
  }
}

class WritableStream {
  #w;
  static {
    writableSlots = (stream) => {
      if (!object(stream) || !(#w in stream)) throw new TypeError('the value is no WritableStream');
      return stream.#w;
    };
    wrapWritable = (slots) => new WritableStream(KEY, slots);
  }
  constructor(sink = undefined, strategy = undefined) {
    if (sink === KEY) {
      this.#w = strategy;
      return;
    }
    if (sink !== undefined && !object(sink)) throw new TypeError('the underlying sink must be an object');
    const given = strategyOf(strategy);
    const holder = dictionary(sink, 'the underlying sink');
    const abort = method(holder, 'abort', nothing);
    const close = method(holder, 'close', nothing);
    const start = method(holder, 'start', nothing);
    const { type } = holder;
    const write = method(holder, 'write', nothing);
    if (type !== undefined) throw new RangeError('an underlying sink has no type');
    const size = sizeOf(given);
    const mark = markOf(given, 1);
    const w = makeWritable();
    this.#w = w;
    let controller;
    const begin = (c) => {
      controller = wrapWritableController(c);
      return start(controller);
    };
    setUpWritable(w, begin, (chunk) => write(chunk, controller), () => close(), abort, mark, size);
  }
  get locked() { return this.#w.writer !== null; }
  abort(reason = undefined) {
    return promised(() => {
      if (this.#w.writer) throw new TypeError('the stream is locked to a writer');
      return abortWritable(this.#w, reason);
    });
  }
  close() {
    return promised(() => {
      if (this.#w.writer) throw new TypeError('the stream is locked to a writer');
      if (closeQueuedOrInFlight(this.#w)) throw new TypeError('the stream is being closed already');
      return closeWritable(this.#w);
    });
  }
  getWriter() { return new WritableStreamDefaultWriter(this); }
}
