import { useEffect, useState } from 'preact/hooks';

const NARROW = matchMedia('(max-width: 900px)');

/** Whether there is no room for two columns of code. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(NARROW.matches);
  useEffect(() => {
    const read = () => setNarrow(NARROW.matches);
    NARROW.addEventListener('change', read);
    return () => NARROW.removeEventListener('change', read);
  }, []);
  return isNarrow;
}
