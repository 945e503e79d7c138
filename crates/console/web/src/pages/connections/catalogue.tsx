// The connectors that the server knows, in the person's language.

import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { useTranslated } from '#api/translated';
import { t } from './messages';

export type Connector = Schemas['CatalogEntry'];

/** Connector of connections that are described by hand. */
export const HTTP = 'http';

/** Reads the catalogue. */
export function useCatalogue() {
  const { data, error, refresh } = useTranslated<Schemas['ConnectorCatalog']>('/v1/connector-catalog');
  return { data: data?.entries, error, refresh };
}

/** Returns the ids of the connectors that the workspace's profile allows, once they were read. */
export function useAllowed(ws: string): readonly string[] | undefined {
  return useResource('/v1/workspaces/{ws}/connections', { path: { ws }, query: { limit: 1 } }, { on: ['workspace'] }).data?.allowed;
}

/** Returns the ids of the connectors that are connected by a permission in the browser, once they were read. */
export function useOauthReady(ws: string): readonly string[] | undefined {
  return useResource('/v1/workspaces/{ws}/connections', { path: { ws }, query: { limit: 1 } }, { on: ['workspace'] }).data?.oauthReady;
}

/** Returns why nobody can connect this service now, or `null`. */
export function notChoosable({ status, connectorId }: Connector, allowed: readonly string[] | undefined): string | null {
  if (status === 'planned' || connectorId === null) return t('reason_planned');
  if (status === 'needs-oauth-app') return t('reason_oauth');
  return allowed === undefined || allowed.includes(connectorId) ? null : t('reason_profile');
}

/** The letters that stand for a connector. */
export function Monogram({ children }: { children: string }) {
  return <span class="connections-monogram" aria-hidden="true">{children}</span>;
}
