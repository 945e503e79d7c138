// Parts of a long table, of which only those near the window are drawn.

import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Rows of a part. */
export const CHUNK = 50;
/** Parts that are drawn at first. */
const FIRST = 4;
/** Height of a row until its part was drawn, in pixels. */
const ROW = 41;
/** Pixels beyond the window in which parts are drawn. */
const NEAR = '1200px';

interface ChunkProps {
  readonly index: number;
  readonly count: number;
  readonly columns: number;
  /** Whether it is drawn wherever it is, because the keyboard is in it. */
  readonly isPinned: boolean;
  readonly children: () => ComponentChildren;
}

/** A `<tbody>` that leaves its height free while it is far away. */
export function Chunk({ index, count, columns, isPinned, children }: ChunkProps) {
  const element = useRef<HTMLTableSectionElement>(null);
  const height = useRef(count * ROW);
  const [isNear, setNear] = useState(index < FIRST);
  useEffect(() => {
    if (!element.current) return undefined;
    const observer = new IntersectionObserver((entries) => {
      // A busy page is told of several changes at once; the last one is how it is.
      const entry = entries.at(-1);
      if (!entry) return;
      if (!entry.isIntersecting) height.current = entry.boundingClientRect.height || height.current;
      setNear(entry.isIntersecting);
    }, { rootMargin: NEAR });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  if (isNear || isPinned) return <tbody ref={element}>{children()}</tbody>;
  return <tbody ref={element} aria-hidden="true"><tr class="list-gap" style={{ '--height': `${height.current}px` }}><td colSpan={columns} /></tr></tbody>;
}

/** Keeps the widths of the columns of a long table, which would otherwise change with the rows that are drawn. */
export function useColumnWidths(table: RefObject<HTMLTableElement | null>, isLong: boolean): readonly number[] | null {
  const [widths, setWidths] = useState<readonly number[] | null>(null);
  useLayoutEffect(() => {
    if (isLong && widths === null && table.current) setWidths([...(table.current.tHead?.rows[0]?.cells ?? [])].map(({ offsetWidth }) => offsetWidth).filter((width) => width > 0));
  });
  useEffect(() => {
    const measureAgain = () => setWidths(null);
    window.addEventListener('resize', measureAgain);
    return () => window.removeEventListener('resize', measureAgain);
  }, []);
  return isLong ? widths : null;
}
