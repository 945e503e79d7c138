// What the steps of a workflow do with items.

/** @typedef {import('./flow.js').Item} Item */

/** Whether a value is a list or an object, rather than a date. */
export function isStructure(value) {
  return value !== null && typeof value === 'object' && !(value instanceof Date) && typeof value.toISO !== 'function';
}

/** A value as text, as it stands in a longer text. */
export function text(value) {
  if (value === undefined || value === null) return '';
  if (isStructure(value)) return JSON.stringify(value);
  return String(typeof value === 'object' ? value.toISO?.() ?? value.toISOString() : value);
}

/** A value as it stands in a text of n8n: lists are joined, and objects say no more than that they are some. */
export function inText(value) {
  return isStructure(value) ? String(value) : text(value);
}

/** A value as an object. */
export function objectOf(value) {
  if (value === null || value === undefined) return {};
  return typeof value === 'object' && !Array.isArray(value) ? value : { data: value };
}

/** A value, read as JSON if it is text. */
export function parsed(value) {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch (error) {
    throw new Error(`this is no JSON: ${value.slice(0, 80)}`, { cause: error });
  }
}

/** A value as it stands in JSON that is written as a text. */
export function inJson(value) {
  return isStructure(value) ? JSON.stringify(value) : value === undefined || value === null ? String(value) : text(value);
}

/** The object that such a text says; a value that is not there is null. */
export function writtenObject(value) {
  const read = typeof value === 'string' ? parsed(value.replace(/([:[,]\s*)undefined(?=\s*[,\]}])/g, '$1null')) : value;
  if (read === null || read === undefined) throw new Error('this is no object');
  return objectOf(read);
}

/** The members of a path such as `a.b[0]`. */
function partsOf(path) {
  return String(path).match(/[^.[\]]+/g) ?? [];
}

/** The value at a path. */
export function get(object, path) {
  if (object !== null && typeof object === 'object' && Object.hasOwn(object, path)) return object[path];
  let value = object;
  for (const part of partsOf(path)) {
    if (value === null || value === undefined || !Object.hasOwn(Object(value), part)) return undefined;
    value = value[part];
  }
  return value;
}

/** Sets one member, whatever its name. */
export function setMember(object, name, value) {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** Sets the value at a path, and makes the objects on the way. */
export function set(object, path, value) {
  const parts = partsOf(path);
  if (parts.length === 0) return;
  let at = object;
  for (const part of parts.slice(0, -1)) {
    const next = Object.hasOwn(at, part) ? at[part] : undefined;
    // What is on the way belongs to another item, too.
    const own = Array.isArray(next) ? [...next] : next !== null && typeof next === 'object' ? { ...next } : {};
    setMember(at, part, own);
    at = own;
  }
  setMember(at, parts.at(-1), value);
}

function unset(object, path) {
  const parts = partsOf(path);
  const owner = parts.slice(0, -1).reduce((at, part) => (at === null || at === undefined ? undefined : at[part]), object);
  if (owner !== null && typeof owner === 'object') delete owner[parts.at(-1)];
}

const names = (list) => (Array.isArray(list) ? list : String(list ?? '').split(',')).map((name) => String(name).trim()).filter((name) => name !== '');

/** The members that are named. */
export function pick(json, list) {
  const picked = {};
  for (const name of names(list)) {
    const value = get(json, name);
    if (value !== undefined) set(picked, name, value);
  }
  return picked;
}

/** The members that are named, each by the last part of its name; with `isFlat`, a name is one member. */
export function pickLast(json, list, isFlat = false) {
  const picked = {};
  for (const name of names(list)) {
    const value = isFlat ? json[name] : get(json, name);
    if (value !== undefined) setMember(picked, name.split('.').at(-1), value);
  }
  return picked;
}

/** The members that are not named. */
export function omit(json, list) {
  const rest = structuredClone(json);
  for (const name of names(list)) unset(rest, name);
  return rest;
}

/** A value as a type; an error says where it cannot be. */
export function cast(value, type) {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'string': return isStructure(value) ? JSON.stringify(value) : text(value);
    case 'number': {
      const number = typeof value === 'string' && value.trim() === '' ? NaN : Number(value);
      if (Number.isNaN(number)) throw new Error(`a number is needed, not ${JSON.stringify(value)}`);
      return number;
    }
    case 'boolean': {
      if (typeof value === 'boolean') return value;
      const word = String(value).toLowerCase();
      if (word === 'true' || word === '1') return true;
      if (word === 'false' || word === '0') return false;
      throw new Error(`true or false is needed, not ${JSON.stringify(value)}`);
    }
    case 'array': {
      const list = parsed(value);
      if (!Array.isArray(list)) throw new Error('a list is needed');
      return list;
    }
    case 'object': {
      const object = parsed(value);
      if (object === null || typeof object !== 'object' || Array.isArray(object)) throw new Error('an object is needed');
      return object;
    }
    default: return value;
  }
}

