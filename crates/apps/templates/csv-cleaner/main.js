// Cleans contacts from a CSV file (RFC 4180), and keeps each once.

/** Most rows of one query. */
const CHUNK = 100;

/**
 * Returns the records of a CSV file.
 * @param {string} text
 */
function parseCsv(text) {
  /** @type {string[][]} */
  const records = [];
  /** @type {string[]} */
  let record = [];
  // A field in quotation marks or without, and what ends it.
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\r|$)/gy;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    record.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] === ',') continue;
    if (record.some((field) => field !== '')) records.push(record);
    record = [];
    if (pattern.lastIndex >= text.length) return records;
  }
  throw new Error(`The file is not CSV: record ${records.length + 1} has a quotation mark out of place`);
}

/**
 * Returns a contact, or why it is none.
 * @param {Record<string, string>} fields
 */
function clean(fields) {
  const email = (fields.email ?? '').trim().toLowerCase();
  if (!/^[^\s@"]+@[^\s@"]+\.[^\s@"]+$/.test(email)) return 'no e-mail address';
  const phone = (fields.phone ?? '').replace(/[^\d+]/g, '');
  return { email, name: (fields.name ?? '').trim().replace(/\s+/g, ' '), phone: phone === '' ? null : phone };
}

/** @type {Qala.App} */
export default {
  async scheduled(event, env) {
    const csv = event.data?.csv;
    if (typeof csv !== 'string') throw new Error('Start it with {"csv": "name,email,phone\\n…"}');
    const [head = [], ...records] = parseCsv(csv.replace(/^\uFEFF/, ''));
    const columns = head.map((name) => name.trim().toLowerCase());
    if (!columns.includes('email')) throw new Error('The first line names no column "email"');

    /** @type {{ line: number, reason: string }[]} */
    const refused = [];
    const contacts = new Map();
    records.forEach((record, index) => {
      const contact = clean(Object.fromEntries(columns.map((name, at) => [name, record[at] ?? ''])));
      if (typeof contact === 'string') refused.push({ line: index + 2, reason: contact });
      else contacts.set(contact.email, contact);
    });

    const { main } = env.data;
    const all = [...contacts.values()];
    let added = 0;
    for (let at = 0; at < all.length; at += CHUNK) {
      const chunk = all.slice(at, at + CHUNK);
      const known = new Map((await main.select('contacts', { select: 'id,email', email: `in.(${chunk.map(({ email }) => `"${email}"`).join()})` })).map(({ id, email }) => [email, id]));
      const fresh = chunk.filter(({ email }) => !known.has(email));
      if (fresh.length > 0) await main.insert('contacts', fresh);
      for (const contact of chunk.filter(({ email }) => known.has(email))) await main.update('contacts', { id: `eq.${known.get(contact.email)}` }, contact);
      added += fresh.length;
    }
    return { added, updated: all.length - added, refused: refused.length, firstRefused: refused.slice(0, 20) };
  },
};
