const NAMES = { __proto__: null, CompressionStream, DecompressionStream };

export const install = (lent) => {
  ({ native, TypeError, RangeError, Uint8Array, apply, slice, bytesOf, keepWhile, defineProperty, toStringTag } = lent);
  ({ newTransform, enqueueTransformed, ends, after, resolved, unblockWrite, onceWriteAborted } = lent.ofStreams());
  for (const name in NAMES) {
    defineProperty(NAMES[name].prototype, toStringTag, {
      __proto__: null, value: name, writable: false, enumerable: false, configurable: true,
    });
  }
  return { names: NAMES };
};
