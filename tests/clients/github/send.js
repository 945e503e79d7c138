// Sends every payload of @octokit/webhooks-examples to HOOK_URL, signed by @octokit/webhooks-methods with HOOK_SECRET,
// each with a delivery id of its own, and then each once more. Prints a line of JSON for each payload.
import { createRequire } from 'node:module';
import { randomUUID } from 'node:crypto';
import { sign, verify } from '@octokit/webhooks-methods';

const load = createRequire(import.meta.url);
const loaded = load('@octokit/webhooks-examples');
const events = loaded.default ?? loaded;
const { HOOK_URL, HOOK_SECRET } = process.env;

const send = (event, delivery, body, signature) =>
  fetch(HOOK_URL, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/044aadd',
      'x-github-event': event,
      'x-github-delivery': delivery,
      'x-hub-signature-256': signature,
    },
    body,
  });

for (const { name, examples } of events) {
  for (const example of examples) {
    const body = JSON.stringify(example);
    const signature = await sign(HOOK_SECRET, body);
    if (!(await verify(HOOK_SECRET, body, signature))) throw new Error('the sender does not know its own signature');
    const delivery = randomUUID();
    const first = await send(name, delivery, body, signature);
    const { runId, error } = await first.json();
    const again = await send(name, delivery, body, signature);
    const repeat = await again.json();
    const line = {
      event: name, action: example.action ?? null, bytes: Buffer.byteLength(body), status: first.status,
      runId: runId ?? null, error: error?.code ?? null,
      repeated: again.status === 202 && repeat.runId === runId && again.headers.get('idempotent-replayed') === 'true',
    };
    console.log(JSON.stringify(line));
  }
}
