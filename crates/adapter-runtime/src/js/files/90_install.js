const NAMES = { __proto__: null, Blob, File, FormData };

/** What bodies of requests and answers need. */
const files = {
  isBlob,
  isForm,
  bytes: bytesIn,
  encode: encodeForm,
  decode: decodeForm,
  /** Bytes that nobody else holds, as a blob. */
  blob: (bytes, type) => new Blob(bytes, typeOf(type ?? ''), KEY),
  /** The same again, which can never change. */
  copy: (blob) => (isFile(blob) ? new File(blob, blob.name, blob.lastModified, KEY) : blob.slice(0, blob.size, blob.type)),
};

export const install = (lent) => {
  ({ native, TypeError, Uint8Array, bytesOf, text, utf8, utf8Text, now, readerOf } = lent);
  ({ defineProperty, toStringTag, syncIterator } = lent);
  const hidden = (target, key, value, writable) =>
    defineProperty(target, key, { __proto__: null, value, writable, enumerable: false, configurable: true });
  for (const name in NAMES) hidden(NAMES[name].prototype, toStringTag, name, false);
  hidden(FormData.prototype, syncIterator, FormData.prototype.entries, true);
  return { names: NAMES, files };
};
