// The title of the document: what is shown, and where.

import { useEffect } from 'preact/hooks';
import { workspace } from './session';

/** Sets the title for as long as the component is shown. */
export function useTitle(title: string): void {
  const place = workspace.value?.name;
  useEffect(() => {
    document.title = [title, place, 'Qala'].filter(Boolean).join(' · ');
  }, [title, place]);
}
