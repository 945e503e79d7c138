// A workflow of n8n as it is exported: a schedule, a text, and a message in Slack.

const SLACK = { id: 'tell', name: 'Tell the team', type: 'n8n-nodes-base.slack', typeVersion: 2.2, position: [440, 0] };

const NODES = [
  { id: 'start', name: 'Every morning', type: 'n8n-nodes-base.scheduleTrigger', typeVersion: 1.2, position: [0, 0], parameters: { rule: { interval: [{ field: 'days', triggerAtHour: 9 }] } } },
  { id: 'text', name: 'Write the text', type: 'n8n-nodes-base.set', typeVersion: 3.4, position: [220, 0], parameters: { assignments: { assignments: [{ id: 'a', name: 'text', value: 'Good morning', type: 'string' }] }, options: {} } },
  { ...SLACK, parameters: { select: 'channel', channelId: { __rl: true, value: '#general', mode: 'name' }, text: '={{ $json.text }}', otherOptions: {} }, credentials: { slackApi: { id: '1', name: 'Team chat' } } },
  { id: 'note', name: 'Note', type: 'n8n-nodes-base.stickyNote', typeVersion: 1, position: [0, 200], parameters: { content: 'Ask before you change the time.' } },
];
const to = (node) => ({ main: [[{ node, type: 'main', index: 0 }]] });

/** Text of the export. */
export const WORKFLOW = JSON.stringify({ name: 'Morning news', nodes: NODES, connections: { 'Every morning': to('Write the text'), 'Write the text': to('Tell the team') } });
