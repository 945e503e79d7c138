// The streams of the Compression standard (compression.spec.whatwg.org), made of those of the Streams standard. The module is
// loaded when app code first touches a name of it. Rust converts a step of a chunk at a time; between two of them there is
// time for the reader, so that little input that becomes much is never in memory as a whole.

let native, TypeError, RangeError, Uint8Array, apply, slice, bytesOf, keepWhile, defineProperty, toStringTag;
let newTransform, enqueueTransformed, ends, after, resolved, unblockWrite, onceWriteAborted;

const shortened = (text) => apply(slice, text, [0, 40]);

/** A stream takes one of the codecs that may exist at once from its first use to its end. */
const compressing = (format, compresses) => {
  const asked = `${format}`;
  if (asked !== 'gzip' && asked !== 'deflate' && asked !== 'deflate-raw') {
    throw new TypeError(`the format ${shortened(asked)} is not supported; gzip, deflate and deflate-raw are`);
  }
  /** What Rust has for this stream: null before the first use. Both ends hold it, for as long as one of them can be used. */
  let codec = null;
  let isOver = false;
  let isWaiting = false;
  const end = () => {
    isOver = true;
    if (codec !== null) native.release(codec.number);
  };
  /** Does a step, after whose failure the stream is of no more use. */
  const guarded = (act) => {
    try {
      return act();
    } catch (error) {
      end();
      throw error;
    }
  };
  const open = () => {
    if (codec !== null) return;
    const number = native.openCodec(asked, compresses);
    if (!number) throw new RangeError('too many streams are being compressed or decompressed');
    codec = { number, step: native.codecStep(number) };
    keepWhile(codec, number);
  };
  const give = (x, out) => {
    if (out == null) throw new TypeError(compresses ? 'the data could not be compressed' : 'the compressed data is not valid');
    if (out.byteLength > 0) enqueueTransformed(x, new Uint8Array(out));
  };
  const convert = (x, bytes, at) => {
    isWaiting = false;
    // It was cancelled or aborted in the middle of a chunk.
    if (isOver) return undefined;
    give(x, native.convert(codec.number, bytes, at));
    const next = at + codec.step;
    if (next >= bytes.length) return undefined;
    isWaiting = true;
    return after(x.pressure ? x.change.promise : resolved(undefined), () => guarded(() => convert(x, bytes, next)));
  };
  const x = newTransform((x, chunk) => guarded(() => {
    const bytes = bytesOf(chunk);
    if (bytes === null) throw new TypeError('a chunk must be a buffer or a view');
    open();
    return convert(x, bytes, 0);
  }), (x) => guarded(() => {
    open();
    const out = native.finishCodec(codec.number);
    end();
    give(x, out);
  }), end);
  onceWriteAborted(x, () => {
    end();
    if (isWaiting) unblockWrite(x);
  });
  return ends(x);
};

class CompressionStream {
  #ends;
  constructor(format) { this.#ends = compressing(format, true); }
  get readable() { return this.#ends.readable; }
  get writable() { return this.#ends.writable; }
}

class DecompressionStream {
  #ends;
  constructor(format) { this.#ends = compressing(format, false); }
  get readable() { return this.#ends.readable; }
  get writable() { return this.#ends.writable; }
}
