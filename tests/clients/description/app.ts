// Apps as people write them, and mistakes that an editor must find.

interface Order { id: string; amount: number; paid: boolean }
interface Bindings extends Qala.Env {
  readonly data: { readonly shop: Qala.Project };
  readonly connections: { readonly crm: Qala.Connection };
  readonly secrets: { readonly KEY: Qala.Secret; readonly CLEAR: string };
}

export default {
  async scheduled(event, env, ctx) {
    const unpaid = await env.data.shop.select<Order>('orders', { paid: 'eq.false', limit: '10' });
    const total: number = unpaid.reduce((sum, { amount }) => sum + amount, 0);
    const { approved } = await ctx.approval({ title: `Write off ${total}?` });
    if (!approved) return { total };
    await env.data.shop.update('orders', 'paid=eq.false', { paid: true });
    const reply = await env.connections.crm.fetch('/notes', { method: 'POST', body: JSON.stringify({ total }), signal: AbortSignal.timeout(2000) });
    ctx.waitUntil(reply.body?.cancel() ?? Promise.resolve());
    console.log(event.trigger, new Date(event.scheduledTime).toISOString(), event.data.anything);
    return { total, at: event.runId };
  },
  async fetch(request, env) {
    const key = await crypto.subtle.importKey('raw', env.secrets.KEY, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    const signature = new TextEncoder().encode(request.headers.get('x-signature') ?? '');
    if (!(await crypto.subtle.verify('HMAC', key, signature, await request.arrayBuffer()))) return new Response('no', { status: 401 });
    const file = (await request.formData()).get('file');
    if (file instanceof File) await fetch('https://files.example/', { method: 'POST', body: file, headers: { authorization: `Bearer ${env.secrets.CLEAR}`, 'x-key': env.secrets.KEY } });
    const events = new ReadableStream<string>({ start(controller) { controller.enqueue('data: 1\n\n'); controller.close(); } });
    return new Response(events.pipeThrough(new TextEncoderStream()).pipeThrough(new CompressionStream('gzip')), { headers: { 'content-type': 'text/event-stream' } });
  },
} satisfies Qala.App<Bindings>;

export const mistakes = {
  async scheduled(event, env, ctx) {
    // @ts-expect-error: there is no DOM.
    document.title = 'x';
    // @ts-expect-error: nor another platform.
    process.exit(1);
    // @ts-expect-error: there is no such mode.
    await fetch('https://a.example/', { redirect: 'opaque' });
    await fetch('https://a.example/', { redirect: 'manual' });
    // @ts-expect-error: a question has a title.
    await ctx.approval({ detail: 'x' });
    // @ts-expect-error: an update has a query.
    await env.data['shop']?.update('orders', { paid: true });
    // @ts-expect-error: a handle is no text.
    const text: string = env.secrets['KEY'];
    // @ts-expect-error: there is no such trigger.
    if (event.trigger === 'cron') return text;
    // @ts-expect-error: brotli is not offered.
    new CompressionStream('br');
    // @ts-expect-error: a key cannot be wrapped.
    await crypto.subtle.wrapKey('raw', null, null, {});
    return undefined;
  },
} satisfies Qala.App;

// @ts-expect-error: a handler of HTTP returns a response.
export const wrong: Qala.App = { fetch: () => 'text' };
