// An app that fails until people are told of it.

/** Runs in a row that have to fail before people are told. */
const FAILURES = 3;

async function waitFor(what, find) {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline;) {
    const found = await find();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${what} did not happen`);
}

/** Lets an app with an automation fail, both with this name. Returns the notification, as the owner sees it. */
export async function failUntilTold(api, world, { name, sharing = 'workspace' }) {
  const manifest = { name, description: 'Fails whenever it runs.', archetype: 'workshop', category: 'interface', triggers: [{ type: 'manual' }], sharing: { default: sharing } };
  const files = { 'main.js': "export default { scheduled() { throw new Error('Never works'); } };" };
  const app = await api('POST', `/v1/workspaces/${world.ws}/apps`, { name, manifest, files });
  const automation = await api('POST', `/v1/workspaces/${world.ws}/automations`, { name, appId: app.id, trigger: { type: 'manual' }, retries: 0 });
  for (let count = 0; count < FAILURES; count += 1) {
    const { runId } = await api('POST', `/v1/automations/${automation.id}/run`, {});
    await waitFor('the end of a run', async () => (await api('GET', `/v1/runs/${runId}`)).status === 'failed');
  }
  return waitFor('a notification', async () => (await api('GET', `/v1/workspaces/${world.ws}/notifications`)).items.find(({ appId }) => appId === app.id));
}
