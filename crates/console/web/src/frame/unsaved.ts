// Work that would be lost.

import { useEffect } from 'preact/hooks';
import { confirm } from '#ui/confirm';
import { t } from './messages';

const dirty = new Set<symbol>();

window.addEventListener('beforeunload', (event) => {
  if (dirty.size > 0) event.preventDefault();
});

/** Asks before the person leaves, as long as `isDirty`. */
export function useUnsaved(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return undefined;
    const mark = Symbol('unsaved');
    dirty.add(mark);
    return () => void dirty.delete(mark);
  }, [isDirty]);
}

/** Resolves to whether the person may leave the page. */
export async function mayLeave(): Promise<boolean> {
  if (dirty.size === 0) return true;
  const leaves = await confirm({ title: t('unsavedTitle'), body: t('unsavedBody'), action: t('unsavedLeave'), tone: 'bad' });
  if (leaves) dirty.clear();
  return leaves;
}

/** Forgets unsaved work, after it was saved or given up. */
export function discardUnsaved(): void {
  dirty.clear();
}
