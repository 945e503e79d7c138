// Rows of which only those in sight are drawn.

import { useEffect, useState } from 'preact/hooks';

export interface VirtualRows {
  readonly first: number;
  /** Index after the last row that is drawn. */
  readonly end: number;
  /** Pixels to leave free above and below the drawn rows. */
  readonly before: number;
  readonly after: number;
}

const OVERSCAN = 12;
/** Rows by which one scrolls until others are drawn. */
const STEP = 4;

/** Returns which of `count` rows of one height to draw in the scrolling element. */
export function useVirtualRows(scroller: { readonly current: HTMLElement | null }, { count, height }: { count: number; height: number }): VirtualRows {
  const [{ top, size }, setWindow] = useState({ top: 0, size: 800 });
  useEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const step = STEP * height;
    const read = () => {
      const top = Math.floor(element.scrollTop / step) * step;
      const size = element.clientHeight + step;
      setWindow((before) => (before.top === top && before.size === size ? before : { top, size }));
    };
    const observer = new ResizeObserver(read);
    observer.observe(element);
    element.addEventListener('scroll', read, { passive: true });
    read();
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', read);
    };
  }, [scroller, height]);
  const first = Math.max(0, Math.floor(top / height) - OVERSCAN);
  const end = Math.min(count, Math.ceil((top + size) / height) + OVERSCAN);
  return { first, end, before: first * height, after: (count - end) * height };
}
