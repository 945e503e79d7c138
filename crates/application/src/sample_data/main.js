// The sample app of a new workspace. It has two handlers:
//  - scheduled: saves a note when a webhook, a schedule or a person starts it
//  - fetch: responds over HTTP with the latest notes

export default {
  async scheduled(event, env, ctx) {
    const data = event.data ?? {};
    const title = data.title ?? data.head_commit?.message ?? `Started by ${event.trigger}`;
    const [note] = await env.data.main.insert("notes", {
      title: String(title).slice(0, 200),
      source: event.trigger,
      data,
    });
    console.log(`Saved note ${note.id}: ${note.title}`);
    return { noteId: note.id };
  },

  async fetch(request, env, ctx) {
    const url = new URL(request.url);
    if (url.pathname !== "/") return new Response("Not found. The only page is at /.", { status: 404 });
    const notes = await env.data.main.select("notes", { order: "created_at.desc", limit: "10" });
    return Response.json({ app: "Notebook", notes });
  },
};
