// Readable streams (§4). A public object holds its internal slots in one private field: `s` is a stream's, `c` a
// controller's, `r` a reader's.

let slotsOf, isReadable, wrapReadable, wrapController;
const KEY = {};

const makeReadable = () => ({
  state: 'readable', reader: null, error: undefined, disturbed: false, controller: null,
});
const isLocked = (s) => s.reader !== null;

const closeReadable = (s) => {
  s.state = 'closed';
  const { reader } = s;
  if (!reader) return;
  reader.closed.resolve(undefined);
  const { requests } = reader;
  reader.requests = fifo();
  while (requests.length) take(requests).close();
};
const errorReadable = (s, error) => {
  s.state = 'errored';
  s.error = error;
  const { reader } = s;
  if (!reader) return;
  rejectHandled(reader.closed, error);
  failRequests(reader, error);
};
const failRequests = (reader, error) => {
  const { requests } = reader;
  reader.requests = fifo();
  while (requests.length) take(requests).error(error);
};
const cancelReadable = (s, reason) => {
  s.disturbed = true;
  if (s.state === 'closed') return resolved(undefined);
  if (s.state === 'errored') return rejected(s.error);
  closeReadable(s);
  const c = s.controller;
  resetQueue(c);
  const { cancel } = c;
  forget(c);
  return after(promised(() => cancel(reason)), nothing);
};

const forget = (c) => { c.pull = c.cancel = c.size = null; };
const wanted = (c) => {
  if (c.stream.state === 'errored') return null;
  return c.stream.state === 'closed' ? 0 : c.mark - c.total;
};
const mayEnqueue = (c) => !c.closing && c.stream.state === 'readable';
const shouldPull = (c) => {
  if (!mayEnqueue(c) || !c.started) return false;
  return (isLocked(c.stream) && c.stream.reader.requests.length > 0) || wanted(c) > 0;
};
const pullIfNeeded = (c) => {
  if (!shouldPull(c)) return;
  if (c.pulling) {
    c.again = true;
    return;
  }
  c.pulling = true;
  const { pull } = c;
  after(promised(pull), () => {
    c.pulling = false;
    if (c.again) {
      c.again = false;
      pullIfNeeded(c);
    }
  }, (error) => errorController(c, error));
};
const closeController = (c) => {
  if (!mayEnqueue(c)) return;
  c.closing = true;
  if (c.queue.length === 0) {
    forget(c);
    closeReadable(c.stream);
  }
};
const enqueue = (c, chunk) => {
  if (!mayEnqueue(c)) return;
  const { reader } = c.stream;
  if (reader && reader.requests.length > 0) {
    take(reader.requests).chunk(chunk);
  } else {
    try {
      putSized(c, chunk, c.size(chunk));
    } catch (error) {
      errorController(c, error);
      throw error;
    }
  }
  pullIfNeeded(c);
};
const errorController = (c, error) => {
  if (c.stream.state !== 'readable') return;
  resetQueue(c);
  forget(c);
  errorReadable(c.stream, error);
};
/** Answers one read request (§4.5.5, [[PullSteps]]). */
const pullSteps = (c, request) => {
  if (c.queue.length === 0) {
    put(c.stream.reader.requests, request);
    pullIfNeeded(c);
    return;
  }
  const chunk = takeSized(c);
  if (c.closing && c.queue.length === 0) {
    forget(c);
    closeReadable(c.stream);
  } else {
    pullIfNeeded(c);
  }
  request.chunk(chunk);
};

/** Gives the stream a controller and starts it; `start` may throw. */
const setUp = (s, start, pull, cancel, mark, size) => {
  const c = {
    stream: s, queue: fifo(), total: 0, started: false, closing: false, pulling: false, again: false,
    mark, size, pull, cancel,
  };
  s.controller = c;
  after(resolved(start(c)), () => {
    c.started = true;
    pullIfNeeded(c);
  }, (error) => errorController(c, error));
  return s;
};
const newReadable = (start, pull, cancel, mark = 1) => setUp(makeReadable(), start, pull, cancel, mark, () => 1);

