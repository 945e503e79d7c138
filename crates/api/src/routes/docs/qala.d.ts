// Types of the runtime of Qala's apps. Use them with `"lib": ["es2023"]` and without types of other platforms, such as DOM:
//
//   /** @type {Qala.App} */
//   export default { async scheduled(event, env, ctx) { … } };
//
// or, in TypeScript, `export default { … } satisfies Qala.App<Env>`. What is not declared here does not exist at run time.

declare namespace Qala {
  /** The default export of `main.js`: one handler or both. */
  interface App<E extends Env = Env> {
    /** Runs for a webhook, a form, a schedule, an event, a person or an agent. What it returns is the result of the run. */
    scheduled?(event: ScheduledEvent, env: E, ctx: Context): unknown;
    /** Responds over HTTP. */
    fetch?(request: Request, env: E, ctx: Context): Response | Promise<Response>;
  }

  interface ScheduledEvent<Data = any> {
    readonly trigger: 'webhook' | 'form' | 'schedule' | 'manual' | 'event';
    /** What the trigger came with, any JSON; `null` if it came with nothing. Integers beyond 53 bits are texts of their digits. */
    readonly data: Data;
    /** The text of `data`: JSON as it was sent, without white space around it. */
    readonly text: string;
    /** Intended start of the run, in milliseconds since 1970. */
    readonly scheduledTime: number;
    /** Expression of the schedule, if one started the run. */
    readonly cron: string | null;
    readonly runId: string;
    /** Number of the attempt, 1 for the first. */
    readonly attempt: number;
    /** Does nothing; other platforms have it. */
    noRetry(): void;
  }

  /** What the manifest permits, by the names that it gives. */
  interface Env {
    readonly data: Readonly<Record<string, Project>>;
    readonly connections: Readonly<Record<string, Connection>>;
    /** A handle, or the text of a secret that an admin shows to the code. */
    readonly secrets: Readonly<Record<string, Secret | string>>;
  }

  interface Context {
    /** Awaits a promise before the invocation ends. */
    waitUntil(promise: Promise<unknown>): void;
    /** Does nothing; other platforms have it. */
    passThroughOnException(): void;
    /** Asks a person. The invocation ends here, and the run begins again with the answer. */
    approval(question: { title: string; detail?: string | null }): Promise<Approval>;
  }

  interface Approval {
    readonly approved: boolean;
    /** True if nobody answered in seven days. */
    readonly expired: boolean;
    readonly [member: string]: unknown;
  }

  /** Integers beyond 53 bits are texts of their digits, and are written so. */
  type Row = { [column: string]: any };
  /** A query of the data API, such as `{ done: 'eq.false', order: 'created_at.desc', limit: '10' }`. */
  type Query = string | Record<string, string> | URLSearchParams;

  /** The rows of a backend project. */
  interface Project {
    select<R extends Row = Row>(table: string, query?: Query | null): Promise<R[]>;
    get<R extends Row = Row>(table: string, id: string): Promise<R | null>;
    /** Inserts one row or at most 500, and returns them. */
    insert<R extends Row = Row>(table: string, rows: Row | readonly Row[]): Promise<R[]>;
    /** Updates the rows that the query selects, and returns them. The query needs a filter. */
    update<R extends Row = Row>(table: string, query: Query, values: Row): Promise<R[]>;
    /** Deletes the rows that the query selects, and returns them. The query needs a filter. */
    delete<R extends Row = Row>(table: string, query: Query): Promise<R[]>;
  }

  /** A service with a stored credential, which is added to each request outside of the code. */
  interface Connection {
    /** Takes a path below the connection's base URL. */
    fetch(path: string, init?: RequestInit): Promise<Response>;
  }

  /** A secret that the code never sees: `crypto.subtle.importKey` makes a key of it, and headers may have its text. */
  interface Secret {
    toString(): string;
    toJSON(): string;
  }

  /** An error of the gate, of rows or of a connection. */
  interface HostError extends Error {
    /** Such as `egress_denied` or `timeout`. */
    readonly code: string;
  }
}

// Console, timers, text.

declare const console: {
  debug(...values: unknown[]): void;
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
  trace(...values: unknown[]): void;
  assert(condition?: unknown, ...values: unknown[]): void;
  clear(): void;
  dir(value?: unknown): void;
  dirxml(...values: unknown[]): void;
  table(value?: unknown): void;
  count(label?: string): void;
  countReset(label?: string): void;
  time(label?: string): void;
  timeEnd(label?: string): void;
  timeLog(label?: string, ...values: unknown[]): void;
  group(...values: unknown[]): void;
  groupCollapsed(...values: unknown[]): void;
  groupEnd(): void;
};
declare const self: typeof globalThis;
declare const navigator: { readonly userAgent: string };
declare const performance: { now(): number; readonly timeOrigin: number };
declare function setTimeout<A extends unknown[]>(callback: (...values: A) => void, delay?: number, ...values: A): number;
declare function setInterval<A extends unknown[]>(callback: (...values: A) => void, delay?: number, ...values: A): number;
declare function clearTimeout(timer: number | undefined): void;
declare function clearInterval(timer: number | undefined): void;
declare function queueMicrotask(callback: () => void): void;
declare function structuredClone<T>(value: T): T;
declare function atob(text: string): string;
declare function btoa(text: string): string;

