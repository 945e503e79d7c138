// How one may sign in here.

import { useUrl } from '#api/resource';
import { hasPasskeys } from '#frame/passkeys';
import { serverMain } from '#frame/server-page';

export interface Issuer {
  readonly name: string;
  readonly title: string;
}

export interface Methods {
  readonly passkeys: boolean;
  /** Whether any address may sign in without proof. */
  readonly development: boolean;
  readonly oidc: readonly Issuer[];
}

const ISSUER_PATH = /^\/v1\/auth\/oidc\/([^/]+)\/start/;

/** Reads the methods off the page that the server rendered, for servers that do not list them. */
function methodsOnPage(): Methods {
  const links = [...(serverMain?.querySelectorAll<HTMLAnchorElement>('a[href^="/v1/auth/oidc/"]') ?? [])];
  const oidc = links.flatMap((link) => {
    const name = ISSUER_PATH.exec(link.getAttribute('href') ?? '')?.[1];
    return name === undefined ? [] : [{ name, title: name }];
  });
  return { passkeys: true, development: serverMain?.querySelector('form[action="/sign-in/dev"]') != null, oidc };
}

/** Returns the methods of the server that this browser can use. */
export function useMethods(): Methods {
  const listed = useUrl<Methods>('/v1/auth/methods').data ?? methodsOnPage();
  return { ...listed, passkeys: listed.passkeys && hasPasskeys };
}
