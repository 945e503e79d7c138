// An import, and the code of its app.

import { useResource, type Resource } from '#api/resource';
import type { Schemas } from '#api/types';

export type Import = Schemas['Import'];

/** Reads an import. It has no event of its own: its app's events tell that it changed, and those of connections what fits. */
export function useImport(id: string): Resource<Import> {
  return useResource('/v1/imports/{id}', { path: { id } }, { on: ['app', 'automation', 'connection'] });
}

/** Reads the app of an import; nothing if it has none any more. */
export function useImportedApp(id: string | null): Resource<Schemas['App']> {
  return useResource('/v1/apps/{id}', id === null ? null : { path: { id } }, { on: [`app:${id}`] });
}

/** Reads `main.js` of the app's current version. */
export function useMainModule(app: Schemas['App'] | undefined): string | null {
  const versionId = app?.currentVersionId ?? null;
  const version = useResource('/v1/apps/{id}/versions/{versionId}', app === undefined || versionId === null ? null : { path: { id: app.id, versionId } });
  return version.data?.files['main.js'] ?? null;
}
