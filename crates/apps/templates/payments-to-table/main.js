// Keeps the events that Stripe sends. A signature proves where they come from.

/** How old a signature may be, in seconds. */
const TOLERANCE = 300;

/** @param {string} hex */
const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));

/**
 * Returns true if one of the signatures of the header `Stripe-Signature` is that of the body.
 * @param {string} header
 * @param {string} body
 * @param {Qala.Env} env
 */
async function isSigned(header, body, env) {
  const parts = header.split(',').map((part) => part.trim().split('='));
  const time = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d{1,12}$/.test(time) || Math.abs(Date.now() / 1000 - Number(time)) > TOLERANCE) return false;
  const secret = /** @type {Qala.Secret} */ (env.secrets.STRIPE_SIGNING_SECRET);
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  const signed = new TextEncoder().encode(`${time}.${body}`);
  const signatures = parts.filter(([name, value]) => name === 'v1' && /^[0-9a-f]{64}$/.test(value ?? ''));
  for (const [, value] of signatures.slice(0, 5)) {
    if (await crypto.subtle.verify('HMAC', key, fromHex(value), signed)) return true;
  }
  return false;
}

/** @type {Qala.App} */
export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname !== '/stripe') return new Response('Not found\n', { status: 404 });
    if (request.method !== 'POST') return new Response('Send POST\n', { status: 405, headers: { allow: 'POST' } });
    const body = await request.text();
    if (!(await isSigned(request.headers.get('stripe-signature') ?? '', body, env))) return new Response('The signature is not valid\n', { status: 400 });

    const { id, type, created, data } = JSON.parse(body);
    const { amount_total, amount, currency, customer } = data?.object ?? {};
    const { main } = env.data;
    // Stripe sends an event again if the response gets lost.
    if ((await main.get('payments', id)) === null) {
      await main.insert('payments', { id, kind: type, amount_minor: amount_total ?? amount ?? null, currency: currency ?? null, customer: customer ?? null, happened_at: new Date(created * 1000).toISOString() });
    }
    return Response.json({ received: id });
  },
};
