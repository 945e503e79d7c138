// Sends a mail by the service that the app is connected to.

import settings from './settings.js';

/** @typedef {{ to: string, subject: string, text: string }} Mail */

/** @type {Record<string, (from: string, mail: Mail) => [path: string, body: object]>} */
const REQUESTS = {
  resend: (from, { to, subject, text }) => ['/emails', { from, to: [to], subject, text }],
  postmark: (from, { to, subject, text }) => ['/email', { From: from, To: to, Subject: subject, TextBody: text }],
  sendgrid: (from, { to, subject, text }) => ['/v3/mail/send', { personalizations: [{ to: [{ email: to }] }], from: { email: from }, subject, content: [{ type: 'text/plain', value: text }] }],
  brevo: (from, { to, subject, text }) => ['/smtp/email', { sender: { email: from }, to: [{ email: to }], subject, textContent: text }],
};

/**
 * @param {Qala.Env} env
 * @param {Mail} mail
 */
export async function sendMail(env, mail) {
  const service = settings.services.mail;
  // A line break in a subject would begin another header.
  const subject = mail.subject.replace(/\s+/g, ' ').slice(0, 200);
  const [path, body] = REQUESTS[service](settings.sender, { ...mail, subject });
  const response = await env.connections.mail.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${service} refused the mail with ${response.status}: ${(await response.text()).slice(0, 200)}`);
}
