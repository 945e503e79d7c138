// The mail that a server sent to a maildir.

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const DEADLINE = 60_000;
const PAUSE = 50;

/** Undoes quoted-printable (RFC 2045 §6.7), which breaks long lines. */
const decode = (text) => text.replace(/=\r?\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));

function mails(folder) {
  try {
    return readdirSync(`${folder}/new`).sort().map((file) => decode(readFileSync(`${folder}/new/${file}`, 'utf8')));
  } catch (error) {
    // The folder is created with the first e-mail.
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Returns a function that waits for the first e-mail to an address, and returns its code and its link. */
export function mailbox(folder) {
  return async (to) => {
    for (const until = Date.now() + DEADLINE; Date.now() < until; await sleep(PAUSE)) {
      const mail = mails(folder).find((text) => new RegExp(`^To: .*${to}`, 'mi').test(text));
      if (mail) return { code: /^\s*(\d{6})\s*$/m.exec(mail)?.[1], link: /^\s*(http\S+)/m.exec(mail)?.[1] };
    }
    throw new Error(`No mail to ${to} arrived.`);
  };
}
