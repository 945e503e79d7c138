// The answer of `fetch` whose body is a stream: its head goes out at once, then what is read, as far as there is room.

/** How the native function that sends says that it sent nothing. */
const ALL_SENT = 0;
const NO_ROOM = -1;
const TOO_MUCH = -2;

/** The stream that is being sent. */
let sending = null;

/** There is room again. */
const wakeSender = () => {
  const wake = sending?.wake;
  if (!wake) return;
  sending.wake = null;
  wake();
};

/** The visitor has gone: nobody takes what would still come. */
const hangUp = () => {
  if (sending === null || sending.gone) return;
  sending.gone = new DOMException('the visitor has gone', 'AbortError');
  abortVisitor(sending.gone);
  sending.cancelled = sending.reader.cancel(sending.gone);
  wakeSender();
};

const sendChunk = async (chunk, sender) => {
  for (let at = 0; !sender.gone;) {
    const sent = native.sendChunk(chunk, at);
    if (sent === ALL_SENT) return;
    if (sent === TOO_MUCH) throw new RangeError('the answer is longer than it may be');
    if (sent === NO_ROOM) await new Promise((resolve) => { sender.wake = resolve; });
    else at += sent;
  }
};

/** Reads a body that is still coming, without a stream of it. */
const arrivingReader = (body) => ({
  read: async () => {
    const value = await body.next();
    return { done: value === null, value };
  },
  cancel: async (reason) => body.stop(reason),
});

const sendStream = async (status, headers, reader) => {
  const sender = { reader, wake: null, gone: null, cancelled: null };
  sending = sender;
  if (!native.sendHead(status, headers)) throw new RangeError('the headers are too long');
  try {
    for (;;) {
      // The stream is asked for more only when that can be sent.
      while (!sender.gone && !native.hasRoom()) await new Promise((resolve) => { sender.wake = resolve; });
      const { done, value } = await sender.reader.read();
      if (done) break;
      if (!(value instanceof Uint8Array)) throw notBytes(value);
      await sendChunk(bytesOf(value), sender);
    }
    if (!sender.gone) native.sendEnd();
  } catch (error) {
    if (!sender.gone) {
      // A stream that failed by itself has nothing to cancel, and says so; the error that is told is the first one.
      sender.reader.cancel(error).catch(() => {});
      throw error;
    }
  } finally {
    sending = null;
  }
  if (sender.cancelled) {
    const [{ status: how, reason }] = await Promise.allSettled([sender.cancelled]);
    if (how === 'rejected') report(() => { throw reason; });
  }
  return ['streamed'];
};