type BufferSource = ArrayBufferView | ArrayBuffer;

declare class TextEncoder {
  readonly encoding: 'utf-8';
  encode(text?: string): Uint8Array<ArrayBuffer>;
  encodeInto(text: string, into: Uint8Array): { read: number; written: number };
}
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(bytes?: BufferSource, options?: { stream?: boolean }): string;
}

// Events.

type EventListener = ((event: any) => void) | { handleEvent(event: any): void };
interface ListenerOptions { capture?: boolean; once?: boolean; passive?: boolean; signal?: AbortSignal }

declare class Event {
  constructor(type: string, init?: { bubbles?: boolean; cancelable?: boolean; composed?: boolean });
  readonly type: string;
  readonly target: EventTarget | null;
  readonly currentTarget: EventTarget | null;
  readonly srcElement: EventTarget | null;
  readonly eventPhase: number;
  readonly isTrusted: boolean;
  readonly composed: boolean;
  readonly bubbles: boolean;
  readonly cancelable: boolean;
  readonly defaultPrevented: boolean;
  readonly timeStamp: number;
  cancelBubble: boolean;
  returnValue: boolean;
  composedPath(): EventTarget[];
  preventDefault(): void;
  stopPropagation(): void;
  stopImmediatePropagation(): void;
}
declare class CustomEvent<T = any> extends Event {
  constructor(type: string, init?: { bubbles?: boolean; cancelable?: boolean; composed?: boolean; detail?: T });
  readonly detail: T;
}
declare class EventTarget {
  addEventListener(type: string, listener: EventListener | null, options?: boolean | ListenerOptions): void;
  removeEventListener(type: string, listener: EventListener | null, options?: boolean | { capture?: boolean }): void;
  dispatchEvent(event: Event): boolean;
}
// Numbers of errors and phases, such as `DOMException.ABORT_ERR`, are left out: compare `name` and `type`.

declare class DOMException extends Error {
  constructor(message?: string, name?: string | { name?: string; cause?: unknown });
  readonly name: string;
  readonly message: string;
  readonly code: number;
}
declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}
declare class AbortSignal extends EventTarget {
  private constructor();
  static abort(reason?: unknown): AbortSignal;
  static timeout(milliseconds: number): AbortSignal;
  static any(signals: Iterable<AbortSignal>): AbortSignal;
  readonly aborted: boolean;
  readonly reason: any;
  onabort: ((event: Event) => void) | null;
  throwIfAborted(): void;
}

// URLs.

declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string | URL, base?: string | URL): boolean;
  static parse(url: string | URL, base?: string | URL): URL | null;
  href: string;
  readonly origin: string;
  protocol: string;
  username: string;
  password: string;
  host: string;
  hostname: string;
  port: string;
  pathname: string;
  search: string;
  readonly searchParams: URLSearchParams;
  hash: string;
  toString(): string;
  toJSON(): string;
}
declare class URLSearchParams {
  constructor(init?: string | Record<string, string> | Iterable<readonly [string, string]> | URLSearchParams);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(callback: (value: string, name: string, all: URLSearchParams) => void): void;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  entries(): IterableIterator<[string, string]>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
  toString(): string;
}

// Streams.

interface QueuingStrategy<T = any> { highWaterMark?: number; size?(chunk: T): number }
interface PipeOptions { preventClose?: boolean; preventAbort?: boolean; preventCancel?: boolean; signal?: AbortSignal }
interface UnderlyingSource<T> {
  start?(controller: ReadableStreamDefaultController<T>): unknown;
  pull?(controller: ReadableStreamDefaultController<T>): unknown;
  cancel?(reason?: any): unknown;
}
interface UnderlyingSink<T> {
  start?(controller: WritableStreamDefaultController): unknown;
  write?(chunk: T, controller: WritableStreamDefaultController): unknown;
  close?(): unknown;
  abort?(reason?: any): unknown;
}
interface Transformer<I, O> {
  start?(controller: TransformStreamDefaultController<O>): unknown;
  transform?(chunk: I, controller: TransformStreamDefaultController<O>): unknown;
  flush?(controller: TransformStreamDefaultController<O>): unknown;
  cancel?(reason?: any): unknown;
}
interface ReadableWritablePair<R, W> { readonly readable: ReadableStream<R>; readonly writable: WritableStream<W> }

