// Code that an app may begin with.

export type Starter = 'scheduled' | 'fetch' | 'both' | 'approval';

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

const HANDLERS: Readonly<Record<Starter, readonly string[]>> = { scheduled: [SCHEDULED], fetch: [FETCH], both: [SCHEDULED, FETCH], approval: [APPROVAL] };

export const STARTERS = Object.keys(HANDLERS) as readonly Starter[];

export function starterFiles(starter: Starter): Readonly<Record<string, string>> {
  return { 'main.js': `export default {\n${HANDLERS[starter].join('\n')}};\n` };
}
