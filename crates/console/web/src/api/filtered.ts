// Lists that the API does not filter: the console does, over all of what there is.

import { useEffect } from 'preact/hooks';
import type { List } from './list';

/** Returns the list with what fits. Until its end was read, that nothing fits is not known, and it is not complete. */
export function filteredOf<T>(list: List<T>, fits: (item: T) => boolean): List<T> {
  const items = list.items.filter(fits);
  return { ...list, items, held: list.held.filter(fits), isComplete: list.isComplete && (items.length > 0 || !list.hasMore) };
}

/** Filters a list, and reads it to its end, so that nothing that fits is missed. Pass `null` as long as there is no filter. */
export function useFiltered<T>(list: List<T>, fits: ((item: T) => boolean) | null): List<T> {
  const needsMore = fits !== null && list.hasMore && !list.loading && list.error === undefined;
  useEffect(() => { if (needsMore) list.loadMore(); }, [needsMore, list.items.length]);
  return fits === null ? list : filteredOf(list, fits);
}
