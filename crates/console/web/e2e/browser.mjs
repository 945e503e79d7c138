// The browser of the journeys, and what no page of the console may do.

import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { chromium } from 'playwright-core';

// The shell has no window, and takes half of the processor's time for the same page.
const PROGRAMS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const ARGUMENTS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
  '--disable-sync', '--disable-dev-shm-usage',
];

/** Starts Chromium as the distribution has it. */
export function launch() {
  const program = process.env.CHROMIUM ?? PROGRAMS.find((path) => existsSync(path));
  if (!program) throw new Error('Chromium was not found. Install it, or name it in CHROMIUM.');
  return chromium.launch({ executablePath: program, headless: true, args: ARGUMENTS });
}

// A client of the consent page, which waits for the browser.
const client = createServer((_, response) => response.setHeader('content-type', 'text/plain').end('done'));
await new Promise((listening) => client.listen(0, '127.0.0.1', listening));
client.unref();

/** Where the client waits. */
export const CALLBACK = `http://127.0.0.1:${client.address().port}/callback`;

/**
 * Collects what a page must not do: errors in the console, violations of the policy, requests to other hosts, save that of an
 * issuer that the browser is sent to.
 */
export function watch(context, base, issuer) {
  const found = [];
  const host = new URL(base).host;
  context.on('page', (page) => {
    page.on('pageerror', (error) => found.push(`an error that nobody caught: ${error.message}`));
    page.on('console', (message) => {
      // The browser itself reports each response with an error status, which a journey with bad input expects.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) found.push(`console: ${message.text()}`);
    });
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (request.isNavigationRequest() && (request.url().startsWith(CALLBACK) || url.origin === issuer)) return;
      if (/^(https?|wss?):$/.test(url.protocol) && url.host !== host) found.push(`a request to ${url.host}`);
    });
  });
  return found;
}
