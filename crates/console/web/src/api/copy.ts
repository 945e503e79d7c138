// A request as something to paste into a shell.

import type { Call } from './client';

function quoted(text: string): string {
  return /^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function bodyText({ body }: Pick<Call, 'body'>): string | null {
  if (body === undefined) return null;
  return typeof body === 'string' ? body : JSON.stringify(body);
}

export type Copied = Pick<Call, 'method' | 'url' | 'body'>;

/** Returns the request for `curl`, with a token that the reader puts in. */
export function asCurl(call: Copied): string {
  const body = bodyText(call);
  const parts = ['curl', '-H', '"Authorization: Bearer $QALA_TOKEN"'];
  if (call.method !== 'GET') parts.push('-X', call.method);
  if (body !== null) parts.push('-H', quoted('Content-Type: application/json'), '-d', quoted(body));
  return [...parts, quoted(new URL(call.url, location.origin).href)].join(' ');
}
