// The connectors that the server knows, in the person's language.

import { signal, type Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { send } from '#api/client';
import { asProblem, type Problem } from '#api/problem';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { locale, type Locale } from '#i18n';
import { t } from './messages';

export type Connector = Schemas['CatalogEntry'];

/** Connector of connections that are described by hand. */
export const HTTP = 'http';

interface State {
  readonly data: readonly Connector[] | undefined;
  readonly error: Problem | undefined;
}

const catalogues = new Map<Locale, Signal<State>>();
const reading = new Set<Locale>();

function catalogueOf(language: Locale): Signal<State> {
  const known = catalogues.get(language) ?? signal<State>({ data: undefined, error: undefined });
  catalogues.set(language, known);
  return known;
}

async function read(language: Locale): Promise<void> {
  if (reading.has(language)) return;
  reading.add(language);
  const state = catalogueOf(language);
  try {
    const { data } = await send<Schemas['ConnectorCatalog']>({ method: 'GET', url: '/v1/connector-catalog', headers: { 'accept-language': language } });
    state.value = { data: data.entries, error: undefined };
  } catch (error) {
    state.value = { data: undefined, error: asProblem(error) };
  } finally {
    reading.delete(language);
  }
}

/** Reads the catalogue once for each language: it changes only with the server. */
export function useCatalogue(): State & { readonly refresh: () => void } {
  const language = locale.value;
  const state = catalogueOf(language);
  useEffect(() => { if (state.peek().data === undefined) void read(language); }, [language]);
  return { ...state.value, refresh: () => void read(language) };
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
