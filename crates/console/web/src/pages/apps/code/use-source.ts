// What is edited: the source of a version, changed and not yet saved.

import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { Schemas } from '#api/types';
import { onTop } from '../merge';
import { MANIFEST, changesBetween, sourceOf, textsOf, type Source } from '../source';

export type Version = Schemas['VersionWithContent'];

const EMPTY: Source = { files: {}, manifest: '' };

export interface Editing {
  /** The version that the edit began from; `null` if the app has none. */
  readonly base: Version | null;
  readonly original: Source;
  readonly source: Source;
  /** What differs from the base. */
  readonly changes: ReturnType<typeof changesBetween>;
  /** Whether the person has changed anything. An app without a version begins with code that nobody wrote. */
  readonly isTouched: boolean;
  setText(tab: string, text: string): void;
  add(path: string): void;
  rename(from: string, to: string): void;
  remove(path: string): void;
  replace(source: Source): void;
  /** Begins again from another version, with its source. */
  restart(base: Version): void;
  /** Goes on with an edit that was begun from a version. */
  resume(base: Version | null, source: Source): void;
  /** Takes another version as the base, and keeps what was edited. What was not is that version's. */
  rebase(base: Version): void;
}

function without(files: Source['files'], path: string): Source['files'] {
  return Object.fromEntries(Object.entries(files).filter(([name]) => name !== path));
}

/** Edits the source of `current`, or what an app without a version begins with. */
export function useSource(current: Version | null, first: Source): Editing {
  const [base, setBase] = useState(current);
  const [source, setSource] = useState(current === null ? first : sourceOf(current));
  const original = useMemo(() => (base === null ? EMPTY : sourceOf(base)), [base]);
  const changes = useMemo(() => changesBetween(textsOf(original), textsOf(source)), [original, source]);
  const restart = useCallback((next: Version) => {
    setBase(next);
    setSource(sourceOf(next));
  }, []);
  // A newer version takes the place of one that nobody has changed.
  const isTouched = base === null ? changesBetween(textsOf(first), textsOf(source)).length > 0 : changes.length > 0;
  useEffect(() => { if (!isTouched && current !== null && current.id !== base?.id) restart(current); }, [isTouched, current, base, restart]);
  const setFiles = (change: (files: Source['files']) => Source['files']) => setSource((now) => ({ ...now, files: change(now.files) }));
  return {
    base, original, source, changes, isTouched,
    setText: (tab, text) => (tab === MANIFEST ? setSource((now) => ({ ...now, manifest: text })) : setFiles((files) => ({ ...files, [tab]: text }))),
    add: (path) => setFiles((files) => ({ ...files, [path]: '' })),
    rename: (from, to) => setFiles((files) => ({ ...without(files, from), [to]: files[from] ?? '' })),
    remove: (path) => setFiles((files) => without(files, path)),
    replace: setSource,
    restart,
    resume: (from, edited) => {
      setBase(from);
      setSource(edited);
    },
    rebase: (next) => {
      setBase(next);
      setSource(onTop(original, sourceOf(next), source));
    },
  };
}
