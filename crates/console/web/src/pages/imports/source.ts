// The text of an export, as it is sent.

import { minifyJson } from '#ui/json-text';

/** Most characters of an export. */
export const MAX_SOURCE = 400_000;
/** Bytes of a file that is read at all. */
export const MAX_FILE_BYTES = 20 << 20;

export type Prepared =
  | { readonly source: string; /** Number of characters before the text was made shorter; `null` if it is as it was. */ readonly minifiedFrom: number | null }
  | { readonly problem: 'json' | 'long'; readonly length: number };

const PAIRS = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g;

/** Returns the number of characters as the server counts them. */
export function lengthOf(text: string): number {
  return text.length - (text.match(PAIRS)?.length ?? 0);
}

/** Leaves a text that fits as it is, and takes the white space out of one that is too long. */
export function prepareSource(text: string): Prepared {
  const length = text.length <= MAX_SOURCE ? text.length : lengthOf(text);
  if (length <= MAX_SOURCE) return { source: text, minifiedFrom: null };
  let source: string;
  try {
    JSON.parse(text);
    source = minifyJson(text);
  } catch {
    return { problem: 'json', length };
  }
  const minified = lengthOf(source);
  return minified <= MAX_SOURCE ? { source, minifiedFrom: length } : { problem: 'long', length: minified };
}