declare class ReadableStream<T = any> {
  constructor(source?: UnderlyingSource<T>, strategy?: QueuingStrategy<T>);
  static from<T>(items: Iterable<T> | AsyncIterable<T>): ReadableStream<T>;
  readonly locked: boolean;
  cancel(reason?: any): Promise<void>;
  getReader(): ReadableStreamDefaultReader<T>;
  pipeThrough<R>(pair: ReadableWritablePair<R, T>, options?: PipeOptions): ReadableStream<R>;
  pipeTo(destination: WritableStream<T>, options?: PipeOptions): Promise<void>;
  tee(): [ReadableStream<T>, ReadableStream<T>];
  values(options?: { preventCancel?: boolean }): AsyncIterableIterator<T>;
  [Symbol.asyncIterator](): AsyncIterableIterator<T>;
}
declare class ReadableStreamDefaultController<T = any> {
  private constructor();
  readonly desiredSize: number | null;
  enqueue(chunk: T): void;
  close(): void;
  error(reason?: any): void;
}
declare class ReadableStreamDefaultReader<T = any> {
  constructor(stream: ReadableStream<T>);
  readonly closed: Promise<undefined>;
  read(): Promise<{ done: false; value: T } | { done: true; value: undefined }>;
  cancel(reason?: any): Promise<void>;
  releaseLock(): void;
}
declare class WritableStream<T = any> {
  constructor(sink?: UnderlyingSink<T>, strategy?: QueuingStrategy<T>);
  readonly locked: boolean;
  abort(reason?: any): Promise<void>;
  close(): Promise<void>;
  getWriter(): WritableStreamDefaultWriter<T>;
}
declare class WritableStreamDefaultController {
  private constructor();
  readonly signal: AbortSignal;
  error(reason?: any): void;
}
declare class WritableStreamDefaultWriter<T = any> {
  constructor(stream: WritableStream<T>);
  readonly closed: Promise<undefined>;
  readonly desiredSize: number | null;
  readonly ready: Promise<undefined>;
  write(chunk: T): Promise<void>;
  close(): Promise<void>;
  abort(reason?: any): Promise<void>;
  releaseLock(): void;
}
declare class TransformStream<I = any, O = any> {
  constructor(transformer?: Transformer<I, O>, writable?: QueuingStrategy<I>, readable?: QueuingStrategy<O>);
  readonly readable: ReadableStream<O>;
  readonly writable: WritableStream<I>;
}
declare class TransformStreamDefaultController<O = any> {
  private constructor();
  readonly desiredSize: number | null;
  enqueue(chunk: O): void;
  error(reason?: any): void;
  terminate(): void;
}
declare class ByteLengthQueuingStrategy {
  constructor(init: { highWaterMark: number });
  readonly highWaterMark: number;
  size(chunk: ArrayBufferView | ArrayBuffer): number;
}
declare class CountQueuingStrategy {
  constructor(init: { highWaterMark: number });
  readonly highWaterMark: number;
  size(chunk: unknown): number;
}
declare class TextEncoderStream {
  readonly encoding: 'utf-8';
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly writable: WritableStream<string>;
}
declare class TextDecoderStream {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  readonly readable: ReadableStream<string>;
  readonly writable: WritableStream<BufferSource>;
}
type CompressionFormat = 'gzip' | 'deflate' | 'deflate-raw';
declare class CompressionStream {
  constructor(format: CompressionFormat);
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly writable: WritableStream<BufferSource>;
}
declare class DecompressionStream {
  constructor(format: CompressionFormat);
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly writable: WritableStream<BufferSource>;
}

// Files and forms.

type BlobPart = BufferSource | Blob | string;
declare class Blob {
  constructor(parts?: Iterable<BlobPart>, options?: { type?: string; endings?: 'transparent' | 'native' });
  readonly size: number;
  readonly type: string;
  slice(start?: number, end?: number, type?: string): Blob;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  text(): Promise<string>;
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>;
}
declare class File extends Blob {
  constructor(parts: Iterable<BlobPart>, name: string, options?: { type?: string; endings?: 'transparent' | 'native'; lastModified?: number });
  readonly name: string;
  readonly lastModified: number;
  readonly webkitRelativePath: string;
}
type FormDataEntryValue = File | string;
declare class FormData {
  append(name: string, value: string | Blob, filename?: string): void;
  delete(name: string): void;
  get(name: string): FormDataEntryValue | null;
  getAll(name: string): FormDataEntryValue[];
  has(name: string): boolean;
  set(name: string, value: string | Blob, filename?: string): void;
  forEach(callback: (value: FormDataEntryValue, name: string, all: FormData) => void): void;
  keys(): IterableIterator<string>;
  values(): IterableIterator<FormDataEntryValue>;
  entries(): IterableIterator<[string, FormDataEntryValue]>;
  [Symbol.iterator](): IterableIterator<[string, FormDataEntryValue]>;
}

