// The input of a run, as far as it can be read.

import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';

/** Returns what the run was given, if its dead letter still has it. A run itself does not show its input. */
export function useOriginal(ws: string, run: Pick<Schemas['Run'], 'id' | 'appId'> | null): { readonly isKnown: boolean; readonly value: unknown } {
  const letters = useResource('/v1/workspaces/{ws}/dead-letters', run === null ? null : { path: { ws }, query: { runId: run.id } });
  const letter = letters.data?.items.find(({ hasPayload }) => hasPayload);
  const full = useResource('/v1/dead-letters/{id}', letter === undefined ? null : { path: { id: letter.id } });
  return { isKnown: full.data !== undefined, value: full.data?.payload };
}

const PLACE = /([\w./-]+\.[cm]?[jt]s):(\d+):(\d+)/;

export interface CodePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Returns the first place in code that a text names. */
export function placeIn(texts: readonly (string | null)[]): CodePlace | null {
  const [, file, line, column] = texts.map((text) => PLACE.exec(text ?? '')).find((found) => found !== null) ?? [];
  return file === undefined ? null : { file, line: Number(line), column: Number(column) };
}

/** Returns the query of the editor that shows the place that a text names. */
export function placeQuery(run: string, texts: readonly (string | null)[]): string {
  const place = placeIn(texts);
  return new URLSearchParams({ run, ...(place === null ? {} : { file: place.file, at: `${place.line}:${place.column}` }) }).toString();
}
