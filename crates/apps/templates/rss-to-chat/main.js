// Sends new entries of an RSS or Atom feed to a chat. The first run only remembers what is there.

import { sendToChat } from './chat.js';
import settings from './settings.js';

/** Most entries of a feed that are looked at, and most messages of a run. */
const LOOKED_AT = 100;
const MESSAGES = 10;

const ENTITIES = new Map([['lt', '<'], ['gt', '>'], ['quot', '"'], ['apos', "'"], ['amp', '&']]);

/**
 * Returns the text of an element's content.
 * @param {string} xml
 */
function textOf(xml) {
  const plain = xml.replace(/<!\[CDATA\[([\s\S]*?)\]\]>/g, (_, text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;'));
  const decode = (/** @type {string} */ whole, /** @type {string} */ name) => {
    const number = name.startsWith('#x') ? parseInt(name.slice(2), 16) : name.startsWith('#') ? parseInt(name.slice(1), 10) : NaN;
    return ENTITIES.get(name) ?? (number > 0 && number < 0x110000 ? String.fromCodePoint(number) : whole);
  };
  return plain.replace(/<[^>]*>/g, '').replace(/&(#x?[0-9a-fA-F]+|\w+);/g, decode).trim();
}

/**
 * Returns the entries of a feed: `item` of RSS 2.0, `entry` of Atom (RFC 4287).
 * @param {string} xml
 */
function entriesOf(xml) {
  const entries = [...xml.matchAll(/<(item|entry)[\s>][\s\S]*?<\/\1>/g)].slice(0, LOOKED_AT);
  return entries.map(([entry]) => {
    const title = textOf(/<title[^>]*>([\s\S]*?)<\/title>/.exec(entry)?.[1] ?? '');
    const href = /<link(?![^>]*rel=["'](?!alternate))[^>]*href=["']([^"']+)["']/.exec(entry)?.[1];
    const link = textOf(href ?? /<link[^>]*>([\s\S]*?)<\/link>/.exec(entry)?.[1] ?? '');
    return { title, link };
  }).filter(({ link }) => link !== '');
}

/** @type {Qala.App} */
export default {
  async scheduled(event, env) {
    const response = await fetch(settings.feed, { headers: { accept: 'application/rss+xml, application/atom+xml, application/xml' } });
    if (!response.ok) throw new Error(`The feed answered ${response.status}`);
    const entries = entriesOf(await response.text());
    const { main } = env.data;
    const known = new Set((await main.select('entries', { select: 'link', order: 'created_at.desc', limit: '1000' })).map(({ link }) => link));
    const isFirst = known.size === 0;
    const fresh = entries.filter(({ link }) => !known.has(link)).reverse();
    // The rest follows with the next runs.
    const taken = isFirst ? fresh : fresh.slice(0, MESSAGES);
    for (const entry of taken) {
      if (!isFirst) await sendToChat(env, `${entry.title}\n${entry.link}`);
      await main.insert('entries', entry);
    }
    return { entries: entries.length, sent: isFirst ? 0 : taken.length };
  },
};
