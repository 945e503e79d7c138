// Requests to the API.
//
// The client remembers the `ETag` of every object that it read and sends it as `If-Match` when the object is changed, so that
// nobody overwrites what they have not seen. A tag is known from when the body is: until then, nobody has seen the object.

import { signal } from '@preact/signals';
import { OFFLINE, Problem, problemOf } from './problem';
import type { Input, Method, PathOf, Reply } from './types';

/** A request before it is sent. */
export interface Call {
  readonly method: Uppercase<Method>;
  readonly url: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** URL of the object that the request changes; the request's own by default. */
  readonly changes?: string;
  /** Whether the caller deals with a conflict (412) itself, where the frame would ask the person. */
  readonly throwsConflict?: boolean;
  /** Whether the page sends it by itself. Nobody who writes is interrupted because of it. */
  readonly isBackground?: boolean;
  /** Tag of the state that the change began from; the one that was read last by default. */
  readonly ifMatch?: string | null;
  /** Reads the object as it is now, with its tag, where `changes` has no read of its own. */
  readonly readCurrent?: () => Promise<{ readonly state: unknown; readonly etag: string | null }>;
}

/** Options of a request that the API's description does not name. */
export type CallOptions = Pick<Call, 'headers' | 'signal' | 'changes' | 'throwsConflict' | 'isBackground' | 'ifMatch' | 'readCurrent'>;

export interface Answer<T> {
  readonly data: T;
  readonly headers: Headers;
}

export type ViewAs = 'viewer' | 'member' | 'builder';

/** Role as which the person looks at the workspace, below their own. Reads are sent with it; writes are refused. */
export const viewAs = signal<ViewAs | null>(null);

/** Whether the last request reached the server. */
export const reached = signal(true);

/** What the frame does about responses that need the person. Each may send the request again. */
export interface Interventions {
  /** The session has ended: 401. Resolves to whether the same person has signed in again. */
  signedOut(isBackground: boolean): Promise<boolean>;
  /** The object was changed by somebody else: 412. Resolves to the tag of what the person has seen now, if they want to overwrite it. */
  conflict(call: Call): Promise<{ readonly ifMatch: string | null } | null>;
  /** A fresh proof is needed: 403 `step_up_required`. Resolves to whether it was given. */
  stepUp(): Promise<boolean>;
}

let interventions: Interventions = { signedOut: async () => false, conflict: async () => null, stepUp: async () => false };

export function intervene(by: Interventions): void {
  interventions = by;
}

/** Tags of the bodies that were read, for as long as somebody has the body. */
const tags = new WeakMap<object, string>();

/** Returns the tag with which an object was read; `null` if it had none. */
export function tagOf(body: unknown): string | null {
  return (typeof body === 'object' && body !== null ? tags.get(body) : undefined) ?? null;
}

/** Returns `copy` with the tag of the object that it was made from. */
export function taggedAs<T extends object>(body: object, copy: T): T {
  const tag = tags.get(body);
  if (tag !== undefined) tags.set(copy, tag);
  return copy;
}

/** The tag of an object, `null` if it is not known. */
interface Known {
  readonly etag: string | null;
  /** Number of the request since when it is. */
  readonly since: number;
}

const known = new Map<string, Known>();
let requests = 0;

/** Tags that this page's own changes replaced, by URL and tag: another edit on the page need not ask because of them. */
const replaced = new Map<string, string | null>();
const MAX_REPLACED = 500;

/** Returns the tag of the state that this page's own changes made of one that was seen. */
function latestOwn(url: string, seen: string): string | null {
  let tag: string | null = seen;
  while (tag !== null && replaced.has(`${url} ${tag}`)) tag = replaced.get(`${url} ${tag}`) ?? null;
  return tag;
}

function replace(url: string, before: string, after: string | null): void {
  // A change back to an earlier state ends there.
  if (after !== null) replaced.delete(`${url} ${after}`);
  replaced.set(`${url} ${before}`, after);
  const [oldest] = replaced.keys();
  if (replaced.size > MAX_REPLACED && oldest !== undefined) replaced.delete(oldest);
}

/** Keeps a tag unless a later request has told a newer one. */
function remember(url: string, etag: string | null, since: number): void {
  if (since >= (known.get(url)?.since ?? 0)) known.set(url, { etag, since });
}

/** Paths of ceremonies, whose requests can be sent only once. */
const CEREMONIES = /^\/v1\/auth\//;

/** The latest change that succeeded, so that it can be copied as a request whichever page made it. */
export const latestChange = signal<Call | null>(null);

/** Returns the URL for a path of the description: `/v1/runs/{id}` with its parameters filled in. */
export function urlOf(path: string, input: { readonly path?: object | undefined; readonly query?: object | undefined } = {}): string {
  const values = (input.path ?? {}) as Readonly<Record<string, unknown>>;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value));
  }
  const search = query.toString();
  return search ? `${filled}?${search}` : filled;
}

