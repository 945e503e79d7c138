// The preview of an invite, which the API's description does not have yet.

import type { Schemas } from '#api/types';

export interface InvitePreview {
  readonly workspaceName: string;
  readonly inviterName: string | null;
  readonly role: Schemas['InviteRole'];
  readonly accessEndsAt: string | null;
  readonly expiresAt: string;
}

/** Returns the URL of the preview. */
export function previewUrl(token: string): string {
  return `/v1/invites/${encodeURIComponent(token)}`;
}
