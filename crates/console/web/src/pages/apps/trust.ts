// Why a version has its trust score.
//
// The API returns the score alone. These are the rules of `docs/apps.md`, so that each point that is missing gets a sentence. If
// they do not add up to the score that the server gave, nothing is explained.

import type { Files, Manifest } from './source';

export type TrustRule = 'hosts' | 'hostsWrite' | 'connections' | 'secretsClear' | 'projectsWrite' | 'projectsWhole' | 'models' | 'eval' | 'function' | 'import' | 'proto' | 'undeclared' | 'size';

export interface TrustFinding {
  readonly rule: TrustRule;
  readonly points: number;
  readonly count: number;
  /** A file or a host that shows it. */
  readonly example: string;
}

/** Names that a call has. */
const CALLED: readonly (readonly [TrustRule, string])[] = [['eval', 'eval'], ['function', 'Function'], ['import', 'import']];
const TOKENS: readonly (readonly [TrustRule, string])[] = [...CALLED.map(([rule, name]) => [rule, `${name}(`] as const), ['proto', '__proto__']];
const MANY_KIB = 200;

/** Whether the text has the token and no longer name ends in it: `medieval` does not call `eval`. */
function hasToken(text: string, token: string): boolean {
  for (let at = text.indexOf(token); at >= 0; at = text.indexOf(token, at + 1)) {
    if (!/[\p{L}\p{N}_$]/u.test(text[at - 1] ?? '')) return true;
  }
  return false;
}

function undeclaredHosts(declared: readonly string[], files: Files): readonly string[] {
  const hostOf = (rest: string) => /^[a-z0-9.-]*/i.exec(rest)?.[0].toLowerCase() ?? '';
  const named = Object.values(files).flatMap((text) => text.split('https://').slice(1).map(hostOf));
  return [...new Set(named)].filter((host) => host.includes('.') && !declared.includes(host));
}

/** Returns what takes points off the score. */
export function findingsOf({ permissions = {} }: Manifest, files: Files): readonly TrustFinding[] {
  const { egress = [], connectors = [], secrets = [], data = [], ai } = permissions;
  const paths = Object.keys(files).sort();
  const sorted = Object.fromEntries(paths.map((path) => [path, files[path] ?? '']));
  const undeclared = undeclaredHosts(egress.map(({ host }) => host), sorted);
  const writing = egress.filter(({ methods }) => !methods || methods.some((method) => method !== 'GET'));
  const kib = Math.floor(new TextEncoder().encode(Object.values(sorted).join('')).length / 1_024);
  const finding = (rule: TrustRule, count: number, each: number, most: number, example = ''): TrustFinding => ({ rule, count, points: Math.min(count * each, most), example });
  return [
    finding('hosts', egress.length, 3, 20),
    finding('hostsWrite', writing.length, 2, 10),
    finding('connections', connectors.length, 5, 20),
    finding('secretsClear', secrets.filter(({ clear }) => clear).length, 5, 15),
    finding('projectsWrite', data.filter(({ access }) => access === 'write').length, 4, 12),
    finding('projectsWhole', data.filter(({ tables }) => !tables).length, 2, 6),
    finding('models', ai ? 1 : 0, 5, 5),
    ...TOKENS.map(([rule, token]) => {
      const path = paths.find((name) => hasToken(sorted[name] ?? '', token));
      return finding(rule, path === undefined ? 0 : 1, 15, 15, path);
    }),
    finding('undeclared', undeclared.length, 10, 30, undeclared[0]),
    { rule: 'size' as const, count: kib, points: kib > MANY_KIB ? 10 : 0, example: '' },
  ].filter(({ points }) => points > 0);
}

/** Returns what explains the score, or `null` if these rules are not the server's. */
export function explainScore(score: number, manifest: Manifest, files: Files): readonly TrustFinding[] | null {
  const findings = findingsOf(manifest, files);
  const sum = findings.reduce((total, { points }) => total + points, 0);
  return Math.max(0, 100 - sum) === score ? findings : null;
}
