// JSON Web Keys as a person pastes them.

export interface PastedKey {
  readonly [member: string]: unknown;
}

/** Most keys of a project; those that verify no tokens do not count. */
export const MAX_KEYS = 8;

function isKey(value: unknown): value is PastedKey {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the keys of a key set, a list, or a single key; `null` if it is none of them. */
export function keysOf(value: unknown): readonly PastedKey[] | null {
  const set = typeof value === 'object' && value !== null && !Array.isArray(value) && 'keys' in value ? value.keys : value;
  const list = Array.isArray(set) ? set : [set];
  return list.every(isKey) ? list : null;
}

/** Algorithms by the type of a key, and its curve. */
const ALGORITHMS: Readonly<Record<string, readonly string[]>> = { 'RSA': ['RS256'], 'EC P-256': ['ES256'], 'OKP Ed25519': ['EdDSA', 'Ed25519'], 'oct': ['HS256'] };

/** Whether the server can verify tokens with a key, as far as its type and its use say. */
export function isForTokens({ kty, crv, alg, use, key_ops: operations }: PastedKey): boolean {
  const algorithms = ALGORITHMS[kty === 'EC' || kty === 'OKP' ? `${kty} ${String(crv)}` : String(kty)];
  const isForSignatures = (use === undefined || use === 'sig') && (!Array.isArray(operations) || operations.includes('verify'));
  return isForSignatures && algorithms !== undefined && (alg === undefined || algorithms.includes(String(alg)));
}

/** Returns what a person knows a key by. */
export function nameOf({ kid, kty, alg }: PastedKey): string {
  return [typeof kid === 'string' ? kid : '–', alg ?? kty].filter((part) => part !== undefined).join(' · ');
}

/** Returns the keys that are sent: all, or of more than a project takes, those that were chosen and can verify tokens. */
export function chosenKeys(keys: readonly PastedKey[], chosen: ReadonlySet<number>): readonly PastedKey[] {
  return keys.filter(isForTokens).length <= MAX_KEYS ? keys : keys.filter((key, index) => isForTokens(key) && chosen.has(index));
}

/** Returns the claims of lines such as `org = https://corp.example/org`; `null` if a line is none. */
export function claimsOf(text: string): Record<string, string> | null {
  const claims: Record<string, string> = {};
  for (const line of text.split('\n').map((one) => one.trim()).filter((one) => one !== '')) {
    const [, name, path] = /^([a-z][a-z0-9_]{0,31})\s*=\s*(.{1,200})$/.exec(line) ?? [];
    if (name === undefined || path === undefined || name in claims) return null;
    claims[name] = path;
  }
  return Object.keys(claims).length <= 32 ? claims : null;
}

/** Returns claims as lines. */
export function claimLines(claims: Readonly<Record<string, string>>): string {
  return Object.entries(claims).map(([name, path]) => `${name} = ${path}`).join('\n');
}
