// Sorts mail into queues by rules. The first rule that fits decides.

/** @type {readonly { queue: string, fits: RegExp }[]} */
const RULES = [
  { queue: 'billing', fits: /invoice|refund|payment|счёт|оплат|шот|төлем/i },
  { queue: 'access', fits: /password|log ?in|sign ?in|парол|вход|кіру|құпиясөз/i },
  { queue: 'bugs', fits: /error|crash|broken|ошибк|не работает|қате/i },
];
const OTHER = 'general';
const URGENT = /urgent|asap|immediately|срочно|шұғыл/i;

/**
 * Returns the mail in what a mail service sends: Postmark's JSON, or the form of SendGrid or Mailgun.
 * @param {any} data
 */
function mailOf(data) {
  const text = (/** @type {unknown} */ value, /** @type {number} */ longest) => (typeof value === 'string' ? value.slice(0, longest) : '');
  return {
    id: text(data?.MessageID, 100),
    sender: text(data?.From ?? data?.from ?? data?.sender, 254),
    subject: text(data?.Subject ?? data?.subject, 500),
    body: text(data?.TextBody ?? data?.text ?? data?.['body-plain'], 20_000),
  };
}

/** @type {Qala.App} */
export default {
  async scheduled(event, env) {
    const { id, ...mail } = mailOf(event.data);
    if (mail.sender === '') return { ignored: 'not a mail' };
    const words = `${mail.subject}\n${mail.body}`;
    const queue = RULES.find(({ fits }) => fits.test(words))?.queue ?? OTHER;
    const { main } = env.data;
    // A service sends a mail again if the response gets lost.
    const ticket = /^[\w-]+$/.test(id) ? id : event.runId;
    if ((await main.get('tickets', ticket)) === null) await main.insert('tickets', { id: ticket, ...mail, queue, urgent: URGENT.test(words) });
    return { ticket, queue };
  },
};
