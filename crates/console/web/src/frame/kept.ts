// Unsaved text, as this browser keeps it: for each person and address, until it is saved, given up or old.
//
// It is what a person typed into a form that they may see. A secret is never among it: forms leave theirs out.

const PREFIX = 'qala-unsaved/';
const MAX_AGE = 14 * 24 * 60 * 60 * 1_000;
/** Characters of one text; a browser keeps about five million of a site. */
const MAX_LENGTH = 1_500_000;

export interface Kept {
  /** When it was kept, in milliseconds. */
  readonly at: number;
  readonly value: unknown;
  /** What was saved when the edit began, as text; `null` for what is new. */
  readonly base: string | null;
}

let owner: string | null = null;

/** Says whose text is kept from now on; nobody's without a person. */
export function keepFor(person: string | null): void {
  owner = person;
}

/** Returns the name under which a form of this address keeps its text; `null` if nobody is signed in. */
export function keptName(form: string): string | null {
  return owner === null ? null : `${PREFIX}${owner}${location.pathname}#${form}`;
}

function names(): string[] {
  return Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index) ?? '').filter((name) => name.startsWith(PREFIX));
}

function parse(name: string): Kept | null {
  try {
    const kept = JSON.parse(localStorage.getItem(name) ?? 'null') as Kept | null;
    return typeof kept?.at === 'number' ? kept : null;
  } catch {
    return null;
  }
}

/** Returns what was kept under a name, unless it is old. */
export function readKept(name: string): Kept | null {
  const kept = parse(name);
  return kept !== null && kept.at > Date.now() - MAX_AGE ? kept : null;
}

/** Keeps a text, and returns whether it did. Where a browser has no room left, the oldest ones make room. */
export function keep(name: string, value: unknown, base: string | null): boolean {
  const text = JSON.stringify({ at: Date.now(), value, base } satisfies Kept);
  if (text.length > MAX_LENGTH) {
    forget(name);
    return false;
  }
  const others = names().filter((one) => one !== name).map((one) => ({ one, at: parse(one)?.at ?? 0 })).sort((a, b) => a.at - b.at);
  for (const { one, at } of others) if (at < Date.now() - MAX_AGE) forget(one);
  for (const oldest of [null, ...others]) {
    if (oldest !== null) forget(oldest.one);
    try {
      localStorage.setItem(name, text);
      return true;
    } catch {
      // Full, or forbidden: then nothing is kept, and the browser still asks before the tab is closed.
    }
  }
  return false;
}

export function forget(name: string): void {
  try {
    localStorage.removeItem(name);
  } catch {
    // A browser that keeps nothing has nothing to forget.
  }
}

/** Forgets all that was kept of the person, who signs out. */
export function forgetAll(): void {
  if (owner === null) return;
  for (const name of names()) if (name.startsWith(`${PREFIX}${owner}/`)) forget(name);
}
