const crypto = {
  getRandomValues(view) {
    if (!ArrayBuffer.isView(view)) throw new TypeError('getRandomValues takes an integer view');
    if (!/int/i.test(arrayKind(view) ?? '')) throw new DOMException('getRandomValues takes an integer view', 'TypeMismatchError');
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
Object.defineProperty(crypto, Symbol.toStringTag, { value: 'Crypto', configurable: true });
