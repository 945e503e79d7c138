// Edits of an object that others may change meanwhile.

import { useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { Notice } from '#ui/feedback';
import { chooseMine } from './conflict';
import { t } from './messages';

export interface Seen {
  /** Returns a notice for the form while the saved object is not the one that the edit began from; otherwise nothing. */
  readonly notice: (isSaving: boolean) => ComponentChildren;
  /** Asks if the save would overwrite what the person has not seen. Resolves to whether to save; if not, calls `take`. */
  readonly mayOverwrite: (mine: unknown, take: () => void) => Promise<boolean>;
}

/**
 * Remembers the saved object that an edit began from. The tags of the client do not: a page reads its object again when it
 * changes, and from then on a write would pass.
 */
export function useSeen(saved: unknown, isDirty: boolean): Seen {
  const now = JSON.stringify(saved);
  const base = useRef(now);
  if (!isDirty) base.current = now;
  const isStale = base.current !== now;
  return {
    // The event of this very write may arrive before its response.
    notice: (isSaving) => isStale && !isSaving ? <Notice tone="warn"><p>{t('conflictTitle')}. {t('seenNotice')}</p></Notice> : null,
    async mayOverwrite(mine, take) {
      if (!isStale) return true;
      if (!(await chooseMine(saved, mine))) {
        take();
        return false;
      }
      base.current = now;
      return true;
    },
  };
}
