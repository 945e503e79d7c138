// Requests pages, and says in a chat when one goes down or comes back.

import { sendToChat } from './chat.js';
import settings from './settings.js';

const PATIENCE = 5_000;

/**
 * Returns what a request says about a page.
 * @param {string} url
 */
async function check(url) {
  const start = Date.now();
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE) });
    await response.body?.cancel();
    return { up: response.status < 400, detail: `status ${response.status}`, took_ms: Date.now() - start };
  } catch (error) {
    const { code, message } = /** @type {Qala.HostError} */ (error);
    // The app itself is at fault: its manifest or a gate does not allow the host.
    if (code === 'egress_denied') throw error;
    return { up: false, detail: code ?? message, took_ms: Date.now() - start };
  }
}

/** @type {Qala.App} */
export default {
  async scheduled(event, env) {
    const { main } = env.data;
    const known = new Map((await main.select('pages')).map((row) => [row.url, row]));
    const checked = await Promise.all(settings.urls.map(async (url) => ({ url, ...(await check(url)) })));
    let changes = 0;
    for (const page of checked) {
      const row = known.get(page.url);
      // A page that was never seen is taken to be up.
      if ((row?.up ?? true) !== page.up) {
        changes += 1;
        await sendToChat(env, page.up ? `${page.url} is back (${page.detail}).` : `${page.url} is down: ${page.detail}.`);
      }
      const values = { ...page, checked_at: new Date().toISOString() };
      if (row === undefined) await main.insert('pages', values);
      else await main.update('pages', { id: `eq.${row.id}` }, values);
    }
    return { checked: checked.length, changes };
  },
};
