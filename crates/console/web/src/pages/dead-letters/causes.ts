// Dead letters by what caused them: the app, the error and its place.

import type { Schemas } from '#api/types';

type Letter = Schemas['DeadLetterSummary'];

export interface Cause {
  readonly key: string;
  readonly message: string;
  readonly appId: string;
  readonly appName: string;
  readonly letters: readonly Letter[];
  /** Times of the first and the last one. */
  readonly first: string;
  readonly last: string;
}

const PLACE = /[\w./-]+\.[cm]?[jt]s:\d+:\d+/;

/** Returns what failures of one cause have in common: the place in the code, else the message without what differs from call to call. */
function sameness(message: string): string {
  return PLACE.exec(message)?.[0] ?? message.replace(/"[^"]*"|'[^']*'|`[^`]*`/g, '…').replace(/[0-9a-f]{8,}|\d+/gi, '#');
}

/** Groups dead letters, the largest group first. */
export function causesOf(letters: readonly Letter[]): Cause[] {
  const groups = new Map<string, Letter[]>();
  for (const letter of letters) {
    const key = [letter.appId, letter.kind, letter.reason, sameness(letter.message)].join('\n');
    const group = groups.get(key);
    if (group) group.push(letter);
    else groups.set(key, [letter]);
  }
  return [...groups].map(([key, group]) => {
    const times = group.map(({ createdAt }) => createdAt).sort();
    const [newest] = group;
    return { key, message: newest?.message ?? '', appId: newest?.appId ?? '', appName: newest?.appName ?? '', letters: group, first: times[0] ?? '', last: times.at(-1) ?? '' };
  }).sort((a, b) => b.letters.length - a.letters.length);
}
