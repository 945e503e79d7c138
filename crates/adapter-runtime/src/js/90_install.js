const queryOf = (query) => {
  if (query === undefined || query === null) return '';
  if (typeof query === 'string') return text(query.startsWith('?') ? query.slice(1) : query);
  return new URLSearchParams(query).toString();
};
const jsonOf = (value, what) => {
  const out = JSON.stringify(value);
  if (out === undefined) throw new TypeError(`${what} must be JSON`);
  return text(out);
};

const table = (project) => {
  const ask = async (op, name, key, values) =>
    call(() => native.data(project, op, text(name), key, values), (json) => JSON.parse(json));
  return Object.freeze({
    select: async (name, query) => ask('select', name, queryOf(query), ''),
    get: async (name, id) => ask('get', name, text(id), ''),
    insert: async (name, rows) => ask('insert', name, '', jsonOf(rows, 'rows')),
    update: async (name, query, values) => ask('update', name, queryOf(query), jsonOf(values, 'values')),
    delete: async (name, query) => ask('delete', name, queryOf(query), ''),
  });
};

const connection = (name) => Object.freeze({
  fetch: async (path, init) => {
    // The host is the connection's own; the name here only lets the path be parsed.
    const request = new Request(new URL(path, 'https://connection.invalid'), init);
    const url = new URL(request.url);
    const isPath = url.host === 'connection.invalid' && url.protocol === 'https:';
    // The gate refuses what is no path, so that the refusal is recorded.
    return send(name, request, isPath ? url.pathname + url.search : url.href);
  },
});

const environment = ([data, connections, secrets]) => {
  const named = (names, make) => Object.freeze(Object.fromEntries(names.map((name) => [name, make(name)])));
  return Object.freeze({ data: named(data, table), connections: named(connections, connection), secrets: secretsOf(secrets) });
};

const context = () => {
  const waiting = [];
  const ctx = {
    // Handled from the start: if it is rejected, `settled` tells.
    waitUntil(promise) { waiting.push(Promise.allSettled([promise])); },
    passThroughOnException() {},
    approval: async (question) => {
      const { title, detail } = Object(question);
      return call(
        () => native.approval(text(title ?? ''), detail === undefined || detail === null ? undefined : text(detail)),
        (json) => JSON.parse(json),
      );
    },
  };
  // A waited promise may add others.
  const settled = async () => {
    let failed = null;
    while (waiting.length) {
      const [outcome] = await waiting.shift();
      if (outcome.status !== 'rejected') continue;
      // The run fails with one of them only.
      if (failed === null) failed = outcome;
      else logRejection(outcome.reason);
    }
    return failed;
  };
  return { ctx, settled };
};

const hostCode = (error) => {
  for (let depth = 0; depth < 5 && typeof error === 'object' && error !== null; depth++) {
    if (hostErrors.has(error)) return hostErrors.get(error);
    error = error.cause;
  }
  return null;
};
const failure = (error) => [
  'thrown', text(safely(() => (error instanceof Error ? describeError(error) : `Uncaught ${inspect(error)}`))),
  safely(() => hostCode(error)),
];

/** Never rejects: what went wrong is in the answer. */
const guarded = async (work) => {
  try {
    return await work();
  } catch (error) {
    return failure(error);
  }
};

const handler = (module, name) => {
  const object = module.default;
  const found = object?.[name];
  return typeof found === 'function' ? (...args) => found.apply(object, args) : null;
};

/** The member `data` of an event as it was sent: no other member has the texts between which it stands. */
const dataText = (event) => event.slice(event.indexOf('"data":') + 7, event.lastIndexOf(',"scheduledTime":'));

const clock = performance.now.bind(performance);
const date = Date.now;
let begun = 0;
let origin = 0;

/** The realm is older than the invocation; time begins anew. The engine's own origin is when the machine started. */
const begin = () => {
  begun = clock();
  origin = date();
};
const ownTime = { now: () => clock() - begun, get timeOrigin() { return origin; } };

