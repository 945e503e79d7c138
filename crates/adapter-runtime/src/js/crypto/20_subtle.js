let utf8;

const subtle = {
  async digest(algorithm, data) {
    const { name } = normalize('digest', algorithm);
    return checked(native.digest(name, dataOf(data, 'the data')));
  },
  async importKey(format, data, algorithm, extractable, usages) {
    const kind = formatOf(format);
    const { json } = normalize('import keys', algorithm);
    const asked = usagesOf(usages);
    const secret = secretName(data);
    // Whatever the code asks for, the key of a secret cannot be exported.
    if (secret !== null) return wrap(checked(native.importSecret(await secretKey(secret, asked), kind, json, asked)));
    const bytes = kind === 'jwk' ? jwkBytes(data, utf8) : dataOf(data, 'the key');
    return wrap(checked(native.importKey(kind, json, bytes, Boolean(extractable), asked)));
  },
  async exportKey(format, key) {
    const kind = formatOf(format);
    const out = checked(native.exportKey(kind, numberOf(key)));
    return typeof out === 'string' ? parse(out) : out;
  },
  async generateKey(algorithm, extractable, usages) {
    const { json, publicExponent } = normalize('generate keys', algorithm);
    const out = checked(native.generateKey(json, publicExponent, Boolean(extractable), usagesOf(usages)));
    if (typeof out === 'number') return wrap(out);
    const { publicKey, privateKey } = parse(out);
    return { publicKey: wrap(publicKey), privateKey: wrap(privateKey) };
  },
  async sign(algorithm, key, data) {
    const { json } = normalize('sign', algorithm);
    return checked(native.sign(json, numberOf(key), dataOf(data, 'the data')));
  },
  async verify(algorithm, key, signature, data) {
    const { json } = normalize('verify', algorithm);
    return checked(native.verify(json, numberOf(key), dataOf(signature, 'the signature'), dataOf(data, 'the data')));
  },
  async encrypt(algorithm, key, data) {
    const { json, iv, additionalData } = normalize('encrypt', algorithm);
    return checked(native.encrypt(json, numberOf(key), iv, additionalData, dataOf(data, 'the data')));
  },
  async decrypt(algorithm, key, data) {
    const { json, iv, additionalData } = normalize('decrypt', algorithm);
    return checked(native.decrypt(json, numberOf(key), iv, additionalData, dataOf(data, 'the data')));
  },
  async deriveBits(algorithm, key, length = null) {
    const { json, salt, info } = normalize('derive bits', algorithm);
    const bits = length === null ? null : integer(2 ** 32 - 1)(length, 'the length');
    return checked(native.deriveBits(json, numberOf(key), salt, info, bits));
  },
  async deriveKey(algorithm, key, derived, extractable, usages) {
    const { json, salt, info } = normalize('derive bits', algorithm);
    const made = [normalize('derive keys', derived).json, Boolean(extractable), usagesOf(usages)];
    return wrap(checked(native.deriveKey(json, numberOf(key), salt, info, made)));
  },
};
