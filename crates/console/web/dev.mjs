// Serves the console while you write it: `QALA=http://127.0.0.1:PORT node dev.mjs --port N [--built]`.
//
// Rebuilds on change, serves the build under the policy of production, and passes everything else to a running server, which you
// start with `--console-origin http://127.0.0.1:N`. Reload the page to see a change.

import { watch } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generateApiTypes } from './build/api-types.mjs';
import { BASE, ROOT, bundle, mediaType } from './build/bundle.mjs';
import { contentSecurityPolicy } from './build/policy.mjs';

const { values } = parseArgs({ options: { port: { type: 'string', default: '7430' }, built: { type: 'boolean', default: false } } });
const server = new URL(process.env.QALA ?? 'http://127.0.0.1:7420');
/** Pages that the server renders itself, into which the console's script is put. */
const SERVER_PAGES = /^\/(sign-in|device|oauth|invite)(\/|$)/;
/** Pages of the console. */
const CONSOLE_PAGES = /^\/($|welcome$|w\/|account(\/|$)|gallery(\/|$))/;

let current = await build();

async function build() {
  const started = performance.now();
  const { files, tags } = await bundle({ dev: !values.built });
  console.log(`built in ${Math.round(performance.now() - started)} ms`);
  return { tags, files: new Map(files.map((file) => [file.path, file])) };
}

let timer;
watch(join(ROOT, 'src'), { recursive: true }, () => {
  clearTimeout(timer);
  timer = setTimeout(() => build().then((built) => { current = built; }, (error) => console.error(error.message)), 50);
});

function sendHtml(request, response, html, headers = {}) {
  const policy = contentSecurityPolicy(`http://${request.headers.host}`);
  response.writeHead(200, { ...headers, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', 'content-security-policy': policy });
  response.end(html);
}

function sendFile(response, path) {
  const file = current.files.get(path);
  if (!file) return response.writeHead(404).end();
  response.writeHead(200, { 'content-type': mediaType(path), 'cache-control': 'no-store' });
  return response.end(file.contents);
}

/** Passes a request to the server. A page of the server's gets the console's script. */
function forward(request, response, path) {
  const headers = { ...request.headers, 'accept-encoding': 'identity' };
  const passed = http.request({ host: server.hostname, port: server.port, path: request.url, method: request.method, headers }, (answer) => {
    const isPage = request.method === 'GET' && SERVER_PAGES.test(path) && answer.statusCode === 200 && answer.headers['content-type']?.startsWith('text/html');
    if (!isPage) {
      response.writeHead(answer.statusCode, answer.headers);
      response.flushHeaders();
      return answer.pipe(response);
    }
    const parts = [];
    answer.on('data', (part) => parts.push(part));
    return answer.on('end', () => {
      const html = Buffer.concat(parts).toString().replace(/<link rel="stylesheet" href="\/pages\/page.css">/, () => current.tags.join(''));
      sendHtml(request, response, html, answer.headers['set-cookie'] ? { 'set-cookie': answer.headers['set-cookie'] } : {});
    });
  });
  passed.on('error', () => {
    if (!response.headersSent) response.writeHead(502);
    response.end();
  });
  response.on('close', () => passed.destroy());
  request.pipe(passed);
}

await generateApiTypes();
http.createServer((request, response) => {
  const path = new URL(request.url, server).pathname;
  if (path.startsWith(BASE)) return sendFile(response, path.slice(BASE.length));
  if (request.method === 'GET' && CONSOLE_PAGES.test(path)) return sendHtml(request, response, current.files.get('index.html').contents);
  return forward(request, response, path);
}).listen(Number(values.port), '127.0.0.1', () => console.log(`http://127.0.0.1:${values.port} in front of ${server.origin}`));
