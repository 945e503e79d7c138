// Sends a text to a channel of the chat that the app is connected to.

import settings from './settings.js';

/** @type {Record<string, (channel: string, text: string) => [path: string, body: object]>} */
const REQUESTS = {
  slack: (channel, text) => ['/chat.postMessage', { channel, text }],
  telegram: (channel, text) => ['/sendMessage', { chat_id: channel, text }],
  discord: (channel, text) => [`/channels/${encodeURIComponent(channel)}/messages`, { content: text, allowed_mentions: { parse: [] } }],
};

/** Most characters that all of the services take. */
const LONGEST = 2_000;

/**
 * @param {Qala.Env} env
 * @param {string} text
 */
export async function sendToChat(env, text) {
  const service = settings.services.chat;
  const [path, body] = REQUESTS[service](settings.channel, Array.from(text).slice(0, LONGEST).join(''));
  const response = await env.connections.chat.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = await response.text();
  // Slack reports errors with the status 200.
  if (!response.ok || answer.includes('"ok":false')) throw new Error(`${service} refused the message with ${response.status}: ${answer.slice(0, 200)}`);
}
