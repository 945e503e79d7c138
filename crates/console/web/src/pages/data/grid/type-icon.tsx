import { Icon } from '#ui';
import type { ColumnType } from './cells';
import { t } from './messages';

const PATHS: Readonly<Record<ColumnType, string>> = {
  text: 'M3 4h10M8 4v9',
  integer: 'M6 3L5 13M11 3l-1 10M3 6h10.5M2.5 10H13',
  real: 'M2.5 12h.01M6 4.5h3v7H6zM11 4.5h3v7h-3z',
  boolean: 'M3 3h10v10H3zM5.5 8l2 2 3.5-4',
  timestamp: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM8 4.5V8l2.5 1.5',
  json: 'M6 3c-2 0-2 1-2 2.5S3.500 8 2.500 8c1 0 1.500 1 1.500 2.500S4 13 6 13M10 3c2 0 2 1 2 2.500S12.500 8 13.500 8c-1 0-1.500 1-1.500 2.500S12 13 10 13',
};

/** Returns the word for a type. */
export function typeText(type: ColumnType): string {
  return t(`type_${type}`);
}

export function TypeIcon({ type }: { type: ColumnType }) {
  return <span class="data-type" title={typeText(type)}><Icon d={PATHS[type]} /><span class="hidden-text">{typeText(type)}</span></span>;
}
