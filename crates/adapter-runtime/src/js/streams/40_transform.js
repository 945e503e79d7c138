// Transform streams (§6), and the streams of the Encoding standard (§7) that are made of them.

let wrapTransformController;

const setPressure = (x, pressure) => {
  if (x.change) x.change.resolve(undefined);
  x.change = deferred();
  x.pressure = pressure;
};
const unblockWrite = (x) => { if (x.pressure) setPressure(x, false); };
const forgetTransformer = (x) => { x.transform = x.flush = x.cancel = null; };
const errorWritableAndUnblock = (x, error) => {
  forgetTransformer(x);
  errorIfNeeded(x.writable.controller, error);
  unblockWrite(x);
};
const errorTransform = (x, error) => {
  errorController(x.readable.controller, error);
  errorWritableAndUnblock(x, error);
};
const enqueueTransformed = (x, chunk) => {
  const c = x.readable.controller;
  if (!mayEnqueue(c)) throw new TypeError('nothing can be enqueued: the readable side is closed or errored');
  try {
    enqueue(c, chunk);
  } catch (error) {
    errorWritableAndUnblock(x, error);
    throw x.readable.error;
  }
  const pressure = !shouldPull(c);
  if (pressure !== x.pressure) setPressure(x, true);
};
const terminate = (x) => {
  closeController(x.readable.controller);
  errorWritableAndUnblock(x, new TypeError('the transform was terminated'));
};
const performTransform = (x, chunk) => {
  const { transform } = x;
  return after(promised(() => transform(chunk)), nothing, (error) => {
    errorTransform(x, error);
    throw error;
  });
};

/** Both sides; `start`, `transform`, `flush` and `cancel` are given nothing of ours but chunks and reasons. */
const setUpTransform = (x, start, { writableMark, writableSize, readableMark, readableSize }) => {
  const begun = deferred();
  const sinkWrite = (chunk) => {
    if (!x.pressure) return performTransform(x, chunk);
    return after(x.change.promise, () => {
      if (x.writable.state === 'erroring') throw x.writable.error;
      return performTransform(x, chunk);
    });
  };
  /** Runs the last algorithm once, and ends both sides as it ended. */
  const finish = (run, ok, failed) => {
    if (x.finish) return x.finish.promise;
    const { promise, resolve, reject } = x.finish = deferred();
    const result = promised(run);
    forgetTransformer(x);
    after(result, () => ok(resolve, reject), (error) => failed(error, reject));
    return promise;
  };
  const sinkAbort = (reason) => {
    const { cancel } = x;
    return finish(() => cancel(reason), (resolve, reject) => {
      if (x.readable.state === 'errored') return reject(x.readable.error);
      errorController(x.readable.controller, reason);
      resolve(undefined);
    }, (error, reject) => {
      errorController(x.readable.controller, error);
      reject(error);
    });
  };
  const sinkClose = () => {
    const { flush } = x;
    return finish(() => flush(), (resolve, reject) => {
      if (x.readable.state === 'errored') return reject(x.readable.error);
      closeController(x.readable.controller);
      resolve(undefined);
    }, (error, reject) => {
      errorController(x.readable.controller, error);
      reject(error);
    });
  };
  const sourceCancel = (reason) => {
    const { cancel } = x;
    return finish(() => cancel(reason), (resolve, reject) => {
      if (x.writable.state === 'errored') return reject(x.writable.error);
      errorIfNeeded(x.writable.controller, reason);
      unblockWrite(x);
      resolve(undefined);
    }, (error, reject) => {
      errorIfNeeded(x.writable.controller, error);
      unblockWrite(x);
      reject(error);
    });
  };
  const sourcePull = () => {
    setPressure(x, false);
    return x.change.promise;
  };
  x.writable = setUpWritable(makeWritable(), () => begun.promise, sinkWrite, sinkClose, sinkAbort, writableMark, writableSize);
  x.readable = setUp(makeReadable(), () => begun.promise, sourcePull, sourceCancel, readableMark, readableSize);
  setPressure(x, true);
  begun.resolve(start());
};
const makeTransform = () => ({
  readable: null, writable: null, pressure: undefined, change: null, finish: null, transform: null, flush: null, cancel: null,
});
/** A transform of our own. */
const newTransform = (transform, flush = nothing, cancel = nothing) => {
  const x = makeTransform();
  x.transform = (chunk) => transform(x, chunk);
  x.flush = () => flush(x);
  x.cancel = (reason) => cancel(reason);
  const one = () => 1;
  setUpTransform(x, nothing, { writableMark: 1, writableSize: one, readableMark: 0, readableSize: one });
  return x;
};
const ends = (x) => ({ readable: wrapReadable(x.readable), writable: wrapWritable(x.writable) });

