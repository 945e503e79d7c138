// The streams of the Compression standard (compression.spec.whatwg.org), made of those of the Streams standard. The module is
// loaded when app code first touches a name of it. Rust converts a step of a chunk at a time; between two of them there is
// time for the reader, so that little input that becomes much is never in memory as a whole.

let native, TypeError, RangeError, Uint8Array, apply, slice, bytesOf, keepWhile, defineProperty, toStringTag;
let newTransform, enqueueTransformed, ends, after, resolved;

const shortened = (text) => apply(slice, text, [0, 40]);

const compressing = (format, compresses) => {
  const number = native.openCodec(`${format}`, compresses);
  if (number === 0) throw new RangeError('too many streams are being compressed or decompressed');
  if (number == null) throw new TypeError(`the format ${shortened(`${format}`)} is not supported; gzip, deflate and deflate-raw are`);
  // Both ends hold it, for as long as one of them can be used.
  const codec = { number };
  keepWhile(codec, number);
  const broken = () => {
    native.release(codec.number);
    return new TypeError(compresses ? 'the data could not be compressed' : 'the compressed data is not valid');
  };
  const give = (x, out) => { if (out.byteLength > 0) enqueueTransformed(x, new Uint8Array(out)); };
  const step = native.codecStep(number);
  const convert = (x, bytes, at) => {
    const out = native.convert(codec.number, bytes, at);
    if (out == null) throw broken();
    give(x, out);
    const next = at + step;
    if (next >= bytes.length) return undefined;
    return after(x.pressure ? x.change.promise : resolved(undefined), () => convert(x, bytes, next));
  };
  return ends(newTransform((x, chunk) => {
    const bytes = bytesOf(chunk);
    if (bytes === null) throw new TypeError('a chunk must be a buffer or a view');
    return convert(x, bytes, 0);
  }, (x) => {
    const out = native.finishCodec(codec.number);
    if (out == null) throw broken();
    native.release(codec.number);
    give(x, out);
  }));
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
