// A public page with the state of services, and the same as JSON.

import { escape, page } from './page.js';
import settings from './settings.js';

/** @type {Qala.App} */
export default {
  async fetch(request, env) {
    const services = await env.data.main.select('services', { select: 'name,up,note', order: 'name', limit: '200' });
    const allUp = services.every(({ up }) => up);
    if (new URL(request.url).pathname === '/status.json') return Response.json({ up: allUp, services }, { headers: { 'cache-control': 'no-store', 'access-control-allow-origin': '*' } });
    const rows = services.map(({ name, up, note }) => `<tr><td>${escape(name)}</td><td class="${up ? 'ok' : 'bad'}">${up ? 'works' : 'is down'}</td><td>${escape(note)}</td></tr>`).join('');
    const summary = services.length === 0 ? 'There are no services yet.' : allUp ? 'Everything works.' : 'Something is down.';
    return page(settings.title, `<p class="${allUp ? 'ok' : 'bad'}">${summary}</p>${rows && `<table><thead><tr><th>Service</th><th>State</th><th>Note</th></tr></thead><tbody>${rows}</tbody></table>`}`);
  },
};
