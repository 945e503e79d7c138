// Code that an app may begin with.

export type Starter = 'scheduled' | 'rows' | 'fetch' | 'both' | 'approval';

/** Name by which the code of the starter `rows` knows its project. */
export const ROWS_BINDING = 'main';

const SCHEDULED = `  // A webhook, a schedule or a person started it.
  async scheduled(event, env, ctx) {
    console.log(event.trigger, event.data);
    return { received: event.data };
  },
`;

const FETCH = `  // It responds over HTTP at the address of the app.
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    return Response.json({ hello: pathname });
  },
`;

const APPROVAL = `  // The run waits until a person has answered.
  async scheduled(event, env, ctx) {
    const { approved } = await ctx.approval({ title: "Go on?", detail: JSON.stringify(event.data) });
    console.log(approved ? "A person said yes" : "A person said no");
    return { approved };
  },
`;

const ROWS = `  // What started it becomes a row: each field of the input is a column.
  async scheduled(event, env, ctx) {
    const [row] = await env.data.${ROWS_BINDING}.insert("TABLE", event.data);
    console.log("Kept the row", row.id);
    return { row: row.id };
  },
`;

const HANDLERS: Readonly<Record<Starter, readonly string[]>> = { scheduled: [SCHEDULED], rows: [ROWS], fetch: [FETCH], both: [SCHEDULED, FETCH], approval: [APPROVAL] };

export const STARTERS = Object.keys(HANDLERS) as readonly Starter[];

/** Returns the code; `table` is where the starter `rows` keeps its rows. */
export function starterFiles(starter: Starter, table = ''): Readonly<Record<string, string>> {
  return { 'main.js': `export default {\n${HANDLERS[starter].join('\n').replace('TABLE', table)}};\n` };
}
