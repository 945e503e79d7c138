// Sums up the orders of the last 24 hours.

import { sendToChat } from './chat.js';

const DAY = 24 * 60 * 60 * 1000;
/** Most rows of one query. */
const PAGE = 1_000;

/**
 * Yields the orders since a time.
 * @param {Qala.Project} main
 * @param {string} since
 */
async function* ordersSince(main, since) {
  for (let offset = 0; ; offset += PAGE) {
    const rows = await main.select('orders', { select: 'status,amount', created_at: `gte.${since}`, order: 'created_at,id', limit: String(PAGE), offset: String(offset) });
    yield* rows;
    if (rows.length < PAGE) return;
  }
}

/** @type {Qala.App} */
export default {
  async scheduled(event, env) {
    const since = new Date(event.scheduledTime - DAY).toISOString();
    /** @type {Map<string, { count: number, amount: number }>} */
    const totals = new Map();
    for await (const { status, amount } of ordersSince(env.data.main, since)) {
      const total = totals.get(status ?? 'no status') ?? { count: 0, amount: 0 };
      totals.set(status ?? 'no status', { count: total.count + 1, amount: total.amount + (amount ?? 0) });
    }
    const lines = [...totals].sort().map(([status, { count, amount }]) => `${status}: ${count}, ${amount.toFixed(2)} in all`);
    await sendToChat(env, lines.length === 0 ? 'No orders in the last 24 hours.' : `Orders of the last 24 hours\n${lines.join('\n')}`);
    return { statuses: lines.length };
  },
};
