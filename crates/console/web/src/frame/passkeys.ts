// Passkeys, with the browser's own reading of their JSON.

import { api } from '#api/client';

/** Whether this browser and address can use passkeys at all. */
export const hasPasskeys = typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential && isSecureContext;

type Options<T> = { readonly publicKey: T };

/** A credential as the API's description has it: an object, without its members. */
type Credential = Record<string, never>;

/** Asks for a passkey and returns the browser's answer to the challenge. */
export async function answerChallenge(options: unknown): Promise<Credential> {
  const { publicKey } = options as Options<PublicKeyCredentialRequestOptionsJSON>;
  const credential = await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) });
  return (credential as PublicKeyCredential).toJSON() as unknown as Credential;
}

/** Creates a passkey and returns the browser's answer to the challenge. */
export async function createPasskey(options: unknown): Promise<Credential> {
  const { publicKey } = options as Options<PublicKeyCredentialCreationOptionsJSON>;
  const credential = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) });
  return (credential as PublicKeyCredential).toJSON() as unknown as Credential;
}

/** Proves afresh who the person is. */
export async function stepUp(): Promise<void> {
  const { ceremonyId, options } = await api.post('/v1/auth/passkeys/step-up/start', {});
  const credential = await answerChallenge(options);
  await api.post('/v1/auth/passkeys/step-up/finish', { body: { ceremonyId, credential } });
}