// Fetch.

type HeadersInit = Headers | Record<string, string | Qala.Secret> | Iterable<readonly [string, string | Qala.Secret]>;
type BodyInit = string | BufferSource | Blob | FormData | URLSearchParams | ReadableStream<Uint8Array>;

declare class Headers {
  constructor(init?: HeadersInit);
  append(name: string, value: string | Qala.Secret): void;
  delete(name: string): void;
  get(name: string): string | null;
  getSetCookie(): string[];
  has(name: string): boolean;
  set(name: string, value: string | Qala.Secret): void;
  forEach(callback: (value: string, name: string, all: Headers) => void): void;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  entries(): IterableIterator<[string, string]>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}
interface Body {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  readonly bodyUsed: boolean;
  arrayBuffer(): Promise<ArrayBuffer>;
  blob(): Promise<Blob>;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  formData(): Promise<FormData>;
  json(): Promise<any>;
  text(): Promise<string>;
}
/** `manual` gives the response that redirects, `error` refuses it. */
type RequestRedirect = 'follow' | 'manual' | 'error';
interface RequestInit {
  method?: string;
  headers?: HeadersInit;
  body?: BodyInit | null;
  signal?: AbortSignal | null;
  redirect?: RequestRedirect;
  /** Needed for a body that is a stream. */
  duplex?: 'half';
}
declare class Request implements Body {
  constructor(input: string | URL | Request, init?: RequestInit);
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** Requests with GET and HEAD follow redirects, as far as the gate allows each. */
  readonly redirect: RequestRedirect;
  readonly duplex: 'half';
  readonly signal: AbortSignal;
  clone(): Request;
}
interface Request extends Body {}
interface ResponseInit { status?: number; statusText?: string; headers?: HeadersInit }
declare class Response implements Body {
  constructor(body?: BodyInit | null, init?: ResponseInit);
  static error(): Response;
  static json(value: unknown, init?: ResponseInit): Response;
  static redirect(url: string | URL, status?: number): Response;
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly headers: Headers;
  readonly url: string;
  readonly redirected: boolean;
  readonly type: string;
  clone(): Response;
}
interface Response extends Body {}
declare function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;

// Cryptography.

type KeyUsage = 'sign' | 'verify' | 'encrypt' | 'decrypt' | 'deriveBits' | 'deriveKey';
type AlgorithmIdentifier = string | { name: string; [parameter: string]: any };
interface JsonWebKey { kty?: string; [member: string]: any }
declare class CryptoKey {
  private constructor();
  readonly type: 'secret' | 'private' | 'public';
  readonly extractable: boolean;
  readonly algorithm: { readonly name: string; readonly [parameter: string]: any };
  readonly usages: KeyUsage[];
}
interface CryptoKeyPair { readonly publicKey: CryptoKey; readonly privateKey: CryptoKey }
declare const crypto: {
  getRandomValues<T extends ArrayBufferView>(into: T): T;
  randomUUID(): string;
  readonly subtle: {
    decrypt(algorithm: AlgorithmIdentifier, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
    deriveBits(algorithm: AlgorithmIdentifier, key: CryptoKey, length: number): Promise<ArrayBuffer>;
    deriveKey(algorithm: AlgorithmIdentifier, key: CryptoKey, derived: AlgorithmIdentifier, extractable: boolean, usages: readonly KeyUsage[]): Promise<CryptoKey>;
    digest(algorithm: AlgorithmIdentifier, data: BufferSource): Promise<ArrayBuffer>;
    encrypt(algorithm: AlgorithmIdentifier, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
    exportKey(format: 'jwk', key: CryptoKey): Promise<JsonWebKey>;
    exportKey(format: 'raw' | 'spki' | 'pkcs8', key: CryptoKey): Promise<ArrayBuffer>;
    generateKey(algorithm: AlgorithmIdentifier, extractable: boolean, usages: readonly KeyUsage[]): Promise<CryptoKey | CryptoKeyPair>;
    importKey(format: 'jwk', key: JsonWebKey, algorithm: AlgorithmIdentifier, extractable: boolean, usages: readonly KeyUsage[]): Promise<CryptoKey>;
    /** Takes a secret of the app in place of bytes; such a key is never extractable. */
    importKey(format: 'raw' | 'spki' | 'pkcs8', key: BufferSource | Qala.Secret, algorithm: AlgorithmIdentifier, extractable: boolean, usages: readonly KeyUsage[]): Promise<CryptoKey>;
    sign(algorithm: AlgorithmIdentifier, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
    verify(algorithm: AlgorithmIdentifier, key: CryptoKey, signature: BufferSource, data: BufferSource): Promise<boolean>;
  };
};