class ReadableStreamDefaultController {
  #c;
  static {
    wrapController = (c) => {
      const made = new ReadableStreamDefaultController(KEY);
      made.#c = c;
      return made;
    };
  }
  constructor(key) { if (key !== KEY) throw new TypeError('Illegal constructor'); }
  get desiredSize() { return wanted(this.#c); }
  close() {
    if (!mayEnqueue(this.#c)) throw new TypeError('the stream cannot be closed: it is closed or errored already');
    closeController(this.#c);
  }
  enqueue(chunk = undefined) {
    if (!mayEnqueue(this.#c)) throw new TypeError('nothing can be enqueued: the stream is closed or errored');
    enqueue(this.#c, chunk);
  }
  error(reason = undefined) { errorController(this.#c, reason); }
}

const acquire = (s) => {
  if (isLocked(s)) throw new TypeError('the stream is locked to a reader');
  const r = { stream: s, closed: deferred(), requests: fifo() };
  s.reader = r;
  if (s.state === 'closed') r.closed.resolve(undefined);
  else if (s.state === 'errored') rejectHandled(r.closed, s.error);
  return r;
};
const read = (r, request) => {
  const s = r.stream;
  s.disturbed = true;
  if (s.state === 'closed') request.close();
  else if (s.state === 'errored') request.error(s.error);
  else pullSteps(s.controller, request);
};
const release = (r) => {
  const s = r.stream;
  if (!s) return;
  const error = new TypeError('the reader was released');
  if (s.state !== 'readable') r.closed = deferred();
  rejectHandled(r.closed, error);
  s.reader = r.stream = null;
  failRequests(r, error);
};
/** Reads one chunk: `{ done, value }` as a promise. */
const readChunk = (r) => {
  const out = deferred();
  read(r, {
    chunk: (value) => out.resolve({ value, done: false }),
    close: () => out.resolve({ value: undefined, done: true }),
    error: out.reject,
  });
  return out.promise;
};

class ReadableStreamDefaultReader {
  #r;
  constructor(stream) { this.#r = acquire(slotsOf(stream)); }
  get closed() {
    try {
      return this.#r.closed.promise;
    } catch (error) {
      return rejected(error);
    }
  }
  cancel(reason = undefined) { return promised(() => cancelReadable(attached(this.#r), reason)); }
  read() {
    return promised(() => {
      attached(this.#r);
      return readChunk(this.#r);
    });
  }
  releaseLock() { release(this.#r); }
}
const attached = (r) => {
  if (!r.stream) throw new TypeError('the reader was released');
  return r.stream;
};

class ReadableStreamAsyncIterator {
  #r;
  #keep;
  #ongoing = null;
  #finished = false;
  constructor(stream, keep) {
    this.#r = acquire(stream);
    this.#keep = keep;
  }
  next() {
    return promised(() => {
      const steps = () => this.#next();
      this.#ongoing = this.#ongoing ? after(this.#ongoing, steps, steps) : steps();
      return this.#ongoing;
    });
  }
  return(value) {
    return promised(() => {
      const steps = () => this.#return(value);
      this.#ongoing = this.#ongoing ? after(this.#ongoing, steps, steps) : steps();
      return after(this.#ongoing, () => ({ value, done: true }));
    });
  }
  #next() {
    if (this.#finished) return resolved({ value: undefined, done: true });
    const out = deferred();
    const end = (settle) => {
      this.#finished = true;
      release(this.#r);
      settle();
    };
    read(this.#r, {
      chunk: (value) => out.resolve({ value, done: false }),
      close: () => end(() => out.resolve({ value: undefined, done: true })),
      error: (error) => end(() => out.reject(error)),
    });
    return out.promise;
  }
  #return(reason) {
    if (this.#finished) return resolved(undefined);
    this.#finished = true;
    const result = this.#keep ? resolved(undefined) : cancelReadable(this.#r.stream, reason);
    release(this.#r);
    return result;
  }
}

class ReadableStream {
  #s;
  static {
    slotsOf = (stream) => stream.#s;
    isReadable = (value) => object(value) && #s in value;
    wrapReadable = (slots) => new ReadableStream(KEY, slots);
  }
  constructor(source = undefined, strategy = undefined) {
    if (source === KEY) {
      this.#s = strategy;
      return;
    }
    if (source !== undefined && !object(source)) throw new TypeError('the underlying source must be an object');
    const given = strategyOf(strategy);
    const holder = dictionary(source, 'the underlying source');
    const cancel = method(holder, 'cancel', nothing);
    const pull = method(holder, 'pull', nothing);
    const start = method(holder, 'start', nothing);
    const { type } = holder;
    if (type !== undefined) {
      throw new TypeError(`${type}` === 'bytes' ? 'there are no byte streams here' : 'the type of an underlying source can only be "bytes"');
    }
    const size = sizeOf(given);
    const mark = markOf(given, 1);
    const s = makeReadable();
    this.#s = s;
    let controller;
    const begin = (c) => {
      controller = wrapController(c);
      return start(controller);
    };
    setUp(s, begin, () => pull(controller), cancel, mark, size);
  }
  static from(iterable) { return wrapReadable(fromIterable(iterable)); }
  get locked() { return isLocked(this.#s); }
  cancel(reason = undefined) {
    return promised(() => {
      if (isLocked(this.#s)) throw new TypeError('the stream is locked to a reader');
      return cancelReadable(this.#s, reason);
    });
  }
  getReader(options = undefined) {
    const { mode } = dictionary(options, 'the options');
    this.#s;
    if (mode !== undefined) {
      throw new TypeError(`${mode}` === 'byob' ? 'there are no byte streams here' : 'the mode of a reader can only be "byob"');
    }
    return new ReadableStreamDefaultReader(this);
  }
  pipeThrough(transform, options = undefined) {
    const s = this.#s;
    const { readable, writable } = dictionary(transform, 'the transform');
    const given = pipeOptions(options);
    if (!isReadable(readable)) throw new TypeError('readable must be a ReadableStream');
    const to = writableSlots(writable);
    if (isLocked(s)) throw new TypeError('the stream is locked to a reader');
    if (to.writer) throw new TypeError('the writable end is locked to a writer');
    after(pipe(s, to, given), undefined, nothing);
    return readable;
  }
  pipeTo(destination, options = undefined) {
    return promised(() => {
      const s = this.#s;
      const to = writableSlots(destination);
      const given = pipeOptions(options);
      if (isLocked(s)) throw new TypeError('the stream is locked to a reader');
      if (to.writer) throw new TypeError('the destination is locked to a writer');
      return pipe(s, to, given);
    });
  }
  tee() {
    const [one, other] = teeReadable(this.#s, false);
    return [wrapReadable(one), wrapReadable(other)];
  }
  values(options = undefined) {
    const { preventCancel } = dictionary(options, 'the options');
    return new ReadableStreamAsyncIterator(this.#s, Boolean(preventCancel));
  }
}

/** Two streams of what one gives (§4.9.1, ReadableStreamDefaultTee). */
const teeReadable = (s, clone) => {
  const r = acquire(s);
  const cancelled = deferred();
  let reading = false;
  let again = false;
  const gone = [false, false];
  const reasons = [undefined, undefined];
  const each = (call) => {
    if (!gone[0]) call(one.controller);
    if (!gone[1]) call(other.controller);
  };
  const pull = () => {
    if (reading) {
      again = true;
      return;
    }
    reading = true;
    read(r, {
      // Not before the promise jobs that are due: a stream that errors at once does so on both branches first.
      chunk: (chunk) => after(resolved(undefined), () => {
        again = false;
        let second = chunk;
        if (!gone[1] && clone) {
          try {
            second = structuredClone(chunk);
          } catch (error) {
            errorController(one.controller, error);
            errorController(other.controller, error);
            cancelled.resolve(cancelReadable(s, error));
            return;
          }
        }
        if (!gone[0]) enqueue(one.controller, chunk);
        if (!gone[1]) enqueue(other.controller, second);
        reading = false;
        if (again) pull();
      }),
      close: () => {
        reading = false;
        each(closeController);
        if (!gone[0] || !gone[1]) cancelled.resolve(undefined);
      },
      error: () => { reading = false; },
    });
  };
  const cancel = (at) => (reason) => {
    gone[at] = true;
    reasons[at] = reason;
    if (gone[1 - at]) cancelled.resolve(cancelReadable(s, [reasons[0], reasons[1]]));
    return cancelled.promise;
  };
  const one = newReadable(nothing, pull, cancel(0));
  const other = newReadable(nothing, pull, cancel(1));
  after(r.closed.promise, nothing, (error) => {
    errorController(one.controller, error);
    errorController(other.controller, error);
    if (!gone[0] || !gone[1]) cancelled.resolve(undefined);
  });
  return [one, other];
};

/** A stream of what an iterable gives (§4.9.1, ReadableStreamFromIterable). */
const fromIterable = (iterable) => {
  if (iterable === undefined || iterable === null) throw new TypeError('the value is not iterable');
  const found = (key) => {
    const make = iterable[key];
    if (make !== undefined && make !== null && typeof make !== 'function') throw new TypeError('the value is not iterable');
    return make ?? null;
  };
  let make = found(asyncIterator);
  const sync = make === null;
  if (sync) make = found(syncIterator);
  if (make === null) throw new TypeError('the value is not iterable');
  const iterator = apply(make, iterable, []);
  if (!object(iterator)) throw new TypeError('the iterator is no object');
  const { next } = iterator;
  const checked = (result) => {
    if (!object(result)) throw new TypeError('the iterator gave no object');
    return result;
  };
  // The values of a synchronous iterator may be promises, and what it gives counts at once.
  const step = () => {
    const result = apply(next, iterator, []);
    if (!sync) return after(resolved(result), (result) => {
      checked(result);
      return result.done ? { done: true, value: undefined } : { done: false, value: result.value };
    });
    const { done, value } = checked(result);
    if (done) return resolved({ done: true, value: undefined });
    return after(resolved(value), (value) => ({ done: false, value }), (error) => {
      try {
        const end = iterator.return;
        if (end !== undefined && end !== null) apply(end, iterator, []);
      } catch {
        // What the value says goes before.
      }
      throw error;
    });
  };
  const pull = () => after(promised(step), ({ done, value }) => {
    if (done) closeController(s.controller);
    else enqueue(s.controller, value);
  });
  const cancel = (reason) => {
    const end = iterator.return;
    if (end === undefined || end === null) return undefined;
    const result = apply(end, iterator, [reason]);
    return sync ? void checked(result) : after(resolved(result), (result) => void checked(result));
  };
  const s = newReadable(nothing, pull, cancel, 0);
  return s;
};
