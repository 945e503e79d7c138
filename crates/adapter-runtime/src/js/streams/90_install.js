const NAMES = {
  __proto__: null,
  ReadableStream, ReadableStreamDefaultReader, ReadableStreamDefaultController, WritableStream,
  WritableStreamDefaultWriter, WritableStreamDefaultController, TransformStream, TransformStreamDefaultController,
  CountQueuingStrategy, ByteLengthQueuingStrategy, TextEncoderStream, TextDecoderStream,
};

/** What bodies of requests and answers need. */
const bodies = {
  is: isReadable,
  locked: (stream) => isLocked(slotsOf(stream)),
  disturbed: (stream) => slotsOf(stream).disturbed,
  /** A stream of what is there, as one chunk; of what was read already, when there is nothing. */
  of: (bytes, signal = null) => {
    const s = newReadable(nothing, () => {
      if (bytes.byteLength > 0) enqueue(s.controller, bytes);
      closeController(s.controller);
    }, nothing, 0);
    if (bytes === null) {
      s.disturbed = true;
      closeController(s.controller);
    } else if (signal !== null) {
      onceAborted(signal, (reason) => errorController(s.controller, reason));
    }
    return wrapReadable(s);
  },
  /** A stream of a body that is still coming. */
  pulling: (body, signal = null) => {
    const s = newReadable(nothing, () => after(body.next(), (part) => {
      if (part === null) closeController(s.controller);
      else enqueue(s.controller, part);
    }), (reason) => body.stop(reason), 0);
    if (signal !== null) onceAborted(signal, (reason) => errorController(s.controller, reason));
    return wrapReadable(s);
  },
  tee: (stream) => {
    const [one, other] = teeReadable(slotsOf(stream), true);
    return [wrapReadable(one), wrapReadable(other)];
  },
  /** The same stream for a new owner; the old one finds it locked. */
  proxy: (stream) => {
    const x = newTransform(enqueueTransformed);
    after(pipe(slotsOf(stream), x.writable, { preventAbort: false, preventCancel: false, preventClose: false }), undefined, nothing);
    return wrapReadable(x.readable);
  },
  reader: (stream) => {
    const r = acquire(slotsOf(stream));
    return { read: () => readChunk(r), cancel: (reason) => cancelReadable(r.stream, reason) };
  },
};

export const install = (lent) => {
  ({ Promise, TypeError, RangeError, then, apply, max, create, slice, asyncIterator, syncIterator } = lent);
  ({ AbortController, abort, onAbort, offAbort, onceAborted, isSignal, structuredClone, utf8, TextDecoder, decode } = lent);
  const { defineProperty, setPrototypeOf, toStringTag, asyncIteratorPrototype } = lent;
  const hidden = (target, key, value, writable) =>
    defineProperty(target, key, { __proto__: null, value, writable, enumerable: false, configurable: true });
  for (const name in NAMES) hidden(NAMES[name].prototype, toStringTag, name, false);
  hidden(ReadableStream.prototype, asyncIterator, ReadableStream.prototype.values, true);
  const iterator = ReadableStreamAsyncIterator.prototype;
  delete iterator.constructor;
  setPrototypeOf(iterator, asyncIteratorPrototype);
  hidden(iterator, toStringTag, 'ReadableStream AsyncIterator', false);
  // What other modules make their streams of.
  const parts = {
    newTransform, enqueueTransformed, ends, after, resolved, unblockWrite,
    /** Acts as soon as the writable side is aborted: a transform that takes its time cannot wait for its turn. */
    onceWriteAborted: (x, act) => onceAborted(x.writable.controller.abortController.signal, act),
  };
  return { names: NAMES, bodies, parts };
};
