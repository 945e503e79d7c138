// The failed run that somebody came from: where its error is, and what it was given.

import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { query } from '#frame';
import { useOriginal } from '../../runs/original';
import type { Located } from '../located';

export interface FailedRun {
  readonly run: Schemas['Run'];
  /** The place of the error, in the file that the address names. */
  readonly place: Located | null;
  readonly input: ReturnType<typeof useOriginal>;
}

/** Reads the run that the address names, if it is one of this app's. */
export function useFailedRun(ws: string, appId: string): FailedRun | null {
  const id = query.value.get('run');
  const run = useResource('/v1/runs/{id}', id === null ? null : { path: { id } }).data;
  const input = useOriginal(ws, run ?? null);
  if (!run || run.appId !== appId) return null;
  const [line, column] = (query.value.get('at') ?? '').split(':').map(Number);
  const file = query.value.get('file');
  const place = file !== null && line !== undefined && line > 0 ? { tab: file, line, column: column ?? 1, message: run.errorMessage ?? '' } : null;
  return { run, place, input };
}
