// The console: starts the frame on the page of the address.

import { render } from 'preact';
import { intervene } from '#api/client';
import { followWorkspace, followed } from '#api/events';
import { startShortcuts } from '#frame/commands';
import { interventions } from '#frame/interventions';
import { startRouter } from '#frame/router';
import { loadSession, session } from '#frame/session';
import { Shell } from '#frame/shell';
import { toastProblem } from '#frame/toasts';
import { startTooltips } from './ui/tooltip';

async function start(): Promise<void> {
  intervene(interventions);
  // What is read before the stream is open has to be read again. The frame ends it for who is no member.
  const [, ws] = /^\/w\/([^/]+)/.exec(location.pathname) ?? [];
  if (ws !== undefined) followWorkspace(ws);
  const [isOurs] = await Promise.all([
    startRouter(),
    loadSession().catch((error: unknown) => {
      session.value = null;
      toastProblem(error);
    }),
  ]);
  if (session.value) await followed();
  // A page of the server's that no page of the console replaces stays as it is.
  if (!isOurs) return;
  startShortcuts();
  startTooltips();
  // The style of the server's own page, which the console replaces.
  document.querySelector('link[href="/pages/page.css"]')?.remove();
  document.body.replaceChildren();
  render(<Shell />, document.body);
}

void start();