/** An item for each entry of a list. */
export function splitOut(items, field, { keep, into, isStrict = false } = {}) {
  const fields = names(field).map((name) => name.replace(/^\$json\./, ''));
  const targets = names(into);
  if (targets.length > 0 && targets.length !== fields.length) throw new Error('If multiple fields to split out are given, the same number of destination fields must be given');
  return items.flatMap((item) => {
    const lost = fields.find((name) => isStrict && get(item.json, name) === undefined);
    if (lost !== undefined) throw new Error(`Couldn't find the field '${lost}' in the input data`);
    const lists = fields.map((name) => get(item.json, name)).map((value) => (value === undefined ? [] : value === null || typeof value !== 'object' ? [value] : Array.isArray(value) ? value : Object.values(value)));
    const longest = Math.max(0, ...lists.map((list) => list.length));
    return Array.from({ length: longest }, (_, index) => {
      let own = {};
      for (const [number, name] of fields.entries()) {
        if (index >= lists[number].length) continue;
        const value = lists[number][index];
        const isOnly = fields.length === 1 && keep === undefined && targets.length === 0;
        // A name is one member, whatever it looks like.
        if (isOnly && value !== null && typeof value === 'object') own = { ...own, ...value };
        else setMember(own, targets[number] ?? name, value);
      }
      if (keep === 'all') own = { ...omit(item.json, fields), ...own };
      else if (keep !== undefined) for (const name of names(keep)) setMember(own, name, get(item.json, name));
      return { json: own, origin: item };
    });
  });
}

/** One item with the members of all in a list. */
export function aggregateAll(items, into, choose = (json) => json) {
  return [{ json: { [into]: items.map((item) => choose(item.json)) } }];
}

/** One item with a list of values for each field. */
export function aggregateFields(items, fields, { mergeLists = false, keepMissing = false } = {}) {
  const json = {};
  for (const [field, name] of fields) {
    let values = items.map((item) => get(item.json, field));
    values = keepMissing ? values.map((value) => value ?? null) : values.filter((value) => value !== undefined && value !== null);
    set(json, name ?? String(field).split('.').at(-1), mergeLists ? values.flat() : values);
  }
  return [{ json }];
}

/** Items in a random order. */
export function shuffled(items) {
  const list = [...items];
  for (let last = list.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1));
    [list[last], list[other]] = [list[other], list[last]];
  }
  return list;
}

/** Items by fields, each with whether it falls. */
export function sorted(items, keys) {
  const lost = keys.find(([field]) => items.length > 0 && !items.some((item) => get(item.json, field) !== undefined));
  if (lost !== undefined) throw new Error(`Couldn't find the field '${lost[0]}' in the input data`);
  const valueOf = (item, field) => {
    const value = get(item.json, field);
    return typeof value === 'string' ? value.toLowerCase() : value;
  };
  return [...items].sort((left, right) => {
    for (const [field, falls] of keys) {
      const [a, b] = [valueOf(left, field), valueOf(right, field)];
      if (identity(a) === identity(b)) continue;
      return (a < b) === falls ? 1 : -1;
    }
    return 0;
  });
}

