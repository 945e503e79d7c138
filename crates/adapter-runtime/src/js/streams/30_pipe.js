// Piping (§4.9.1, ReadableStreamPipeTo).

const pipeOptions = (options) => {
  const given = dictionary(options, 'the options');
  const preventAbort = Boolean(given.preventAbort);
  const preventCancel = Boolean(given.preventCancel);
  const preventClose = Boolean(given.preventClose);
  const { signal } = given;
  if (signal !== undefined && !isSignal(signal)) throw new TypeError('signal must be an AbortSignal');
  return { preventAbort, preventCancel, preventClose, signal };
};

/** Writes all of `s` to `w`; neither is locked yet. */
const pipe = (s, w, { preventAbort, preventCancel, preventClose, signal }) => {
  const r = acquire(s);
  const t = acquireWriter(w);
  s.disturbed = true;
  const done = deferred();
  let ending = false;
  /** The last write, settled either way. */
  let written = resolved(undefined);

  const finalize = (failed, error) => {
    releaseWriter(t);
    release(r);
    if (signal) offAbort(signal, onSignal);
    if (failed) done.reject(error);
    else done.resolve(undefined);
  };
  /** Waits for the writes that are under way: others may be begun meanwhile. */
  const afterWrites = (act) => {
    const last = written;
    after(last, () => (last === written ? act() : afterWrites(act)));
  };
  const end = (action, failed, error) => {
    if (ending) return;
    ending = true;
    const act = () => {
      if (!action) return finalize(failed, error);
      after(action(), () => finalize(failed, error), (other) => finalize(true, other));
    };
    if (w.state === 'writable' && !closeQueuedOrInFlight(w)) afterWrites(act);
    else act();
  };

  const onSignal = () => {
    const error = signal.reason;
    const both = () => {
      const aborted = !preventAbort && w.state === 'writable' ? abortWritable(w, error) : resolved(undefined);
      const cancelled = !preventCancel && s.state === 'readable' ? cancelReadable(s, error) : resolved(undefined);
      return after(aborted, () => cancelled);
    };
    end(both, true, error);
  };
  if (signal) {
    if (signal.aborted) {
      onSignal();
      return done.promise;
    }
    onAbort(signal, onSignal);
  }

  const sourceErrored = () => {
    if (preventAbort) end(null, true, s.error);
    else end(() => abortWritable(w, s.error), true, s.error);
  };
  const targetErrored = () => {
    if (preventCancel) end(null, true, w.error);
    else end(() => cancelReadable(s, w.error), true, w.error);
  };
  const sourceClosed = () => {
    if (preventClose) return end(null, false);
    end(() => {
      if (closeQueuedOrInFlight(w) || w.state === 'closed') return resolved(undefined);
      return w.state === 'errored' ? rejected(w.error) : closeWritable(w);
    }, false);
  };
  const targetClosed = () => {
    const error = new TypeError('the destination is closed');
    if (preventCancel) end(null, true, error);
    else end(() => cancelReadable(s, error), true, error);
  };

  // What is so already is looked at in the order of the standard; what becomes so later, as it comes.
  if (s.state === 'errored') sourceErrored();
  else after(r.closed.promise, nothing, sourceErrored);
  if (w.state === 'errored') targetErrored();
  else after(t.closed.promise, nothing, targetErrored);
  if (s.state === 'closed') sourceClosed();
  else after(r.closed.promise, sourceClosed, nothing);
  if (closeQueuedOrInFlight(w) || w.state === 'closed') targetClosed();

  const step = () => {
    if (ending) return;
    after(t.ready.promise, () => {
      if (ending) return;
      read(r, {
        chunk: (chunk) => {
          // Whoever enqueued it must not find itself in the middle of its writing.
          written = after(resolved(undefined), () => {
            const result = t.stream ? after(write(t, chunk), nothing, nothing) : undefined;
            step();
            return result;
          });
        },
        close: nothing,
        error: nothing,
      });
    }, nothing);
  };
  step();
  return done.promise;
};
