// How one may sign in here.

import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { hasPasskeys } from '../passkeys';

type Methods = Schemas['SignInMethods'];

const UNTIL_READ: Methods = { email: true, passkeys: false, development: false, oidc: [] };

/** Returns the methods of the server that this browser can use. */
export function useMethods(): Methods {
  const listed = useResource('/v1/auth/methods', {}).data ?? UNTIL_READ;
  return { ...listed, passkeys: listed.passkeys && hasPasskeys };
}
