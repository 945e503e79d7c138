// A connection that is described by hand, as its form holds it.

import type { Schemas } from '#api/types';

type Auth = Schemas['ConnectionAuth'];
export type AuthType = Auth['type'];
export type Method = Schemas['HttpMethod'];

/** Kinds of authentication that a person can choose. */
export const AUTH_TYPES = ['bearer', 'api_key', 'basic', 'headers', 'path_token', 'oauth2_client_credentials', 'service_account', 'none'] as const satisfies readonly AuthType[];
export const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export interface HttpDraft {
  readonly displayName: string;
  readonly baseUrl: string;
  readonly type: AuthType;
  readonly prefix: string;
  readonly username: string;
  readonly place: Schemas['KeyPlace'];
  readonly keyName: string;
  /** Names of headers, separated by commas. */
  readonly names: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Scopes, separated by spaces. */
  readonly scopes: string;
  readonly style: Schemas['ClientAuthStyle'];
  readonly audience: string;
  readonly subject: string;
  readonly methods: readonly Method[];
  readonly pathPrefix: string;
  readonly testPath: string;
  /** Headers of every request, one a line: `Name: value`. */
  readonly headers: string;
  readonly secret: string;
}

const EMPTY: HttpDraft = {
  displayName: '', baseUrl: '', type: 'bearer', prefix: '', username: '', place: 'header', keyName: '', names: '', tokenUrl: '', clientId: '', scopes: '', style: 'basic', audience: '', subject: '',
  methods: ['GET'], pathPrefix: '', testPath: '', headers: '', secret: '',
};

export function newHttpDraft(): HttpDraft {
  return EMPTY;
}

export function httpDraftOf(displayName: string, http: Schemas['HttpConnection']): HttpDraft {
  const { baseUrl, auth, methods, pathPrefix, testPath, headers } = http;
  return { ...EMPTY, ...partsOf(auth), displayName, baseUrl, type: auth.type, methods, pathPrefix, testPath: testPath ?? '', headers: headers.map(({ name, value }) => `${name}: ${value}`).join('\n') };
}

function partsOf(auth: Auth): Partial<HttpDraft> {
  switch (auth.type) {
    case 'bearer': return { prefix: auth.prefix ?? '' };
    case 'basic': return { username: auth.username };
    case 'api_key': return { place: auth.in, keyName: auth.name, prefix: auth.prefix ?? '' };
    case 'headers': return { names: auth.names.join(', ') };
    case 'oauth2_client_credentials': return { tokenUrl: auth.tokenUrl, clientId: auth.clientId, scopes: auth.scopes.join(' '), style: auth.style };
    case 'service_account': return { tokenUrl: auth.tokenUrl, scopes: auth.scopes.join(' '), audience: auth.audience ?? '', subject: auth.subject ?? '' };
    default: return {};
  }
}

const words = (text: string, separator: RegExp) => text.split(separator).map((word) => word.trim()).filter((word) => word !== '');
const optional = <N extends string>(name: N, text: string): { readonly [K in N]?: string } => (text.trim() === '' ? {} : ({ [name]: text.trim() } as { readonly [K in N]: string }));

function authOf(draft: HttpDraft): Auth {
  const { type } = draft;
  const scopes = words(draft.scopes, /[\s,]+/);
  switch (type) {
    case 'bearer': return { type, ...optional('prefix', draft.prefix) };
    case 'basic': return { type, username: draft.username.trim() };
    case 'api_key': return { type, in: draft.place, name: draft.keyName.trim(), ...optional('prefix', draft.prefix) };
    case 'headers': return { type, names: words(draft.names, /[\s,]+/) };
    case 'oauth2_client_credentials': return { type, tokenUrl: draft.tokenUrl.trim(), clientId: draft.clientId.trim(), scopes, style: draft.style };
    case 'service_account': return { type, tokenUrl: draft.tokenUrl.trim(), scopes, ...optional('audience', draft.audience), ...optional('subject', draft.subject) };
    default: return { type };
  }
}

function headersOf({ headers }: HttpDraft): { name: string; value: string }[] {
  return words(headers, /\n/).map((line) => {
    const at = line.indexOf(':');
    return at < 0 ? { name: line, value: '' } : { name: line.slice(0, at).trim(), value: line.slice(at + 1).trim() };
  });
}

/** Returns the request. An empty secret is left out: then the stored one stays. */
export function httpBody(draft: HttpDraft, saved?: Schemas['HttpConnection']): Schemas['DescribeHttpConnection'] {
  return {
    displayName: draft.displayName.trim(), baseUrl: draft.baseUrl.trim(), auth: authOf(draft), methods: METHODS.filter((method) => draft.methods.includes(method)), headers: headersOf(draft),
    testable: saved?.testable ?? true, ...(saved?.preset ? { preset: saved.preset } : {}),
    ...optional('pathPrefix', draft.pathPrefix), ...optional('testPath', draft.testPath), ...(draft.secret === '' || draft.type === 'none' ? {} : { secret: draft.secret }),
  };
}

/** Fields of the form, as the server names them. */
export const HTTP_FIELDS: readonly string[] = [
  'displayName', 'baseUrl', 'auth', 'auth.prefix', 'auth.username', 'auth.name', 'auth.names', 'auth.tokenUrl', 'auth.clientId', 'auth.scopes', 'auth.audience', 'auth.subject',
  'methods', 'pathPrefix', 'testPath', 'headers', 'secret',
];
