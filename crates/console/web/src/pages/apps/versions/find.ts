// Versions by their numbers. The API reads one by its id, and people speak of numbers.

import { useEffect, useState } from 'preact/hooks';
import { api } from '#api/client';
import { Problem, asProblem } from '#api/problem';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';

export type Version = Schemas['AppVersion'];
export type VersionWithContent = Schemas['VersionWithContent'];

const PAGE = 200;
/** Versions that were found, by app and number. Neither number nor id of a version ever changes. */
const ids = new Map<string, string>();

/** Returns the id of a version, or throws the problem that there is none. */
async function idOf(appId: string, number: number): Promise<string> {
  const known = ids.get(`${appId} ${number}`);
  if (known !== undefined) return known;
  let cursor: string | null = null;
  do {
    const page: Schemas['VersionList'] = await api.get('/v1/apps/{id}/versions', { path: { id: appId }, query: { limit: PAGE, cursor: cursor ?? undefined } });
    for (const version of page.versions) ids.set(`${appId} ${version.number}`, version.id);
    const found = ids.get(`${appId} ${number}`);
    if (found !== undefined) return found;
    cursor = page.nextCursor ?? null;
  } while (cursor !== null);
  throw new Problem(404, 'version_not_found', '');
}

export async function readVersion(appId: string, number: number): Promise<VersionWithContent> {
  return api.get('/v1/apps/{id}/versions/{versionId}', { path: { id: appId, versionId: await idOf(appId, number) } });
}

export interface FoundVersion {
  readonly data: VersionWithContent | undefined;
  readonly error: Problem | undefined;
  readonly refresh: () => void;
}

/** Reads a version with its files by its number. `null` reads none. */
export function useVersion(appId: string, number: number | null): FoundVersion {
  const [found, setFound] = useState<{ readonly number: number | null; readonly id?: string; readonly error?: Problem }>({ number: null });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let isGone = false;
    if (number !== null) {
      idOf(appId, number).then(
        (id) => isGone || setFound({ number, id }),
        (error: unknown) => isGone || setFound({ number, error: asProblem(error) }),
      );
    }
    return () => { isGone = true; };
  }, [appId, number, attempt]);
  const isFound = number !== null && found.number === number;
  const id = isFound ? found.id : undefined;
  const content = useResource('/v1/apps/{id}/versions/{versionId}', id === undefined ? null : { path: { id: appId, versionId: id } });
  return {
    data: content.data,
    error: (isFound ? found.error : undefined) ?? content.error,
    refresh: () => {
      setAttempt((count) => count + 1);
      content.refresh();
    },
  };
}
