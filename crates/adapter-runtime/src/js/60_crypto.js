const INTEGER_VIEWS = [
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array,
];

const crypto = {
  getRandomValues(view) {
    if (!INTEGER_VIEWS.some((kind) => view instanceof kind)) throw new TypeError('getRandomValues takes an integer view');
    if (view.byteLength > 65536) throw new DOMException('at most 65536 bytes at once', 'QuotaExceededError');
    bytesOf(view).set(new Uint8Array(native.random(view.byteLength)));
    return view;
  },
  randomUUID() {
    const bytes = new Uint8Array(native.random(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  },
  get subtle() {
    loadKeys();
    return subtle;
  },
};
