// The sections of this folder are joined into one module in the order of their numbers. It runs in every fresh
// context before app code. App code is handed only what `install` puts on globalThis. It may get hold of more where a
// function here calls something that it has replaced, such as `Map.prototype.get`: so nothing here is relied on, and the
// parent checks whatever comes out of the process.

/** The functions Rust lends; set by `install`. */
let native;

/** Text that survives the way through UTF-8. */
const text = (value) => `${value}`.toWellFormed();

const define = (target, members) => {
  for (const name of Object.keys(members)) {
    Object.defineProperty(target, name, {
      value: members[name], writable: true, configurable: true, enumerable: false,
    });
  }
};

/** Codes of errors that the host made; app code cannot forge an entry. */
const hostErrors = new WeakMap();

const hostError = (code, message) => {
  const error = new Error(message);
  error.code = code;
  hostErrors.set(error, code);
  return error;
};

/** The bytes of a buffer or view, without copying. Rust only learns the length that a view of a resizable buffer had at first. */
const bytesOf = (source) => {
  if (source instanceof Uint8Array && !source.buffer.resizable) return source;
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  return null;
};

const isPlain = (value) => {
  const proto = Object.getPrototypeOf(value);
  return proto === null || proto === Object.prototype;
};
