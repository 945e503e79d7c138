// Sending a file to a table, with the progress that the server reports.

import { fetchSignedIn } from '#api/client';
import { OFFLINE, Problem, problemOf } from '#api/problem';

export type FileKind = 'csv' | 'json' | 'ndjson';

const MEDIA_TYPES: Readonly<Record<FileKind, string>> = { csv: 'text/csv', json: 'application/json', ndjson: 'application/x-ndjson' };

export interface ImportProgress {
  readonly step: 'checked' | 'written';
  readonly rows: number;
}

export interface ImportResult {
  readonly rows: number;
  readonly imported: number;
  /** Columns that were left out, as the server names them. */
  readonly ignoredColumns: readonly string[];
}

type Line = Partial<Record<'checked' | 'written' | 'imported' | 'rows', number>> & {
  readonly ignoredColumns?: readonly string[];
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string | null };
  readonly requestId?: string;
};

/** Sends the file. Rejects with the problem of the first row that does not fit; then nothing was written. */
export async function importRows(url: string, kind: FileKind, body: Blob, onProgress: (progress: ImportProgress) => void, signal: AbortSignal): Promise<ImportResult> {
  const response = await fetchSignedIn(url, { method: 'POST', headers: { 'content-type': MEDIA_TYPES[kind], accept: 'application/x-ndjson' }, body, signal })
    .catch((error: unknown) => { throw signal.aborted ? error : new Problem(0, OFFLINE, 'The server was not reached.'); });
  if (!response.ok || response.body === null) throw await problemOf(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    const lines = (rest + chunk.value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const result = take(line, onProgress);
      if (result) return result;
    }
  }
  const result = take(rest, onProgress);
  if (result) return result;
  throw new Problem(0, OFFLINE, 'The response ended too early.');
}

function take(text: string, onProgress: (progress: ImportProgress) => void): ImportResult | null {
  if (text.trim() === '') return null;
  const line = JSON.parse(text) as Line;
  if (line.error) throw new Problem(400, line.error.code, line.error.message, line.error.hint ?? null, line.requestId ?? null);
  if (line.imported !== undefined) return { rows: line.rows ?? line.imported, imported: line.imported, ignoredColumns: line.ignoredColumns ?? [] };
  if (line.checked !== undefined) onProgress({ step: 'checked', rows: line.checked });
  if (line.written !== undefined) onProgress({ step: 'written', rows: line.written });
  return null;
}
