// Joining two changes of one source.

import { manifestText, parseManifest, type Manifest, type Source } from './source';

const textOf = (value: unknown) => JSON.stringify(value);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns `mine` with what `theirs` changed of `base`. Where both changed the same, `mine` stays; lists are compared by their items. */
export function mergeJson(base: unknown, theirs: unknown, mine: unknown): unknown {
  if (textOf(theirs) === textOf(base)) return mine;
  if (textOf(mine) === textOf(base)) return theirs;
  if (Array.isArray(mine) && Array.isArray(theirs)) {
    const [before, their, own] = [Array.isArray(base) ? base : [], theirs, mine].map((list) => new Set(list.map(textOf)));
    const stays = mine.filter((item) => their?.has(textOf(item)) || !before?.has(textOf(item)));
    return [...stays, ...theirs.filter((item) => !before?.has(textOf(item)) && !own?.has(textOf(item)))];
  }
  if (isObject(mine) && isObject(theirs)) {
    const before = isObject(base) ? base : {};
    const names = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])];
    return Object.fromEntries(names.map((name) => [name, mergeJson(before[name], theirs[name], mine[name])] as const).filter(([, value]) => value !== undefined));
  }
  return mine;
}

/** Merges manifests. One that is not JSON cannot be merged: then `mine` stays. */
export function mergeManifests(base: string, theirs: string, mine: string): string {
  if (theirs === base) return mine;
  if (mine === base) return theirs;
  const [before, their, own] = [base, theirs, mine].map(parseManifest);
  return their && own ? manifestText(mergeJson(before, their, own) as Manifest) : mine;
}

/** Returns `mine` on top of `theirs`: what only they changed of `base` is theirs. */
export function onTop(base: Source, theirs: Source, mine: Source): Source {
  const names = new Set([base, theirs, mine].flatMap(({ files }) => Object.keys(files)));
  const files = [...names].map((name) => [name, mine.files[name] === base.files[name] ? theirs.files[name] : mine.files[name]] as const);
  return { files: Object.fromEntries(files.filter((entry): entry is readonly [string, string] => entry[1] !== undefined)), manifest: mergeManifests(base.manifest, theirs.manifest, mine.manifest) };
}