class TransformStreamDefaultController {
  #x;
  static {
    wrapTransformController = (x) => {
      const made = new TransformStreamDefaultController(KEY);
      made.#x = x;
      return made;
    };
  }
  constructor(key) { if (key !== KEY) throw new TypeError('Illegal constructor'); }
  get desiredSize() { return wanted(this.#x.readable.controller); }
  enqueue(chunk = undefined) { enqueueTransformed(this.#x, chunk); }
  error(reason = undefined) { errorTransform(this.#x, reason); }
  terminate() { terminate(this.#x); }
}

class TransformStream {
  #ends;
  constructor(transformer = undefined, writableStrategy = undefined, readableStrategy = undefined) {
    if (transformer !== undefined && !object(transformer)) throw new TypeError('the transformer must be an object');
    const toWrite = strategyOf(writableStrategy);
    const toRead = strategyOf(readableStrategy);
    const holder = dictionary(transformer, 'the transformer');
    const x = makeTransform();
    const controller = wrapTransformController(x);
    const cancel = method(holder, 'cancel', nothing);
    const flush = method(holder, 'flush', nothing);
    const { readableType } = holder;
    const start = method(holder, 'start', nothing);
    const transform = method(holder, 'transform', (chunk) => enqueueTransformed(x, chunk));
    const { writableType } = holder;
    if (readableType !== undefined || writableType !== undefined) throw new RangeError('the sides of a transform have no type');
    x.transform = (chunk) => transform(chunk, controller);
    x.flush = () => flush(controller);
    x.cancel = cancel;
    const readableMark = markOf(toRead, 0);
    const readableSize = sizeOf(toRead);
    const writableMark = markOf(toWrite, 1);
    const writableSize = sizeOf(toWrite);
    setUpTransform(x, () => start(controller), { writableMark, writableSize, readableMark, readableSize });
    this.#ends = ends(x);
  }
  get readable() { return this.#ends.readable; }
  get writable() { return this.#ends.writable; }
}

class TextEncoderStream {
  #ends;
  #high = '';
  constructor() {
    this.#ends = ends(newTransform((x, chunk) => {
      // A character may be cut in two: its first half waits for the second.
      const whole = this.#high + `${chunk}`;
      const last = whole.length - 1;
      const cut = last >= 0 && (whole[last] >= '\ud800' && whole[last] <= '\udbff');
      this.#high = cut ? whole[last] : '';
      const out = cut ? apply(slice, whole, [0, last]) : whole;
      if (out !== '') enqueueTransformed(x, utf8(out));
    }, (x) => { if (this.#high !== '') enqueueTransformed(x, utf8(this.#high)); }));
  }
  get encoding() { this.#ends; return 'utf-8'; }
  get readable() { return this.#ends.readable; }
  get writable() { return this.#ends.writable; }
}

class TextDecoderStream {
  #ends;
  #decoder;
  constructor(label = undefined, options = undefined) {
    this.#decoder = new TextDecoder(label, options);
    this.#ends = ends(newTransform((x, chunk) => {
      const out = decode(this.#decoder, chunk, { stream: true });
      if (out !== '') enqueueTransformed(x, out);
    }, (x) => {
      const out = decode(this.#decoder, undefined, {});
      if (out !== '') enqueueTransformed(x, out);
    }));
  }
  get encoding() { return this.#decoder.encoding; }
  get fatal() { return this.#decoder.fatal; }
  get ignoreBOM() { return this.#decoder.ignoreBOM; }
  get readable() { return this.#ends.readable; }
  get writable() { return this.#ends.writable; }
}