/** A text that is the same for equal values only. */
export function identity(value) {
  if (!isStructure(value)) return JSON.stringify(value) ?? 'undefined';
  if (Array.isArray(value)) return `[${value.map(identity).join(',')}]`;
  return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${identity(value[name])}`).join(',')}}`;
}

/** The paths of what is in an object, with those of the objects and lists in it. */
function pathsOf(value, path = []) {
  if (value === null || typeof value !== 'object') return [path.join('.')];
  return Object.entries(value).flatMap(([name, member]) => pathsOf(member, [...path, name]));
}

/** The first of equal items. All must have the fields that are compared, of one type. */
export function withoutDuplicates(items, { fields, except, skipsNull = false } = {}) {
  if (items.length === 0) return [];
  const all = () => [...new Set((except === undefined ? items : items.slice(0, 1)).flatMap((item) => pathsOf(item.json)))];
  const left = except === undefined ? [] : names(except);
  const keys = fields === undefined ? all().filter((name) => !left.includes(name)) : names(fields);
  for (const key of keys) {
    let type;
    for (const item of items) {
      const value = get(item.json, key);
      if (value === null && skipsNull) continue;
      if (value === undefined) throw new Error(`'${key}' field is missing from some input items`);
      if (type !== undefined && type !== typeof value) throw new Error(`'${key}' isn't always the same type`);
      type = typeof value;
    }
  }
  const seen = new Set();
  return items.filter((item) => {
    const key = identity(keys.map((name) => get(item.json, name)));
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

/** Gives a member another name. */
export function rename(json, from, to) {
  const value = get(json, from);
  if (value === undefined) return;
  unset(json, from);
  set(json, to, value);
}

/** Whether a value counts as none in a summary. */
const isNone = (value) => value === undefined || value === null || value === '';

const LABELS = { append: 'appended', average: 'average', concatenate: 'concatenated', count: 'count', countUnique: 'unique_count', max: 'max', min: 'min', sum: 'sum' };
const memberOf = (name) => String(name).replace(/[\]["]/g, '').replace(/[ .]/g, '_');

function aggregated(items, field, how, separator) {
  const values = items.map((item) => get(item.json, field)).filter((value) => !isNone(value));
  const numbers = values.filter((value) => typeof value === 'number');
  const total = numbers.reduce((sum, number) => sum + number, 0);
  switch (how) {
    case 'append': return values;
    case 'average': return total / numbers.length;
    case 'concatenate': return values.map((value) => (typeof value === 'object' ? JSON.stringify(value) : value)).join(separator);
    case 'countUnique': return new Set(values).size;
    case 'max': return values.reduce((most, value) => (most === undefined || value > most ? value : most), undefined) ?? null;
    case 'min': return values.reduce((least, value) => (least === undefined || value < least ? value : least), undefined) ?? null;
    case 'sum': return total;
    default: return values.length;
  }
}

/** One item with results of fields, or one for each group of items. With `isText`, the values of groups are texts. */
export function summarized(items, fields, by, { isText = false } = {}) {
  if (isText) {
    const lost = fields.find(([field]) => !items.some((item) => get(item.json, field) !== undefined));
    if (lost !== undefined) throw new Error(`The field '${lost[0]}' does not exist in any items`);
  }
  const split = (group, [name, ...others]) => {
    if (name === undefined) {
      const json = {};
      for (const [field, how, separator] of fields) setMember(json, memberOf(`${LABELS[how] ?? how}_${field}`), aggregated(group, field, how, separator));
      return [{ json, origin: group[0] }];
    }
    const groups = new Map();
    for (const item of group) {
      let value = get(item.json, name);
      if (value !== null && typeof value === 'object') value = JSON.stringify(value);
      if (isText) value = String(value);
      const known = groups.get(value);
      if (known === undefined) groups.set(value, [item]);
      else known.push(item);
    }
    return [...groups].flatMap(([value, members]) => split(members, others).map((made) => {
      setMember(made.json, memberOf(name), value);
      return made;
    }));
  };
  return split(items, names(by));
}

/** The text of a file of an item. */
export function fileText(item, name) {
  const file = item.binary?.[name];
  if (file === undefined) throw new Error(`the item has no file ${name}`);
  return file.text;
}

/** One item with a file. */
export function fileOf(name, content, items) {
  return [{ json: {}, binary: { [name]: { text: content } }, origin: items[0] }];
}

/** The rows of a CSV text, by the names in its first (RFC 4180). */
export function csvRows(source, separator = ',') {
  const rows = csvCells(source, separator);
  const [header = [], ...rest] = rows;
  return rest.filter((row) => row.length > 1 || row[0] !== '').map((row) => {
    const json = {};
    for (const [index, name] of header.entries()) setMember(json, name.trim(), row[index] ?? '');
    return json;
  });
}

/** The cells of a CSV text by rows. */
export function csvCells(source, separator = ',') {
  const rows = [];
  let row = [];
  let cell = '';
  let isQuoted = false;
  for (let index = 0; index < source.length; index += 1) {
    const character = source[index];
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (source[index + 1] === '"') { cell += '"'; index += 1; } else isQuoted = false;
    } else if (character === '"' && cell === '') isQuoted = true;
    else if (character === separator) { row.push(cell); cell = ''; } else if (character === '\n') {
      row.push(cell.endsWith('\r') ? cell.slice(0, -1) : cell);
      rows.push(row);
      row = [];
      cell = '';
    } else cell += character;
  }
  if (cell !== '' || row.length > 0) rows.push([...row, cell]);
  return rows;
}

/** Objects as CSV, with the names of their members in the first row. */
export function csvText(objects, separator = ',', withHeader = true) {
  const header = [...new Set(objects.flatMap((object) => Object.keys(object)))];
  const cell = (value) => (/["\r\n]/.test(text(value)) || text(value).includes(separator) ? `"${text(value).replaceAll('"', '""')}"` : text(value));
  const lines = objects.map((object) => header.map((name) => cell(object[name])).join(separator));
  return `${[...withHeader ? [header.map(cell).join(separator)] : [], ...lines].join('\n')}\n`;
}

/** A digest of a text. */
export async function digest(algorithm, value, encoding) {
  const bytes = new Uint8Array(await crypto.subtle.digest(algorithm, new TextEncoder().encode(value)));
  if (encoding === 'base64') return btoa(String.fromCharCode(...bytes));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** HTML of headings, lists, emphasis, links and code of a Markdown text. */
export function markdownToHtml(source) {
  const escape = (part) => part.replace(/[&<>"]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[character]);
  const inline = (part) => escape(part)
    .replace(/`([^`]+)`/g, '<code>$1</code>').replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>').replace(/\*([^*]+)\*/g, '<em>$1</em>')
    .replace(/\[([^\]]+)\]\((https?:[^)\s]+)\)/g, '<a href="$2">$1</a>');
  const blocks = [];
  let list = [];
  const end = () => { if (list.length > 0) blocks.push(`<ul>\n${list.map((entry) => `<li>${inline(entry)}</li>`).join('\n')}\n</ul>`); list = []; };
  for (const block of source.split(/\n{2,}/)) {
    let paragraph = [];
    const flush = () => { if (paragraph.length > 0) blocks.push(`<p>${inline(paragraph.join('\n'))}</p>`); paragraph = []; };
    for (const line of block.split('\n')) {
      const heading = /^(#{1,6})\s+(.*)$/.exec(line);
      const entry = /^\s*[-*+]\s+(.*)$/.exec(line);
      if (heading) { flush(); end(); blocks.push(`<h${heading[1].length}>${inline(heading[2])}</h${heading[1].length}>`); } else if (entry) { flush(); list.push(entry[1]); } else if (line.trim() !== '') { end(); paragraph.push(line); }
    }
    flush();
    end();
  }
  return blocks.join('\n');
}

/** The text of an HTML document. */
export function htmlToText(source) {
  return source.replace(/<(script|style)[^>]*>[^]*?<\/\1>/gi, '').replace(/<(br|\/p|\/div|\/li|\/h[1-6])[^>]*>/gi, '\n').replace(/<[^>]*>/g, '')
    .replaceAll('&nbsp;', ' ').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&').replace(/\n{3,}/g, '\n\n').trim();
}
