// Reminds clients of unpaid invoices: three days before they are due, when they are due, and a week later.

import { sendMail } from './mail.js';
import settings from './settings.js';

const DAY = 24 * 60 * 60 * 1000;
/** Days from the due date to each reminder, and how it begins. */
const REMINDERS = [
  { days: -3, line: 'will be due in a few days' },
  { days: 0, line: 'is due' },
  { days: 7, line: 'is overdue' },
];
/** Most mails of a run; the rest follows the next day. */
const MAILS = 50;

/** @type {Qala.App} */
export default {
  async scheduled(event, env) {
    const { main } = env.data;
    const soon = new Date(event.scheduledTime - REMINDERS[0].days * DAY).toISOString();
    const open = await main.select('invoices', { paid: 'not.is.true', due: `lte.${soon}`, or: `(reminders.is.null,reminders.lt.${REMINDERS.length})`, order: 'due', limit: '500' });
    let sent = 0;
    for (const { id, number, client, email, amount, currency, due, reminders } of open) {
      const passed = REMINDERS.filter(({ days }) => event.scheduledTime >= new Date(due).getTime() + days * DAY).length;
      if (passed <= (reminders ?? 0) || sent >= MAILS) continue;
      // Counted first: a mail less is better than the same mail twice.
      await main.update('invoices', { id: `eq.${id}` }, { reminders: passed });
      await sendMail(env, {
        to: email,
        subject: `Invoice ${number} ${REMINDERS[passed - 1].line}`,
        text: `Dear ${client},\n\nour invoice ${number} of ${amount} ${currency ?? ''} ${REMINDERS[passed - 1].line} (${String(due).slice(0, 10)}).\n\n${settings.company}`,
      });
      sent += 1;
    }
    return { sent };
  },
};
