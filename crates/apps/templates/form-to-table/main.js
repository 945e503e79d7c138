// Keeps what people send with a form, and sends a mail about it.

import { sendMail } from './mail.js';
import settings from './settings.js';

/**
 * Returns a field of the form as text.
 * @param {unknown} value
 * @param {number} longest
 */
const field = (value, longest) => (typeof value === 'string' ? value.trim().slice(0, longest) : '');

/** @type {Qala.App} */
export default {
  async scheduled(event, env) {
    const name = field(event.data?.name, 200);
    const email = field(event.data?.email, 254);
    const message = field(event.data?.message, 10_000);
    // Anybody can send the form.
    if (message === '') return { ignored: 'there is no message' };

    // A retry finds the row of the first attempt.
    const { main } = env.data;
    const kept = (await main.get('messages', event.runId))
      ?? (await main.insert('messages', { id: event.runId, name, email, message, mailed: false }))[0];
    if (!kept.mailed) {
      await sendMail(env, { to: settings.recipient, subject: `Message from ${name || email || 'the form'}`, text: `${message}\n\n${name} ${email}`.trim() });
      await main.update('messages', { id: `eq.${kept.id}` }, { mailed: true });
    }
    return { kept: kept.id };
  },
};
