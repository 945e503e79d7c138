const NAMES = { __proto__: null, CryptoKey };

export const install = (lent) => {
  ({ native, TypeError, DOMException, Uint8Array, bytesOf, parse, stringify, keepWhile, utf8 } = lent);
  ({ defineProperty, toStringTag, secretName, secretKey } = lent);
  const hidden = (target, key, value) =>
    defineProperty(target, key, { __proto__: null, value, writable: false, enumerable: false, configurable: true });
  hidden(CryptoKey.prototype, toStringTag, 'CryptoKey');
  hidden(subtle, toStringTag, 'SubtleCrypto');
  return { names: NAMES, subtle, keys: { is: isKey, copy: copyKey } };
};
