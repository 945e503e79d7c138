// Fetch standard, "Headers class", "Request class", "Response class" and "Fetch method".
import { each, rejects, same, suite, throws } from './suite.js';

const URL_ = 'https://api.example/x';
const post = (init) => new Request(URL_, { method: 'POST', body: 'b', ...init });

export default suite(
  each([['get', 'GET'], ['Post', 'POST'], ['delete', 'DELETE'], ['HEAD', 'HEAD'], ['options', 'OPTIONS'], ['put', 'PUT'], ['patch', 'patch'], ['PATCH', 'PATCH'], ['Chicken', 'Chicken']], (method) => `the method ${method}`, (method, kept) =>
    same(new Request(URL_, { method }).method, kept)),
  each(['CONNECT', 'trace', 'TRACK', 'a b', ''], (method) => `the refused method ${JSON.stringify(method)}`, (method) => throws(() => new Request(URL_, { method }), 'TypeError')),
  each(['follow', 'manual', 'error'], (redirect) => `the redirect mode ${redirect}`, (redirect) => same([new Request(URL_, { redirect }).redirect, new Request(new Request(URL_, { redirect })).redirect], [redirect, redirect])),
  each(['https://u@api.example/', 'https://:p@api.example/', 'https://u:p@api.example/'], (url) => `a request for ${url}`, (url) => throws(() => new Request(url), 'TypeError')),
  each(['Ж', 'a\u0100', '\ud83d\ude00'], (value) => `the header value ${JSON.stringify(value)}`, (value) => throws(() => new Headers({ a: value }), 'TypeError')),
  each([['é', 'é'], [' a\t', 'a'], ['\xff', '\xff'], ['', '']], (value) => `the kept header value ${JSON.stringify(value)}`, (value, kept) => same(new Headers({ a: value }).get('a'), kept)),
  each(['a\nb', 'a\rb', 'a\0b'], (value) => `the broken header value ${JSON.stringify(value)}`, (value) => throws(() => new Headers([['a', value]]), 'TypeError')),
  each([['append', ['a']], ['set', ['a']], ['delete', []], ['append', []]], (name, values) => `Headers.${name} with ${values.length} arguments`, (name, values) => throws(() => new Headers()[name](...values), 'TypeError')),
  each([[200.7, 200], ['404', 404], [65736, 200]], (status) => `the status ${status}`, (status, kept) => same(new Response(null, { status }).status, kept)),
  each([199, 600, 0, NaN, -1], (status) => `the refused status ${status}`, (status) => throws(() => new Response(null, { status }), 'RangeError')),
  each(['a\nb', '\x7f', 'Ж'], (statusText) => `the statusText ${JSON.stringify(statusText)}`, (statusText) => throws(() => new Response(null, { statusText }), 'TypeError')),
  each([['301', 301], [302, 302], [303, 303], ['307', 307], [308, 308]], (status) => `a redirect with ${typeof status} ${status}`, (status, kept) => same(Response.redirect(URL_, status).status, kept)),
  each([200, 304, '300'], (status) => `a redirect that is none: ${status}`, (status) => throws(() => Response.redirect(URL_, status), 'RangeError')),
  each([204, 205, 304], (status) => `a body with the status ${status}`, (status) => throws(() => new Response('x', { status }), 'TypeError')),
  {
    'a pair that is text': () => throws(() => new Headers(['ab']), 'TypeError'),
    'a pair of three': () => throws(() => new Headers([['a', 'b', 'c']]), 'TypeError'),
    'an unknown redirect mode': () => throws(() => new Request(URL_, { redirect: 'x' }), 'TypeError'),
    'integrity that nobody checks': () => throws(() => new Request(URL_, { integrity: 'sha256-AAAA' }), 'TypeError'),
    'a request hands its body on': async () => {
      const first = post();
      const second = new Request(first);
      same([first.bodyUsed, second.bodyUsed, await second.text()], [true, false, 'b']);
      await rejects(first.text(), 'TypeError');
    },
    'a request hands its stream on': async () => {
      const first = post({ body: ReadableStream.from([new Uint8Array([65])]), duplex: 'half' });
      const second = new Request(first);
      same(await second.text(), 'A');
      same(first.bodyUsed, true);
    },
    'a request whose body is replaced keeps its own': async () => {
      const first = post();
      same(await new Request(first, { body: 'c' }).text(), 'c');
      same([first.bodyUsed, await first.text()], [false, 'b']);
    },
    'a request that fails keeps the body of the first': () => {
      const first = post();
      throws(() => new Request(first, { method: 'GET' }), 'TypeError');
      same(first.bodyUsed, false);
    },
    'a used request cannot be used again': async () => {
      const first = post();
      await first.text();
      throws(() => new Request(first), 'TypeError');
    },
    'fetch uses a request up': async () => {
      const request = post();
      await fetch(request);
      same(request.bodyUsed, true);
      await rejects(fetch(request), 'TypeError');
    },
    'a clone leaves the request': async () => {
      const request = post();
      same([await request.clone().text(), await request.text()], ['b', 'b']);
    },
    'the mode reaches the host': async () => {
      const modes = await Promise.all(['follow', 'manual', 'error'].map(async (redirect) => (await (await fetch(URL_, { redirect })).json()).redirect));
      same(modes, ['follow', 'manual', 'error']);
    },
    'a response that was not redirected': async () => {
      const response = await fetch('https://api.example/a?b#c');
      same([response.url, response.redirected], ['https://api.example/a?b', false]);
    },
    'a response that was redirected': async () => {
      const response = await fetch('https://api.example/?moved=there');
      same([response.url, response.redirected], ['https://api.example/there', true]);
      same([response.clone().url, response.clone().redirected], ['https://api.example/there', true]);
    },
    'a response to HEAD has no body': async () => same((await fetch(URL_, { method: 'HEAD' })).body, null),
    'the headers of a fetched response are immutable': async () => {
      const { headers } = await fetch(URL_);
      throws(() => headers.set('a', 'b'), 'TypeError');
      throws(() => headers.append('a', 'b'), 'TypeError');
      throws(() => headers.delete('content-type'), 'TypeError');
    },
    'a copy of a fetched response has headers of its own': async () => {
      const fetched = await fetch(URL_);
      const copy = new Response(fetched.body, fetched);
      copy.headers.set('a', 'b');
      same([copy.status, copy.headers.get('a'), fetched.headers.get('a')], [fetched.status, 'b', null]);
    },
    'the headers of a redirect are immutable': () => throws(() => Response.redirect(URL_).headers.set('a', 'b'), 'TypeError'),
    'an error': () => same([Response.error().status, Response.error().type, Response.error().ok, Response.error().body], [0, 'error', false, null]),
  },
);
