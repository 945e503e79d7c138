const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

class Headers {
  #list = new Map();
  constructor(init) {
    if (init === undefined || init === null) return;
    if (typeof init !== 'object') throw new TypeError('headers must be an object or pairs');
    if (typeof init[Symbol.iterator] === 'function') {
      for (const pair of init) {
        const [name, value, ...more] = typeof pair === 'string' ? [] : pair;
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
    if (/[^\0-\xff]/.test(out)) throw new TypeError('a header value holds a character above U+00FF');
    if (/[\0\r\n]/.test(out)) throw new TypeError('a header value holds a line break or NUL');
    return out;
  }
  /** Headers that code can only read. */
  #isImmutable = false;
  static seal(headers) {
    headers.#isImmutable = true;
    return headers;
  }
  #change(given, needed) {
    if (given < needed) throw new TypeError(`${needed} arguments are needed, and ${given} are there`);
    if (this.#isImmutable) throw new TypeError('the headers are immutable; copy them with new Headers()');
  }
  append(name, value) {
    this.#change(arguments.length, 2);
    const key = headerName(name);
    const list = this.#list.get(key) ?? [];
    list.push(headerValue(value));
    this.#list.set(key, list);
  }
  set(name, value) {
    this.#change(arguments.length, 2);
    this.#list.set(headerName(name), [headerValue(value)]);
  }
  get(name) { return this.#list.get(headerName(name))?.join(', ') ?? null; }
  getSetCookie() { return [...(this.#list.get('set-cookie') ?? [])]; }
  has(name) { return this.#list.has(headerName(name)); }
  delete(name) {
    this.#change(arguments.length, 1);
    this.#list.delete(headerName(name));
  }
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
const { nameOf: headerName, valueOf: headerValue, seal: sealHeaders } = Headers;
delete Headers.nameOf;
delete Headers.seal;
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
  /** Takes the content for another body, which is the only one to read it. */
  static transfer(body) {
    const content = peekBody(body);
    if (content === null) return null;
    if (isStream(content)) return bodies.proxy(content);
    body.#used = true;
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
const { fill: fillBody, peek: peekBody, split: splitBody, stream: streamOf, transfer: transferBody, abortedBy } = Body;
delete Body.abortedBy;
delete Body.fill;
delete Body.peek;
delete Body.split;
delete Body.stream;
delete Body.transfer;

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

/** Methods that are written in upper case (Fetch, section 2.2.1), and those that no code may send. */
const NORMALIZED = /^(delete|get|head|options|post|put)$/i;
const FORBIDDEN = /^(connect|trace|track)$/i;

/** The URL of a request, which names nobody. */
const requestUrl = (input) => {
  const url = new URL(input);
  if (url.username !== '' || url.password !== '') throw new TypeError('the URL of a request holds credentials; send a header');
  return url.href;
};

class Request extends Body {
  #url;
  #method;
  #headers;
  #redirect;
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
    this.#url = from ? from.url : requestUrl(input);
    const method = `${init.method ?? from?.method ?? 'GET'}`;
    if (!TOKEN.test(method) || FORBIDDEN.test(method)) throw new TypeError('invalid method');
    this.#method = NORMALIZED.test(method) ? method.toUpperCase() : method;
    this.#redirect = `${init.redirect ?? from?.redirect ?? 'follow'}`;
    if (!['follow', 'manual', 'error'].includes(this.#redirect)) throw new TypeError('redirect must be follow, manual or error');
    if (`${init.integrity ?? ''}` !== '') throw new TypeError('integrity is not supported: check a digest of the body');
    this.#headers = new Headers(init.headers ?? from?.headers);
    const { signal } = init;
    if (signal !== undefined && signal !== null && !isSignal(signal)) throw new TypeError('signal must be an AbortSignal');
    this.#source = signal === undefined ? from && sourceOf(from) : signal;
    let [content, type] = takeBody(init.body);
    if (isStream(content) && init.duplex !== 'half') throw new TypeError("a request with a stream needs duplex: 'half'");
    const isHandedOn = from !== null && (init.body === undefined || init.body === null);
    if (isHandedOn) content = peekBody(from);
    if (content !== null && (this.#method === 'GET' || this.#method === 'HEAD')) {
      throw new TypeError('GET and HEAD carry no body');
    }
    if (isHandedOn) content = transferBody(from);
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
  get redirect() { return this.#redirect; }
  clone() {
    const content = splitBody(this);
    return new Request(this, content === null ? {} : { body: content, duplex: 'half' });
  }
}
const { sourceOf, markIncoming } = Request;
delete Request.sourceOf;
delete Request.markIncoming;

/** A reason phrase (RFC 9112, section 4). */
const REASON = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Statuses whose responses have no body. */
const BODYLESS = [204, 205, 304];
/** A number as Web IDL reads an `unsigned short`. */
const unsignedShort = (value) => (Math.trunc(Number(value)) || 0) & 0xffff;

class Response extends Body {
  #status;
  #statusText;
  #headers;
  #url = '';
  #type = 'default';
  #isRedirected = false;
  constructor(body = null, init = {}) {
    super();
    const status = init?.status === undefined ? 200 : unsignedShort(init.status);
    if (status < 200 || status > 599) throw new RangeError('the status must be from 200 to 599');
    this.#status = status;
    this.#statusText = `${init?.statusText ?? ''}`;
    if (!REASON.test(this.#statusText)) throw new TypeError('the statusText holds a character that a reason phrase may not hold');
    this.#headers = new Headers(init?.headers);
    const [content, type] = takeBody(body);
    if (content !== null && BODYLESS.includes(status)) throw new TypeError(`status ${status} carries no body`);
    if (type !== null && !this.#headers.has('content-type')) this.#headers.set('content-type', type);
    fillBody(this, content);
  }
  /** A response of the host. `content` is a buffer, or a body that is still coming. */
  static from(status, flat, content, { url, isRedirected, hasBody }, signal) {
    const response = new Response();
    response.#status = status;
    response.#headers = sealHeaders(headersFrom(flat));
    response.#url = url;
    response.#isRedirected = isRedirected;
    if (isArriving(content)) fillBody(response, content, signal);
    else if (hasBody && !BODYLESS.includes(status)) fillBody(response, new Uint8Array(content), signal);
    return response;
  }
  static error() {
    const response = new Response();
    response.#status = 0;
    response.#type = 'error';
    sealHeaders(response.#headers);
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
    const location = new URL(url).href;
    const code = unsignedShort(status);
    if (![301, 302, 303, 307, 308].includes(code)) throw new RangeError('not a redirect status');
    const response = new Response(null, { status: code, headers: { location } });
    sealHeaders(response.#headers);
    return response;
  }
  get status() { return this.#status; }
  get statusText() { return this.#statusText; }
  get ok() { return this.#status >= 200 && this.#status < 300; }
  get headers() { return this.#headers; }
  get url() { return this.#url; }
  get redirected() { return this.#isRedirected; }
  get type() { return this.#type; }
  clone() {
    const content = splitBody(this);
    const copy = new Response(null, { statusText: this.#statusText, headers: this.#headers });
    copy.#status = this.#status;
    copy.#url = this.#url;
    copy.#type = this.#type;
    copy.#isRedirected = this.#isRedirected;
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

const settle = (id, ok, a, b, c, d) => {
  const waiting = calls.get(id);
  if (!waiting) return;
  calls.delete(id);
  waiting.forget?.();
  if (!ok) return waiting.reject(hostError(a, b));
  try {
    waiting.resolve(waiting.finish(a, b, c, d));
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
      if (!native.sendPart(id, bytesOf(value))) throw hostError('request_too_large', 'the body of the request is too long');
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
  const finish = (status, headers, body, movedTo) => {
    // Through a connection, code names a path, and does not learn the address.
    const own = connection === null ? (movedTo ?? url).split('#')[0] : url;
    const about = { url: own, isRedirected: typeof movedTo === 'string', hasBody: request.method !== 'HEAD' };
    return responseFrom(status, headers, body ?? new ArrivingBody(id, signal), about, signal);
  };
  const response = call(
    () => (id = native.fetch(connection, request.method, url, flatHeaders(request.headers), reader ? null : content, reader !== null, request.redirect)),
    finish,
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
