// What the steps of a workflow do with items.

/** @typedef {import('./flow.js').Item} Item */

/** A value as text, as it stands in a longer text. */
export function text(value) {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? (value instanceof Date || typeof value.toISO === 'function' ? String(value.toISO?.() ?? value.toISOString()) : JSON.stringify(value)) : String(value);
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

/** The members that are not named. */
export function omit(json, list) {
  const rest = structuredClone(json);
  for (const name of names(list)) unset(rest, name);
  return rest;
}

/** A value as a type; an error says where it cannot be. */
export function cast(value, type) {
  if (value === undefined || value === null) return value;
  switch (type) {
    case 'string': return typeof value === 'object' && !(value instanceof Date) && typeof value.toISO !== 'function' ? JSON.stringify(value) : text(value);
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
      if (object === null || typeof object !== 'object') throw new Error('an object is needed');
      return object;
    }
    default: return value;
  }
}

/** An item for each entry of a list. */
export function splitOut(items, field, { keep, into } = {}) {
  const fields = names(field);
  return items.flatMap((item) => {
    const lists = fields.map((name) => get(item.json, name)).map((value) => (value === undefined || value === null ? [] : Array.isArray(value) ? value : typeof value === 'object' ? Object.values(value) : [value]));
    const longest = Math.max(0, ...lists.map((list) => list.length));
    return Array.from({ length: longest }, (_, index) => {
      let json = keep === 'all' ? omit(item.json, fields) : keep === undefined ? {} : pick(item.json, keep);
      for (const [number, name] of fields.entries()) {
        const value = lists[number][index];
        const isOnly = fields.length === 1 && keep === undefined && into === undefined;
        if (isOnly && value !== null && typeof value === 'object' && !Array.isArray(value)) json = { ...value };
        else if (value !== undefined) set(json, into === undefined ? name : names(into)[number] ?? name, value);
      }
      return { json, origin: item };
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

function compare(left, right) {
  if (left === undefined || left === null) return right === undefined || right === null ? 0 : 1;
  if (right === undefined || right === null) return -1;
  if (typeof left === 'string' && typeof right === 'string') {
    const [a, b] = [left.toLowerCase(), right.toLowerCase()];
    return a < b ? -1 : a > b ? 1 : 0;
  }
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Items by fields, each with whether it falls. */
export function sorted(items, keys) {
  return [...items].sort((left, right) => {
    for (const [field, falls] of keys) {
      const order = compare(get(left.json, field), get(right.json, field));
      if (order !== 0) return falls ? -order : order;
    }
    return 0;
  });
}

/** A text that is the same for equal values. */
function identity(value) {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'undefined';
  if (Array.isArray(value)) return `[${value.map(identity).join(',')}]`;
  return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${identity(value[name])}`).join(',')}}`;
}

/** The first of equal items. */
export function withoutDuplicates(items, choose = (json) => json) {
  const seen = new Set();
  return items.filter((item) => {
    const key = identity(choose(item.json));
    return !seen.has(key) && seen.add(key);
  });
}

/** Gives a member another name. */
export function rename(json, from, to) {
  const value = get(json, from);
  if (value === undefined) return;
  unset(json, from);
  set(json, to, value);
}

/** One item for each group, with figures of its items. */
export function summarized(items, fields, by) {
  const keys = names(by);
  const groups = new Map();
  for (const item of items) {
    const key = identity(keys.map((name) => get(item.json, name)));
    const group = groups.get(key) ?? [];
    group.push(item);
    groups.set(key, group);
  }
  if (keys.length === 0 && groups.size === 0) groups.set('', []);
  return [...groups.values()].map((group) => {
    const json = {};
    for (const name of keys) set(json, name, get(group[0].json, name));
    for (const [field, how, separator] of fields) {
      const values = group.map((item) => get(item.json, field)).filter((value) => value !== undefined && value !== null && value !== '');
      const numbers = values.map(Number).filter((number) => !Number.isNaN(number));
      const total = numbers.reduce((sum, number) => sum + number, 0);
      const result = {
        append: () => values,
        average: () => (numbers.length === 0 ? 0 : total / numbers.length),
        concatenate: () => values.map(text).join(separator),
        count: () => values.length,
        countUnique: () => new Set(values.map(identity)).size,
        max: () => (numbers.length === 0 ? null : Math.max(...numbers)),
        min: () => (numbers.length === 0 ? null : Math.min(...numbers)),
        sum: () => total,
      }[how]?.();
      const label = { append: 'appended', average: 'average', concatenate: 'concatenated', count: 'count', countUnique: 'unique_count', max: 'max', min: 'min', sum: 'sum' }[how] ?? how;
      setMember(json, `${label}_${String(field).replaceAll('.', '_')}`, result);
    }
    return { json, origin: group[0] };
  });
}

/** The items of all inputs, one after another. */
export function append(inputs, count) {
  return inputs.slice(0, count).flat();
}

/** Items with the members of those at the same position. */
export function byPosition(inputs, withUnpaired) {
  const lists = inputs.filter((items) => items !== undefined);
  const lengths = lists.map((items) => items.length);
  const length = withUnpaired ? Math.max(0, ...lengths) : Math.min(...lengths);
  return Array.from({ length: lists.length === 0 ? 0 : length }, (_, index) => {
    const row = lists.map((items) => items[index]).filter((item) => item !== undefined);
    return { json: Object.assign({}, ...row.map((item) => item.json)), origin: row[0] };
  });
}

/** Every item of the first input with every item of the second. */
export function everyPair([first = [], second = []]) {
  return first.flatMap((left) => second.map((right) => ({ json: { ...left.json, ...right.json }, origin: left })));
}

/** Items whose fields are equal. `join` says which are kept. */
export function byFields([first = [], second = []], { fields, join }) {
  const key = (item, side) => {
    const values = fields.map((pair) => get(item.json, pair[side]));
    return values.some((value) => value === undefined) ? undefined : identity(values.map((value) => (typeof value === 'object' ? value : String(value))));
  };
  const right = new Map();
  for (const item of second) {
    const of = key(item, 1);
    if (of !== undefined) right.set(of, [...right.get(of) ?? [], item]);
  }
  const matched = new Set();
  const pairs = [];
  const leftOnly = [];
  for (const left of first) {
    const found = right.get(key(left, 0)) ?? [];
    if (found.length === 0) leftOnly.push(left);
    for (const other of found) {
      matched.add(other);
      pairs.push({ json: { ...left.json, ...other.json }, origin: left });
    }
  }
  const rightOnly = second.filter((item) => !matched.has(item));
  switch (join) {
    case 'keepNonMatches': return [...leftOnly, ...rightOnly];
    case 'keepEverything': return [...pairs, ...leftOnly, ...rightOnly];
    case 'enrichInput1': return [...pairs, ...leftOnly];
    case 'enrichInput2': return [...pairs, ...rightOnly];
    default: return pairs;
  }
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
