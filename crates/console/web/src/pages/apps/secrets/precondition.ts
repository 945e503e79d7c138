// Changes of a secret that somebody else may change meanwhile.

import { urlOf, type CallOptions } from '#api/client';
import { ofItem } from '#api/listed';
import type { Schemas } from '#api/types';

/** Returns the options of a change of the secret that the person has seen. */
export function secretPrecondition(app: string, secret: Schemas['AppSecret']): CallOptions {
  const url = urlOf('/v1/apps/{id}/secrets', { path: { id: app } });
  return ofItem<Schemas['AppSecretList']>(secret, url, ({ items }) => items.find(({ name }) => name === secret.name));
}