/** A place in a stack trace tells names and numbers, and hands out no function of the prelude. */
const closeCallSites = () => {
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = (error, sites) => sites;
  const [site] = new Error().stack;
  Error.prepareStackTrace = prepareStackTrace;
  const prototype = Object.getPrototypeOf(site);
  for (const name of ['getFunction', 'getThis']) delete prototype[name];
};

/** What engines make on first use is made before the realm is kept, not in each invocation. */
const warmUp = () => {
  begin();
  driver.scheduled({ default: { scheduled: () => [0] } }, '{"data":{},"scheduledTime":0}', [[], [], []]);
  const answer = { fetch: () => new Response('', { headers: { 'content-type': 'text/plain' } }) };
  driver.fetch({ default: answer }, 'GET', 'https://warm.invalid/', [], new ArrayBuffer(0), [[], [], []]);
};

const driver = {
  begin,
  settle,
  fire,
  failure,
  logRejection,
  takePart,
  room: wakeSender,
  hangUp,
  handlers: (module) => [handler(module, 'scheduled') !== null, handler(module, 'fetch') !== null],
  scheduled: (module, json, names, original = json) => guarded(async () => {
    const run = handler(module, 'scheduled');
    if (!run) return ['missing', 'scheduled'];
    const { ctx, settled } = context();
    const event = JSON.parse(json);
    define(event, { noRetry() {} });
    Object.defineProperty(event, 'text', { get: () => dataText(original), enumerable: false, configurable: true });
    const result = await run(event, environment(names), ctx);
    const failed = await settled();
    if (failed) throw failed.reason;
    return ['json', text(JSON.stringify(result) ?? 'null')];
  }),
  fetch: (module, method, url, headers, body, names) => guarded(async () => {
    const run = handler(module, 'fetch');
    if (!run) return ['missing', 'fetch'];
    const { ctx, settled } = context();
    const bytes = new Uint8Array(body);
    const request = new Request(url, {
      method, headers: headersFrom(headers), body: bytes.length && method !== 'GET' && method !== 'HEAD' ? bytes : undefined,
    });
    markIncoming(request);
    const response = await run(request, environment(names), ctx);
    if (!(response instanceof Response)) throw new TypeError('fetch must return a Response');
    const content = peekBody(response);
    const head = [response.status, flatHeaders(response.headers)];
    const reader = isArriving(content) ? arrivingReader(content) : isStream(content) ? bodies.reader(content) : null;
    const answer = reader === null ? ['response', ...head, content] : await sendStream(...head, reader);
    // The answer stands; what failed beside it is only told.
    const failed = await settled();
    if (failed) report(() => { throw failed.reason; });
    return answer;
  }),
};

export const install = (lent) => {
  // Frozen: were app code ever to get hold of it, it could not take a function out, which must outlive the realm.
  native = Object.freeze(lent);
  define(globalThis, {
    console: makeConsole(), fetch, Headers, Request, Response, URL, URLSearchParams, TextEncoder, TextDecoder, crypto,
    setTimeout, setInterval, clearTimeout, clearInterval: clearTimeout, atob, btoa, structuredClone,
    Event, CustomEvent, EventTarget, AbortController, AbortSignal, self: globalThis,
    navigator: Object.freeze({ userAgent: 'Qala' }),
    queueMicrotask: (callback) => {
      if (typeof callback !== 'function') throw new TypeError('queueMicrotask takes a function');
      Promise.resolve().then(() => report(callback));
    },
  });
  for (const kind of [Headers, Request, Response, URL, URLSearchParams, TextEncoder, TextDecoder, ...EVENT_CLASSES]) {
    Object.defineProperty(kind.prototype, Symbol.toStringTag, { value: kind.name, configurable: true });
  }
  define(Math, { random: () => native.randomNumber() });
  keepWeakTargets();
  closeCallSites();
  // Shared memory has no use in one thread.
  delete globalThis.SharedArrayBuffer;
  delete globalThis.Atomics;
  globalThis.performance = ownTime;
  promiseModules();
  warmUp();
  return driver;
};
