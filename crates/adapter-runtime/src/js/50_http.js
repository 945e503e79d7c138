const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

class Headers {
  #list = new Map();
  constructor(init) {
    if (init === undefined || init === null) return;
    if (typeof init !== 'object') throw new TypeError('headers must be an object or pairs');
    if (typeof init[Symbol.iterator] === 'function') {
      for (const pair of init) {
        const [name, value, ...more] = pair;
        if (value === undefined || more.length) throw new TypeError('each header must be a name and a value');
        this.append(name, value);
      }
    } else {
      for (const name of Object.keys(init)) this.append(name, init[name]);
    }
  }
  static nameOf(name) {
    const key = `${name}`.toLowerCase();
    if (!TOKEN.test(key)) throw new TypeError(`invalid header name: ${key.slice(0, 100)}`);
    return key;
  }
  static valueOf(value) {
    const out = text(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
    if (/[\0\r\n]/.test(out)) throw new TypeError('a header value holds a line break or NUL');
    return out;
  }
  append(name, value) {
    const key = headerName(name);
    const list = this.#list.get(key) ?? [];
    list.push(headerValue(value));
    this.#list.set(key, list);
  }
  set(name, value) { this.#list.set(headerName(name), [headerValue(value)]); }
  get(name) { return this.#list.get(headerName(name))?.join(', ') ?? null; }
  getSetCookie() { return [...(this.#list.get('set-cookie') ?? [])]; }
  has(name) { return this.#list.has(headerName(name)); }
  delete(name) { this.#list.delete(headerName(name)); }
  forEach(callback, self) { for (const [name, value] of this) callback.call(self, value, name, this); }
  *entries() {
    for (const name of [...this.#list.keys()].sort()) {
      const list = this.#list.get(name) ?? [];
      if (name === 'set-cookie') for (const value of list) yield [name, value];
      else yield [name, list.join(', ')];
    }
  }
  *keys() { for (const [name] of this.entries()) yield name; }
  *values() { for (const [, value] of this.entries()) yield value; }
  [Symbol.iterator]() { return this.entries(); }
}
const { nameOf: headerName, valueOf: headerValue } = Headers;
delete Headers.nameOf;
delete Headers.valueOf;

const flatHeaders = (headers) => {
  const flat = [];
  for (const [name, value] of headers.entries()) flat.push(name, value);
  return flat;
};
const headersFrom = (flat) => {
  const headers = new Headers();
  for (let at = 0; at < flat.length; at += 2) headers.append(flat[at], flat[at + 1]);
  return headers;
};

/** A body as bytes or a stream (null for none), and the content type it implies. */
const takeBody = (body) => {
  if (body === undefined || body === null) return [null, null];
  const bytes = bytesOf(body);
  if (bytes) return [bytes.slice(), null];
  if (body instanceof URLSearchParams) return [utf8(body), 'application/x-www-form-urlencoded;charset=UTF-8'];
  if (isStream(body)) {
    if (bodies.locked(body) || bodies.disturbed(body)) throw new TypeError('the stream is locked or was read already');
    return [body, null];
  }
  if (files?.isBlob(body)) return [files.bytes(body), body.type === '' ? null : body.type];
  if (files?.isForm(body)) return files.encode(body);
  return [utf8(body), 'text/plain;charset=UTF-8'];
};

/** All bytes of a stream, which is cancelled if the signal aborts before its end. */
const collect = async (stream, signal = null) => {
  const reader = bodies.reader(stream);
  const forget = signal && whenAborted(signal, () => { reader.cancel(reasonOf(signal)).catch(() => {}); });
  const chunks = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!(value instanceof Uint8Array)) {
      const error = notBytes(value);
      reader.cancel(error);
      throw error;
    }
    chunks.push(value);
    length += value.length;
  }
  forget?.();
  return joined(chunks, length);
};
/** Bodies of responses that are still coming, by the number of their call. */
const arriving = new Map();

/** A body of which the host has sent nothing yet. Its parts are asked for one at a time. */
class ArrivingBody {
  #call;
  /** Who waits for the next part. */
  #waiting = null;
  #isOver = false;
  /** Why it broke off, in an array; null if it did not. */
  #failure = null;
  #forget = null;
  static is(content) { return typeof content === 'object' && content !== null && #call in content; }
  static take(body, isOk, a, b) {
    const { resolve, reject } = body.#waiting;
    body.#waiting = null;
    if (!isOk) {
      const error = hostError(a, b);
      body.#end([error]);
      reject(error);
    } else if (a.byteLength === 0) {
      body.#end();
      resolve(null);
    } else {
      resolve(new Uint8Array(a));
    }
  }
  constructor(call, signal) {
    this.#call = call;
    arriving.set(call, this);
    if (signal !== null) this.#forget = whenAborted(signal, () => this.stop(reasonOf(signal)));
  }
  #end(failure = null) {
    this.#isOver = true;
    this.#failure = failure;
    arriving.delete(this.#call);
    this.#forget?.();
  }
  /** The next bytes; null at the end. */
  next() {
    if (this.#failure !== null) return Promise.reject(this.#failure[0]);
    if (this.#isOver) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      native.readBody(this.#call);
    });
  }
  /** Breaks the body off. */
  stop(reason) {
    if (this.#isOver) return;
    native.cancelCall(this.#call);
    this.#end([reason]);
    this.#waiting?.reject(reason);
    this.#waiting = null;
  }
}
const { is: isArriving, take: takeArrived } = ArrivingBody;
delete ArrivingBody.is;
delete ArrivingBody.take;

/** The host has sent the part that was asked for. */
const takePart = (call, isOk, a, b) => {
  const body = arriving.get(call);
  if (body) takeArrived(body, isOk, a, b);
};

const joined = (chunks, length) => {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
};

/** All bytes of a body that is still coming. */
const collectArriving = async (body) => {
  const chunks = [];
  let length = 0;
  for (let chunk = await body.next(); chunk !== null; chunk = await body.next()) {
    chunks.push(chunk);
    length += chunk.length;
  }
  return joined(chunks, length);
};

const notBytes = (value) =>
  new TypeError(`a body is made of Uint8Array chunks, not of ${value === null ? 'null' : typeof value === 'object' ? 'other objects' : `a ${typeof value}`}`);

/** What a message carries: bytes, or a body that is still coming, until somebody asks for the stream of them, then that stream. */
class Body {
  #content = null;
  #used = false;
  /** The signal of the `fetch` that this is a response to: what was not read when it aborts cannot be read any more. */
  #signal = null;
  static fill(body, content, signal = null) {
    body.#content = content;
    body.#signal = signal;
  }
  static peek(body) {
    const content = body.#content;
    if (isStream(content) ? bodies.disturbed(content) || bodies.locked(content) : body.#used) {
      throw new TypeError('the body was read already, or is locked to a reader');
    }
    return content;
  }
  static abortedBy(body) { return body.#signal; }
  /** A second body of the same content. */
  static split(body) {
    let content = peekBody(body);
    if (isArriving(content)) content = streamOf(body);
    if (!isStream(content)) return content;
    const [own, other] = bodies.tee(content);
    body.#content = own;
    return other;
  }
  #take() {
    const content = peekBody(this);
    if (content === null) return new Uint8Array(0);
    if (this.#signal !== null && !isStream(content) && isAborted(this.#signal)) throw reasonOf(this.#signal);
    this.#used = true;
    if (isArriving(content)) return collectArriving(content);
    return isStream(content) ? collect(content) : content;
  }
  static stream(body) {
    const content = body.#content;
    if (content === null || isStream(content)) return content;
    loadStreams();
    if (body.#used) body.#content = bodies.of(null);
    else if (isArriving(content)) body.#content = bodies.pulling(content, body.#signal);
    else body.#content = bodies.of(content.slice(), body.#signal);
    return body.#content;
  }
  get body() { return streamOf(this); }
  get bodyUsed() { return isStream(this.#content) ? bodies.disturbed(this.#content) : this.#used; }
  async bytes() { return (await this.#take()).slice(); }
  async arrayBuffer() { return (await this.#take()).slice().buffer; }
  async text() { return utf8Text(await this.#take()); }
  async json() { return JSON.parse(utf8Text(await this.#take())); }
  async blob() {
    const bytes = await this.#take();
    return loadFiles().blob(bytes.slice(), this.headers.get('content-type'));
  }
  async formData() {
    const bytes = await this.#take();
    return loadFiles().decode(bytes, this.headers.get('content-type'));
  }
}
const { fill: fillBody, peek: peekBody, split: splitBody, stream: streamOf, abortedBy } = Body;
delete Body.abortedBy;
delete Body.fill;
delete Body.peek;
delete Body.split;
delete Body.stream;

/** Stands for the signal of the visitor until code asks for it. */
const UNASKED = Symbol('unasked');
/** The signal of the request that is being answered; null until code asks for it. */
let visitor = null;
/** Why it is aborted; null while the visitor is there. */
let visitorLeft = null;
const visitorSignal = () => {
  if (visitor === null) {
    visitor = new AbortSignal(KEY);
    if (visitorLeft !== null) trip(visitor, visitorLeft);
  }
  return visitor;
};
const abortVisitor = (reason) => {
  visitorLeft = reason;
  if (visitor !== null) trip(visitor, reason);
};

class Request extends Body {
  #url;
  #method;
  #headers;
  /** The signal that this request's own follows; null for none. */
  #source = null;
  /** Made when code asks for it. */
  #signal = null;
  static sourceOf(request) {
    if (request.#source === UNASKED) request.#source = visitorSignal();
    return request.#source;
  }
  static markIncoming(request) { request.#source = UNASKED; }
  constructor(input, init) {
    super();
    init ??= {};
    const from = input instanceof Request ? input : null;
    this.#url = from ? from.url : new URL(input).href;
    const method = `${init.method ?? from?.method ?? 'GET'}`;
    if (!TOKEN.test(method)) throw new TypeError('invalid method');
    this.#method = /^(get|head|post|put|delete|options|patch)$/i.test(method) ? method.toUpperCase() : method;
    this.#headers = new Headers(init.headers ?? from?.headers);
    const { signal } = init;
    if (signal !== undefined && signal !== null && !isSignal(signal)) throw new TypeError('signal must be an AbortSignal');
    this.#source = signal === undefined ? from && sourceOf(from) : signal;
    let [content, type] = takeBody(init.body);
    if (isStream(content) && init.duplex !== 'half') throw new TypeError("a request with a stream needs duplex: 'half'");
    if (init.body === undefined && from) {
      content = peekBody(from);
      if (isStream(content)) content = bodies.proxy(content);
    }
    if (content !== null && (this.#method === 'GET' || this.#method === 'HEAD')) {
      throw new TypeError('GET and HEAD carry no body');
    }
    if (type !== null && !this.#headers.has('content-type')) this.#headers.set('content-type', type);
    fillBody(this, content);
  }
  get url() { return this.#url; }
  get duplex() { return 'half'; }
  get method() { return this.#method; }
  get headers() { return this.#headers; }
  get signal() {
    if (this.#signal === null) {
      const source = sourceOf(this);
      this.#signal = anySignal(source === null ? [] : [source]);
    }
    return this.#signal;
  }
  get redirect() { return 'follow'; }
  clone() {
    const content = splitBody(this);
    return new Request(this, content === null ? {} : { body: content, duplex: 'half' });
  }
}
const { sourceOf, markIncoming } = Request;
delete Request.sourceOf;
delete Request.markIncoming;

class Response extends Body {
  #status;
  #statusText;
  #headers;
  #url = '';
  constructor(body = null, init = {}) {
    super();
    const status = init?.status === undefined ? 200 : Number(init.status);
    if (!Number.isInteger(status) || status < 200 || status > 599) throw new RangeError('the status must be from 200 to 599');
    this.#status = status;
    this.#statusText = `${init?.statusText ?? ''}`;
    this.#headers = new Headers(init?.headers);
    const [content, type] = takeBody(body);
    if (content !== null && [204, 205, 304].includes(status)) throw new TypeError(`status ${status} carries no body`);
    if (type !== null && !this.#headers.has('content-type')) this.#headers.set('content-type', type);
    fillBody(this, content);
  }
  /** A response of the host. `content` is a buffer, or a body that is still coming. */
  static from(status, flat, content, url, signal) {
    const response = new Response();
    response.#status = status;
    response.#headers = headersFrom(flat);
    response.#url = url;
    fillBody(response, isArriving(content) ? content : new Uint8Array(content), signal);
    return response;
  }
  static json(value, init = {}) {
    const out = JSON.stringify(value);
    if (out === undefined) throw new TypeError('the value has no JSON form');
    const headers = new Headers(init?.headers);
    if (!headers.has('content-type')) headers.set('content-type', 'application/json');
    return new Response(utf8(out), { ...init, headers });
  }
  static redirect(url, status = 302) {
    if (![301, 302, 303, 307, 308].includes(status)) throw new RangeError('not a redirect status');
    return new Response(null, { status, headers: { location: new URL(url).href } });
  }
  get status() { return this.#status; }
  get statusText() { return this.#statusText; }
  get ok() { return this.#status >= 200 && this.#status < 300; }
  get headers() { return this.#headers; }
  get url() { return this.#url; }
  get redirected() { return false; }
  get type() { return 'default'; }
  clone() {
    const content = splitBody(this);
    const copy = new Response(null, { statusText: this.#statusText, headers: this.#headers });
    copy.#status = this.#status;
    copy.#url = this.#url;
    fillBody(copy, content, abortedBy(this));
    return copy;
  }
}
const { from: responseFrom } = Response;
delete Response.from;

const calls = new Map();

/** Starts a host call; `begin` gives its number, 0 when no more are allowed, less when it is too large. */
const call = (begin, finish, signal = null) => new Promise((resolve, reject) => {
  const id = begin();
  if (id === 0) throw hostError('too_many_calls', 'this run has made as many calls to the outside as it may');
  if (id < 0) throw hostError('request_too_large', 'the request is too large');
  const forget = signal && whenAborted(signal, () => {
    calls.delete(id);
    native.cancelCall(id);
    reject(reasonOf(signal));
  });
  calls.set(id, { finish, resolve, reject, forget });
});

const settle = (id, ok, a, b, c) => {
  const waiting = calls.get(id);
  if (!waiting) return;
  calls.delete(id);
  waiting.forget?.();
  if (!ok) return waiting.reject(hostError(a, b));
  try {
    waiting.resolve(waiting.finish(a, b, c, id));
  } catch (error) {
    waiting.reject(error);
  }
};

const checkSignal = (signal) => {
  if (signal !== null && isAborted(signal)) throw reasonOf(signal);
};

/** Sends the body of a request as it is written. */
const sendParts = async (id, reader) => {
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return native.endParts(id);
      if (!(value instanceof Uint8Array)) throw notBytes(value);
      if (!native.sendPart(id, value)) throw hostError('request_too_large', 'the body of the request is too long');
    }
  } catch (error) {
    reader.cancel(error).catch(() => {});
    const waiting = calls.get(id);
    // Without its body, the request is not the one that the code wanted.
    native.cancelCall(id);
    arriving.get(id)?.stop(error);
    if (!waiting) return;
    calls.delete(id);
    waiting.forget?.();
    waiting.reject(error);
  }
};

const send = async (connection, request, url) => {
  const signal = sourceOf(request);
  checkSignal(signal);
  const content = peekBody(request);
  const reader = isStream(content) ? bodies.reader(content) : null;
  let id = 0;
  const response = call(
    () => (id = native.fetch(connection, request.method, url, flatHeaders(request.headers), reader ? null : content, reader !== null)),
    (status, headers, body) => responseFrom(status, headers, body ?? new ArrivingBody(id, signal), url, signal),
    signal,
  );
  if (reader !== null) {
    if (signal !== null) whenAborted(signal, () => { reader.cancel(reasonOf(signal)).catch(() => {}); });
    if (id > 0) sendParts(id, reader);
    else reader.cancel().catch(() => {});
  }
  return response;
};

const fetch = async (input, init) => {
  const request = new Request(input, init);
  return send(null, request, request.url);
};
