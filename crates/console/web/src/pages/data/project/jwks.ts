// JSON Web Keys as a person pastes them.

export interface PastedKey {
  readonly kty: string;
  readonly [member: string]: unknown;
}

function isKey(value: unknown): value is PastedKey {
  return typeof value === 'object' && value !== null && typeof (value as PastedKey).kty === 'string';
}

/** Returns the keys of a key set, a list, or a single key; `null` if it is none of them. */
export function keysOf(value: unknown): readonly PastedKey[] | null {
  const set = typeof value === 'object' && value !== null && !Array.isArray(value) && 'keys' in value ? value.keys : value;
  const list = Array.isArray(set) ? set : [set];
  return list.every(isKey) ? list : null;
}
