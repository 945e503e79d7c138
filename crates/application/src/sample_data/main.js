// The sample app of a new workspace. It has two handlers:
//  - scheduled: a webhook, a schedule or a person starts it; it keeps a note
//  - fetch: it answers over HTTP with the last notes

export default {
  async scheduled(event, env, ctx) {
    const data = event.data ?? {};
    const title = data.title ?? data.head_commit?.message ?? `Started by ${event.trigger}`;
    const [note] = await env.data.main.insert("notes", {
      title: String(title).slice(0, 200),
      source: event.trigger,
      data,
    });
    console.log(`Kept the note ${note.id}: ${note.title}`);
    return { noteId: note.id };
  },

  async fetch(request, env, ctx) {
    const url = new URL(request.url);
    if (url.pathname !== "/") return new Response("There is only one page.", { status: 404 });
    const notes = await env.data.main.select("notes", { order: "created_at.desc", limit: "10" });
    return Response.json({ app: "Notebook", notes });
  },
};
