// Requests to the API.
//
// The client remembers the `ETag` of every object that it read and sends it as `If-Match` when the object is changed, so that
// nobody overwrites what they have not seen.

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
}

/** Options of a request that the API's description does not name. */
export type CallOptions = Pick<Call, 'headers' | 'signal' | 'changes' | 'throwsConflict'>;

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
  /** The session has ended. */
  signedOut(): void;
  /** The object was changed by somebody else: 412. Resolves to whether to send the request again. */
  conflict(call: Call): Promise<boolean>;
  /** A fresh proof is needed: 403 `step_up_required`. Resolves to whether it was given. */
  stepUp(): Promise<boolean>;
}

let interventions: Interventions = { signedOut: () => undefined, conflict: async () => false, stepUp: async () => false };

export function intervene(by: Interventions): void {
  interventions = by;
}

/** The tag of an object, `null` if it is not known. */
interface Known {
  readonly etag: string | null;
  /** Number of the request since when it is. */
  readonly since: number;
}

const known = new Map<string, Known>();
let requests = 0;

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
  const etag = call.method === 'GET' ? null : known.get(call.changes ?? call.url)?.etag ?? null;
  if (etag !== null && call.method !== 'POST') headers.set('if-match', etag);
  return headers;
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

/** Sends a request, and once more if an intervention says so. */
export async function send<T>(call: Call): Promise<Answer<T>> {
  let sent = (requests += 1);
  let response = await fetchOnce(call);
  if (!response.ok) {
    const problem = await problemOf(response);
    if (!(await mended(call, problem))) throw problem;
    sent = requests += 1;
    response = await fetchOnce(call);
    if (!response.ok) throw await problemOf(response);
  }
  const etag = response.headers.get('etag');
  if (call.method === 'GET' && etag !== null && !etag.startsWith('W/')) remember(call.url, etag, sent);
  if (call.method !== 'GET') rememberChange(call, etag);
  return { data: (await bodyOf(response)) as T, headers: response.headers };
}

/** After a change, the tag that was known is old. The response has the new one, or a read that is sent later does. */
function rememberChange(call: Call, etag: string | null): void {
  if (!CEREMONIES.test(call.url)) latestChange.value = withoutSecrets(call);
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

async function mended(call: Call, problem: Problem): Promise<boolean> {
  if (problem.status === 401 && problem.code === 'unauthorized') interventions.signedOut();
  if (problem.status === 412) return call.throwsConflict ? false : interventions.conflict(call);
  if (problem.code === 'step_up_required') return interventions.stepUp();
  return false;
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
