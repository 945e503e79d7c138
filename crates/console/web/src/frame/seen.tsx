// Edits of an object that others may change meanwhile.

import { useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { tagOf, type CallOptions } from '#api/client';
import { Notice } from '#ui/feedback';
import { chooseMine } from './conflict';
import { t } from './messages';

export interface Seen {
  /** Returns a notice for the form while the saved object is not the one that the edit began from; otherwise nothing. */
  readonly notice: (isSaving: boolean) => ComponentChildren;
  /** Asks if the save would overwrite what the person has not seen. Resolves to whether to save; if not, calls `take`. */
  readonly mayOverwrite: (mine: unknown, take: () => void) => Promise<boolean>;
  /** Returns the options of the request that saves: the tag of what the person has seen, which need not be what was read last. */
  readonly precondition: () => Pick<CallOptions, 'ifMatch'>;
  /** Returns what the edit began from, as text. */
  readonly base: () => string;
  /** Goes on with an edit that began from another state, which was kept. */
  readonly resume: (base: string) => void;
}

/** Returns the tag that an object has in itself, as an item of a list does. */
function ownTag(of: object | undefined): string | null {
  const tag = (of as { readonly etag?: unknown } | undefined)?.etag;
  return typeof tag === 'string' ? tag : null;
}

/**
 * Remembers the saved object that an edit began from. The tags of the client do not: a page reads its object again when it
 * changes, and from then on a write would pass.
 *
 * `saved` is what the form edits, and `of` the object that was read, with the tag that it had.
 */
export function useSeen(saved: unknown, isDirty: boolean, of?: object): Seen {
  const now = JSON.stringify(saved);
  const tag = tagOf(of) ?? ownTag(of);
  const base = useRef({ text: now, tag });
  // Where another part of the object was changed, the edit could as well have begun from the new state.
  if (!isDirty || base.current.text === now) base.current = { text: now, tag };
  const isStale = base.current.text !== now;
  return {
    // The event of this very write may arrive before its response.
    notice: (isSaving) => isStale && !isSaving ? <Notice tone="warn"><p>{t('conflictTitle')}. {t('seenNotice')}</p></Notice> : null,
    async mayOverwrite(mine, take) {
      if (!isStale) return true;
      if (!(await chooseMine(saved, mine))) {
        take();
        return false;
      }
      base.current = { text: now, tag };
      return true;
    },
    precondition: () => ({ ifMatch: base.current.tag }),
    base: () => base.current.text,
    resume: (text) => { if (text !== now) base.current = { text, tag: null }; },
  };
}
