// The whole way of the official client, whichever generation: 401, metadata, registration, PKCE, a tool, refreshing,
// revoking.

import { base, check, signIn } from './person.mjs';
import { Provider } from './provider.mjs';

export async function flow({ Client, Transport, Unauthorized, options, email }) {
  const person = await signIn(email);
  const provider = new Provider();
  const open = async () => {
    const client = new Client({ name: 'test', version: '1.0.0' }, options);
    const transport = new Transport(new URL(`${base}/mcp`), { authProvider: provider });
    return { client, transport, connected: client.connect(transport) };
  };
  const refused = async (promise) => {
    try {
      await promise;
      return undefined;
    } catch (error) {
      return error;
    }
  };

  const first = await open();
  const error = await refused(first.connected);
  check('without tokens it is refused', error instanceof Unauthorized);
  check('it registered itself', provider.registrations === 1 && provider.kept.client.client_id.startsWith('qac_'));
  check('it sends its person to the server', provider.sentTo.href.startsWith(`${base}/oauth/authorize?`));
  check('it names the agent server', provider.sentTo.searchParams.get('resource') === `${base}/mcp`);

  check('it asks for what the server names', provider.sentTo.searchParams.get('scope') === 'read write');

  const answer = await person.allow(provider.sentTo);
  check('the answer says who it is from', answer.searchParams.get('iss') === base);
  check('the answer is to this question', answer.searchParams.get('state') === 'a-state');
  await first.transport.finishAuth(answer.searchParams);
  check('it has both tokens', provider.kept.tokens.access_token.startsWith('qao_') && provider.kept.tokens.refresh_token.startsWith('qar_'));

  const second = await open();
  await second.connected;
  const { tools } = await second.client.listTools();
  check('it sees the tools', tools.map((tool) => tool.name).join() === 'whoami,list_apps,list_automations,list_runs,get_run,explain_run,get_logs,list_dead_letters,get_dead_letter,list_versions,compare_versions,get_change,wait_for_events,start_automation,cancel_run,replay_dead_letter,replay_dead_letters,plan_change,approve_change,rollback_version,analyze_import,create_import');
  const whoami = async () => {
    const result = await second.client.callTool({ name: 'whoami', arguments: {} });
    return result.structuredContent;
  };
  check('a tool knows the person', (await whoami()).workspace.id === person.workspace);

  // What its person publishes is a tool, until its permissions move. A client that caches lists is told to read them again.
  const names = async () => (await second.client.listTools(undefined, { cacheMode: 'refresh' })).tools.map((tool) => tool.name);
  const echo = (text) => second.client.callTool({ name: 'run_echo', arguments: { text } });
  const movePermissions = await person.publishTool();
  check('it sees a published tool', (await names()).includes('run_echo'));
  check('it gets the result of its call', (await echo('hello')).structuredContent.result.got.text === 'hello');
  const wrong = await echo('far too long');
  check('wrong arguments start nothing', wrong.isError && wrong.content[0].text.includes('`input.text` must have at most 9 characters'));
  await movePermissions();
  check('it sees the tool no more', !(await names()).includes('run_echo'));
  const gone = await echo('hello');
  check('the tool is not live', gone.isError && gone.content[0].text.startsWith('tool_not_live: '));

  // It changes an app by itself where the app gains nothing, and leaves the rest to its person.
  const app = (await second.client.callTool({ name: 'list_apps', arguments: {} })).structuredContent.items[0].id;
  const plan = async (instruction) =>
    (await second.client.callTool({ name: 'plan_change', arguments: { appId: app, instruction } })).structuredContent;
  const approve = ({ changeId, manifest }) => second.client.callTool({ name: 'approve_change', arguments: { changeId, manifest } });
  const live = await approve(await plan('Each run saves 5 minutes.'));
  check('a change inside the safe band is live', live.structuredContent.state === 'live');
  const wider = await plan('Let the app call other.example.net.');
  check('the plan says what needs its person', wider.needsConsole.length > 0);
  const told = await approve(wider);
  check('it is told to go to the console', told.isError && told.content[0].text.startsWith('approval_needs_console: ') && told.content[0].text.includes('console'));

  // An access token that is no longer good is refreshed without anybody being asked.
  const before = provider.kept.tokens;
  const spoiled = before.access_token.slice(0, -1) + (before.access_token.endsWith('x') ? 'y' : 'x');
  provider.kept.tokens = { ...before, access_token: spoiled };
  provider.sentTo = undefined;
  check('it goes on', (await whoami()).workspace.id === person.workspace);
  check('it refreshed', provider.kept.tokens.refresh_token !== before.refresh_token && provider.sentTo === undefined);

  const tokens = provider.kept.tokens;
  const form = new URLSearchParams({ client_id: provider.kept.client.client_id, token: tokens.refresh_token });
  const revoked = await fetch(`${base}/oauth/revoke`, { method: 'POST', body: form });
  check('it gives its refresh token back', revoked.status === 200);
  const after = await fetch(`${base}/v1/tokens/self`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
  check('the access token ended with it', after.status === 401);
  const end = await refused(whoami());
  check('its person would have to be asked again', end instanceof Unauthorized && provider.sentTo !== undefined);
  await second.client.close();
}