function headersOf(call: Call): Headers {
  const headers = new Headers(call.headers);
  if (call.body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json');
  if (viewAs.peek() !== null) headers.set('qala-view-as', viewAs.peek() ?? '');
  const etag = tagFor(call);
  if (etag !== null) headers.set('if-match', etag);
  return headers;
}

/** Returns the tag that a change has to find. */
function tagFor({ method, changes, url, ifMatch }: Call): string | null {
  if (method === 'GET' || method === 'POST') return null;
  const changed = changes ?? url;
  return ifMatch == null ? known.get(changed)?.etag ?? null : latestOwn(changed, ifMatch);
}

async function fetchOnce(call: Call): Promise<Response> {
  const body = call.body === undefined ? null : typeof call.body === 'string' ? call.body : JSON.stringify(call.body);
  try {
    const response = await fetch(call.url, { method: call.method, headers: headersOf(call), body, signal: call.signal ?? null });
    reached.value = true;
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    reached.value = false;
    throw new Problem(0, OFFLINE, 'The server was not reached.');
  }
}

async function bodyOf(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return isJson ? response.json() : response.text();
}

/** Sends a request, and again after each intervention that says so: of each kind, one. */
export async function send<T>(call: Call): Promise<Answer<T>> {
  let current = call;
  let sent = (requests += 1);
  let found = tagFor(current);
  let response = await fetchOnce(current);
  for (const tried = new Set<Kind>(); !response.ok;) {
    const problem = await problemOf(response);
    const kind = kindOf(current, problem);
    const next = kind === null || tried.has(kind) ? null : await intervened(kind, current);
    if (kind === null || next === null) {
      // What is gone has no tag: with the last one, it could not be created again.
      if (current.method === 'GET' && problem.status === 404) remember(current.url, null, sent);
      throw problem;
    }
    tried.add(kind);
    current = next;
    sent = requests += 1;
    found = tagFor(current);
    response = await fetchOnce(current);
  }
  const data = (await bodyOf(response)) as T;
  const etag = response.headers.get('etag');
  const isStrong = etag !== null && !etag.startsWith('W/');
  if (isStrong && typeof data === 'object' && data !== null) tags.set(data, etag);
  if (call.method === 'GET' && isStrong) remember(call.url, etag, sent);
  if (call.method !== 'GET') rememberChange(current, found, etag);
  return { data, headers: response.headers };
}

/**
 * Fetches what is no JSON, such as a file: if the session has ended, again after signing in. Its problems are the caller's.
 */
export async function fetchSignedIn(url: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, init);
  if (response.status !== 401) return response;
  return (await interventions.signedOut(false)) ? fetch(url, init) : response;
}

/** After a change, the tag that was known is old. The response has the new one, or a read that is sent later does. */
function rememberChange(call: Call, found: string | null, etag: string | null): void {
  if (!CEREMONIES.test(call.url) && !call.isBackground) latestChange.value = withoutSecrets(call);
  if (found !== null) replace(call.changes ?? call.url, found, call.method === 'DELETE' ? null : etag);
  remember(call.changes ?? call.url, call.method === 'DELETE' ? null : etag, (requests += 1));
}

/** Members of bodies that nothing on the page may keep: a secret, and an export of another tool, which may have some in it. */
const HIDDEN: Readonly<Record<string, string>> = { secret: 'SECRET', source: 'SOURCE' };

/** Returns the request with placeholders for what is hidden. */
function withoutSecrets(call: Call): Call {
  const { body } = call;
  if (typeof body !== 'object' || body === null) return call;
  const hidden = Object.fromEntries(Object.entries(HIDDEN).filter(([name]) => name in body));
  return Object.keys(hidden).length === 0 ? call : { ...call, body: { ...body, ...hidden } };
}

type Kind = keyof Interventions;

/** Returns what the frame can do about a problem. */
function kindOf(call: Call, { status, code }: Problem): Kind | null {
  if (status === 401 && code === 'unauthorized') return CEREMONIES.test(call.url) ? null : 'signedOut';
  if (call.isBackground) return null;
  if (status === 412) return call.throwsConflict ? null : 'conflict';
  return code === 'step_up_required' ? 'stepUp' : null;
}

/** Returns the request to send next, if there is one. */
async function intervened(kind: Kind, call: Call): Promise<Call | null> {
  switch (kind) {
    case 'signedOut': return (await interventions.signedOut(call.isBackground ?? false)) ? call : null;
    case 'stepUp': return (await interventions.stepUp()) ? call : null;
    case 'conflict': {
      const seen = await interventions.conflict(withoutSecrets(call));
      return seen === null ? null : { ...call, ...seen };
    }
  }
}

/** Sends an operation of the API's description and returns the body of its response. */
async function operation<P extends PathOf<M>, M extends Method>(method: M, path: P, input: Input<P, M>, options: CallOptions): Promise<Reply<P, M>> {
  const { body } = input as { body?: unknown };
  const call: Call = { method: method.toUpperCase() as Uppercase<M>, url: urlOf(path, input as object), ...options, ...(body === undefined ? {} : { body }) };
  return (await send<Reply<P, M>>(call)).data;
}

type Send<M extends Method> = <P extends PathOf<M>>(path: P, input: Input<P, M>, options?: CallOptions) => Promise<Reply<P, M>>;

/** The operations of the API by method: `api.post('/v1/runs/{id}/replay', { path: { id }, body: {} })`. */
export const api: { readonly [M in Method]: Send<M> } = {
  get: (path, input, options = {}) => operation('get', path, input, options),
  post: (path, input, options = {}) => operation('post', path, input, options),
  put: (path, input, options = {}) => operation('put', path, input, options),
  patch: (path, input, options = {}) => operation('patch', path, input, options),
  delete: (path, input, options = {}) => operation('delete', path, input, options),
};
