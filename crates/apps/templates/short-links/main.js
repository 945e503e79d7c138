// Redirects short addresses to long ones, and counts how often each is used.

/** @type {Qala.App} */
export default {
  async fetch(request, env) {
    const code = new URL(request.url).pathname.slice(1);
    if (!/^[\w-]{1,64}$/.test(code)) return new Response('Not found\n', { status: 404 });
    const { main } = env.data;
    const [link] = await main.select('links', { code: `eq.${code}`, limit: '1' });
    if (link === undefined || !URL.canParse(link.target) || new URL(link.target).protocol !== 'https:') return new Response('Not found\n', { status: 404 });
    // Two at the same time may count as one.
    await main.update('links', { id: `eq.${link.id}` }, { clicks: (link.clicks ?? 0) + 1 });
    return new Response(null, { status: 302, headers: { location: link.target, 'cache-control': 'no-store' } });
  },
};
