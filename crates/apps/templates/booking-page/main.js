// A public page on which people book an hour. An hour is a row whose id is the hour, so that two people cannot have it.

import { escape, page } from './page.js';
import settings from './settings.js';

const DAY = 24 * 60 * 60 * 1000;
const DAYS = 7;

/** Returns the ids of the next days' hours, such as `2026-12-01-09`. */
function hours() {
  const today = Date.now();
  const days = Array.from({ length: DAYS }, (_, index) => new Date(today + (index + 1) * DAY).toISOString().slice(0, 10));
  const count = Math.max(0, Math.min(24, Math.floor(settings.lastHour) - Math.floor(settings.firstHour) + 1));
  return days.flatMap((day) => Array.from({ length: count }, (_, index) => `${day}-${String(Math.floor(settings.firstHour) + index).padStart(2, '0')}`));
}

/** @param {string} id */
const shown = (id) => `${id.slice(0, 10)}, ${id.slice(11)}:00 UTC`;

/** @param {Qala.Env} env */
async function form(env, message = '', status = 200) {
  const all = hours();
  const taken = new Set((await env.data.main.select('bookings', { select: 'id', id: `in.(${all.join()})` })).map(({ id }) => id));
  const options = all.filter((id) => !taken.has(id)).map((id) => `<option value="${id}">${shown(id)}</option>`).join('');
  const fields = options === ''
    ? '<p>Every hour of the next days is taken.</p>'
    : `<form method="post"><p><label>Hour<br><select name="hour">${options}</select></label></p><p><label>Name<br><input name="name" maxlength="100" required></label></p><p><label>E-mail<br><input name="email" type="email" maxlength="254" required></label></p><button>Book</button></form>`;
  return page(settings.title, `${message && `<p class="bad">${escape(message)}</p>`}${fields}`, status);
}

/** @type {Qala.App} */
export default {
  async fetch(request, env) {
    if (request.method !== 'POST') return form(env);
    const fields = await request.formData();
    const [id, name, email] = ['hour', 'name', 'email'].map((field) => String(fields.get(field) ?? '').trim());
    if (!hours().includes(id)) return form(env, 'Choose one of the hours.', 400);
    if (name === '' || name.length > 100 || email.length > 254 || !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email)) return form(env, 'Give a name and an e-mail address.', 400);
    try {
      await env.data.main.insert('bookings', { id, day: id.slice(0, 10), hour: Number(id.slice(11)), name, email });
    } catch (error) {
      if ((await env.data.main.get('bookings', id)) === null) throw error;
      return form(env, 'Somebody was faster. Choose another hour.', 409);
    }
    return page(settings.title, `<p class="ok">${escape(name)}, you are expected on ${shown(id)}.</p>`, 201);
  },
};
