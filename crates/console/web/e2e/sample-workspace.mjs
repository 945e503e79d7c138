// A workspace of a small shop with enough in it to be looked at: apps that work and fail, runs, dead letters, rows, people.

import { addMember } from './second-person.mjs';
import { WORKFLOW } from './workflow.mjs';

const CUSTOMERS = ['Aigerim', 'Daniyar', 'Madina', 'Yerlan', 'Saule', 'Timur', 'Asel', 'Nurlan'];
const ITEMS = ['Plum jam', 'Rye bread', 'Tea', 'Oats', 'Honey'];
const ORDERS = Array.from({ length: 120 }, (_, number) => ({
  customer: CUSTOMERS[number % CUSTOMERS.length],
  item: ITEMS[number % ITEMS.length],
  amount: ((number * 37) % 90) + 1,
  paid: number % 3 === 0,
  due: new Date(Date.UTC(2026, 10, 1 + (number % 28))).toISOString(),
  note: number % 9 === 0 ? { gift: true } : null,
}));

const POLICY = [
  'Anyone may read id, item, amount of rows where paid is true.',
  'Signed-in people may read and insert rows where customer is their claim name.',
  'People with the role clerk may read, update and delete every row.',
];

const INVOICES = `export default {
  async scheduled(event, env, ctx) {
    console.log("Invoice for", event.data.customer);
    if (!event.data.amount) throw new Error("No amount in the order");
    if (event.data.amount > 80) return ctx.approval({ title: "Send an invoice over 80?", detail: event.data.customer });
    await env.data.main.select("orders", { customer: \`eq.\${event.data.customer}\` });
    return { sent: true };
  },
};
`;
const REPORT = `export default {
  async scheduled(event, env) {
    const unpaid = await env.data.main.select("orders", { paid: "eq.false", select: "customer,amount", limit: "20" });
    for (const { customer, amount } of unpaid) console.warn(\`\${customer} owes \${amount}\`);
    return { unpaid: unpaid.length };
  },
  fetch() {
    return new Response("All is well");
  },
};
`;
const RATES = `export default {
  async scheduled() {
    const response = await fetch("https://rates.example/today");
    return response.json();
  },
};
`;


/** Creates an app that may use the project, and an automation that starts it. */
async function createApp({ api, ws, project, name, description, archetype, category, source, egress = [], trigger }) {
  const permissions = { data: [{ name: 'main', projectId: project, access: 'write' }], connectors: [], egress };
  const manifest = { name, description, archetype, category, permissions, triggers: [{ type: 'webhook' }, { type: 'schedule' }, { type: 'manual' }], sharing: { default: 'workspace' }, roi: { manualMinutesPerRun: 4 } };
  const app = await api('POST', `/v1/workspaces/${ws}/apps`, { name, archetype, category, files: { 'main.js': source }, manifest });
  const automation = await api('POST', `/v1/workspaces/${ws}/automations`, { name, appId: app.id, trigger });
  return { app: app.id, automation: automation.id };
}

/** Fills the workspace, and returns the ids of what is in it. */
export async function fillWorkspace({ page, base, api, world }) {
  const { ws } = world;
  const project = (await api('POST', `/v1/workspaces/${ws}/backend/projects`, { name: 'Shop', description: 'Orders and what became of them.' })).id;
  const tables = `/v1/backend/projects/${project}/tables`;
  await api('POST', tables, {
    name: 'orders',
    columns: [{ name: 'customer', type: 'text' }, { name: 'item', type: 'text' }, { name: 'amount', type: 'integer' }, { name: 'paid', type: 'boolean' }, { name: 'due', type: 'timestamp' }, { name: 'note', type: 'json' }],
  });
  await api('POST', `${tables}/orders/rows`, ORDERS);
  await api('PUT', `${tables}/orders/policy`, { sentences: POLICY });
  const shared = { api, ws, project };
  const invoices = await createApp({ ...shared, name: 'Invoices', description: 'Writes an invoice for each order.', archetype: 'bank', category: 'money', source: INVOICES, trigger: { type: 'webhook' } });
  const report = await createApp({ ...shared, name: 'Unpaid', description: 'Lists who has not paid yet.', archetype: 'clocktower', category: 'time', source: REPORT, trigger: { type: 'schedule', cron: '0 9 * * 1-5', timezone: 'Asia/Almaty' } });
  const rates = await createApp({ ...shared, name: 'Rates', description: 'Reads exchange rates.', archetype: 'warehouse', category: 'data', source: RATES, trigger: { type: 'manual' } });
  await api('POST', `/v1/apps/${report.app}/versions`, { files: { 'main.js': REPORT.replace('limit: "20"', 'limit: "50"').replace('All is well', 'All is very well') } });

  const tool = `/v1/automations/${invoices.automation}/agent-tool`;
  const { hash } = await api('GET', tool);
  const properties = { customer: { type: 'string', minLength: 1 }, amount: { type: 'integer', minimum: 1 } };
  const inputSchema = { type: 'object', properties, required: ['customer', 'amount'], additionalProperties: false };
  await api('PUT', tool, { name: 'write_invoice', title: 'Write an invoice', description: 'Writes an invoice for an order. Use it when a customer has agreed to a price.', inputSchema, reviewedHash: hash });

  const { address } = await api('PUT', `/v1/automations/${invoices.automation}/webhook`, { mode: 'none', confirm: true, perMinute: 600 });
  const call = (body) => fetch(base + new URL(address).pathname, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  for (const { customer, amount } of ORDERS.slice(0, 14)) await call({ customer, amount });
  for (const customer of ['Olzhas', 'Dina']) await call({ customer });
  // The third run of the rates that is blocked is a notification.
  for (const { automation } of [report, rates, rates, rates]) await api('POST', `/v1/automations/${automation}/run`, {});
  const hasNone = async (status) => (await api('GET', `/v1/workspaces/${ws}/runs?status=${status}`)).items.length === 0;
  await waitUntil(async () => (await hasNone('queued')) && hasNone('running'));
  for (const [name, role] of [['daniyar', 'admin'], ['madina', 'builder'], ['saule', 'viewer']]) await addMember({ page, base, api, world, email: `${name}@shop.example`, role });
  await api('POST', `/v1/workspaces/${ws}/invites`, { emails: ['timur@shop.example'], role: 'builder', deliver: 'link' });
  const imported = (await api('POST', `/v1/workspaces/${ws}/imports`, { source: WORKFLOW })).id;
  const blocked = (await api('GET', `/v1/workspaces/${ws}/runs?status=blocked`)).items[0];
  const letter = (await api('GET', `/v1/workspaces/${ws}/dead-letters?state=open`)).items[0];
  return { ws, project, table: 'orders', app: report.app, automation: invoices.automation, schedule: report.automation, run: blocked.id, letter: letter.id, imported };
}

async function waitUntil(isDone) {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline;) if (await isDone()) return;
  throw new Error('The runs did not end.');
}
