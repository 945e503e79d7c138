// An automation whose runs fail, and its dead letters.

const APP = {
  name: 'Strict',
  manifest: { name: 'Strict', description: 'Refuses what it does not know.', archetype: 'workshop', category: 'interface', triggers: [{ type: 'webhook' }], sharing: { default: 'workspace' } },
  files: {
    'main.js': "export default { async scheduled(event, env, ctx) { if (event.data?.ask) return ctx.approval({ title: 'Send the invoice?' }); if (!event.data?.ok) throw new Error('No customer'); return {}; } };",
  },
};

/** Calls a webhook without proof with each body, and waits until `count` dead letters or waiting runs are there. */
export async function prepare(api, base, world, bodies, isReady) {
  const app = await api('POST', `/v1/workspaces/${world.ws}/apps`, APP);
  const automation = await api('POST', `/v1/workspaces/${world.ws}/automations`, { name: 'Invoices', appId: app.id, trigger: { type: 'webhook' } });
  const { address } = await api('PUT', `/v1/automations/${automation.id}/webhook`, { mode: 'none', confirm: true, perMinute: 600 });
  const call = (body) => fetch(base + new URL(address).pathname, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  for (const body of bodies) await call(body);
  const deadline = Date.now() + 30_000;
  while (!(await isReady())) if (Date.now() > deadline) throw new Error('the runs did not end');
  return automation;
}

/** Returns dead letters in a state. */
export const letters = (api, world, state) => api('GET', `/v1/workspaces/${world.ws}/dead-letters?state=${state}&limit=200`).then(({ items }) => items);
/** Returns a function that tells whether so many are open. */
export const failed = (api, world, count) => async () => (await letters(api, world, 'open')).length >= count;
