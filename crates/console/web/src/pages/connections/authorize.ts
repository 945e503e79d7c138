// Connecting a service by a permission in the browser.

import { api } from '#api/client';
import { discardUnsaved } from '#frame';
import { filledValues, type CatalogueDraft } from './catalogue-form';

/** Starts the permission and leaves for the service, which leads back to the connection. */
export async function authorize(ws: string, connectorId: string, draft: CatalogueDraft, connectionId: string | null = null): Promise<void> {
  const body = { displayName: draft.displayName.trim(), values: filledValues(draft), ...(connectionId === null ? {} : { connectionId }) };
  const { redirectTo } = await api.post('/v1/workspaces/{ws}/connectors/{connectorId}/authorize', { path: { ws, connectorId }, body });
  discardUnsaved();
  location.assign(redirectTo);
}
