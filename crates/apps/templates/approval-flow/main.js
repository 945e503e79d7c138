// Keeps requests, and asks a person about those above a limit.

import settings from './settings.js';

/** @type {Qala.App} */
export default {
  async scheduled(event, env, ctx) {
    const { title, requester } = event.data ?? {};
    const amount = Number(event.data?.amount);
    if (typeof title !== 'string' || title.trim() === '' || !Number.isFinite(amount) || amount < 0) return { ignored: 'a request needs a title and an amount' };

    const { main } = env.data;
    // The run begins again with the answer, and finds its row.
    const known = await main.get('requests', event.runId);
    if (known === null) await main.insert('requests', { id: event.runId, title: title.trim().slice(0, 200), amount, requester: String(requester ?? '').slice(0, 200), status: 'open' });
    const decided = amount <= settings.limit
      ? { approved: true, expired: false }
      : await ctx.approval({ title: `Approve ${amount} for "${title.trim().slice(0, 80)}"?`, detail: `Requested by ${requester ?? 'somebody'}.` });
    const status = decided.expired ? 'expired' : decided.approved ? 'approved' : 'declined';
    await main.update('requests', { id: `eq.${event.runId}` }, { status });
    return { status };
  },
};
