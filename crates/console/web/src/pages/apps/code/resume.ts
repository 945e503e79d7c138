// Going on with a text that began from a version, which need not be the one that is shown.

import { api } from '#api/client';
import { asProblem } from '#api/problem';
import { toast } from '#frame';
import type { Source } from '../source';
import { t } from './messages';
import type { Editing, Version } from './use-source';

/** Reads a version; `undefined` if there is none with this id any more. */
async function findVersion(appId: string, versionId: string): Promise<Version | undefined> {
  try {
    return await api.get('/v1/apps/{id}/versions/{versionId}', { path: { id: appId, versionId } });
  } catch (error) {
    if (asProblem(error).status !== 404) throw error;
    return undefined;
  }
}

/** Puts a source into the editor as an edit of the version that it began from: if that is not the current one, the editor says so. */
export async function resumeFrom(appId: string, { base, resume }: Editing, baseId: string | null, source: Source): Promise<void> {
  if (baseId === (base?.id ?? null)) return resume(base, source);
  const from = baseId === null ? null : await findVersion(appId, baseId);
  if (from === undefined) toast(t('baseGone'), { tone: 'info' });
  return resume(from === undefined ? base : from, source);
}
