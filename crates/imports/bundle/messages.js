// What the nodes of Node-RED do with messages.

import { csvCells, csvText, get, setMember, text } from './items.js';

/** The parts of a path such as `payload.items[0]["a name"]`. */
function partsOf(path) {
  return [...String(path).matchAll(/\[["']([^"']*)["']\]|\[(\d+)\]|([^.[\]]+)/g)].map(([, quoted, index, name]) => quoted ?? (index === undefined ? name : Number(index)));
}

/** Sets a property of a message, and makes what is on the way. */
export function setIn(message, path, value) {
  const parts = partsOf(path);
  if (parts.length === 0) return;
  let at = message;
  for (const [index, part] of parts.slice(0, -1).entries()) {
    const next = Object.hasOwn(at, part) ? at[part] : undefined;
    if (next === null || typeof next !== 'object') {
      if (value === undefined) return;
      setMember(at, part, typeof parts[index + 1] === 'number' ? [] : {});
    }
    at = at[part];
  }
  if (value === undefined) delete at[parts.at(-1)];
  else setMember(at, parts.at(-1), value);
}

/**
 * Calls a function with a copy of each message. It returns a message, a list with one entry for each output, or nothing.
 */
export function onMessages(items, handle) {
  const outputs = [[]];
  for (const item of items) {
    const sent = handle(structuredClone(item.json), item);
    for (const [output, messages] of (Array.isArray(sent) ? sent : [sent]).entries()) {
      outputs[output] ??= [];
      for (const json of [messages].flat()) if (json !== null && json !== undefined) outputs[output].push({ json, origin: item });
    }
  }
  return Array.from(outputs, (messages) => messages ?? []);
}

function compare(left, right, falls, numbers) {
  const [a, b] = numbers ? [Number(left), Number(right)] : [left, right];
  const order = a < b ? -1 : a > b ? 1 : 0;
  return falls ? -order : order;
}

export const changed = {
  remove(message, path) {
    const parts = partsOf(path);
    const owner = parts.slice(0, -1).reduce((at, part) => (at === null || at === undefined ? undefined : at[part]), message);
    if (Array.isArray(owner) && typeof parts.at(-1) === 'number') owner.splice(parts.at(-1), 1);
    else if (owner !== null && typeof owner === 'object') delete owner[parts.at(-1)];
  },
  /** What the node's rule `change` gives: a part of a text, or a whole value. */
  replaced(value, from, to) {
    if (typeof value === 'string') return from instanceof RegExp ? value.replace(from, () => text(to)) : value === String(from) ? to : value.replaceAll(String(from), () => text(to));
    return value === from ? to : value;
  },
  /** A list for each output, with a copy of the message where it goes. */
  sent: (message, outputs, count) => Array.from({ length: count }, (_, output) => (outputs.includes(output) ? structuredClone(message) : null)),
  sortedIn(message, path, by, { falls, numbers }) {
    const value = get(message, path);
    if (Array.isArray(value)) setIn(message, path, [...value].sort((left, right) => compare(by === undefined ? left : by(left), by === undefined ? right : by(right), falls, numbers)));
    return message;
  },
};

/** Whether a rule of a switch holds. */
export function switchTest(test, value, first, second, message) {
  switch (test) {
    case 'eq': return value == first; // eslint-disable-line eqeqeq -- as in the original
    case 'neq': return value != first; // eslint-disable-line eqeqeq -- as in the original
    case 'lt': return value < first;
    case 'lte': return value <= first;
    case 'gt': return value > first;
    case 'gte': return value >= first;
    case 'btwn': return (value >= first && value <= second) || (value <= first && value >= second);
    case 'cont': return String(value).includes(String(first));
    case 'hask': return value !== null && typeof value === 'object' && Object.hasOwn(value, first);
    case 'true': return value === true;
    case 'false': return value === false;
    case 'null': return value === undefined || value === null;
    case 'nnull': return value !== undefined && value !== null;
    case 'empty': return (typeof value === 'string' || Array.isArray(value)) ? value.length === 0 : value !== null && typeof value === 'object' && Object.keys(value).length === 0;
    case 'nempty': return (typeof value === 'string' || Array.isArray(value)) ? value.length > 0 : value !== null && typeof value === 'object' && Object.keys(value).length > 0;
    case 'istype': return first === 'array' ? Array.isArray(value) : first === 'null' ? value === null : first === 'json' ? isJson(value) : first === 'object' ? value !== null && typeof value === 'object' && !Array.isArray(value) : typeof value === first; // eslint-disable-line valid-typeof -- the rule names the type
    case 'head': return message.parts !== undefined && message.parts.index < Number(first);
    case 'tail': return message.parts?.count !== undefined && message.parts.index >= message.parts.count - Number(first);
    case 'index': return message.parts !== undefined && message.parts.index >= Number(first) && message.parts.index <= Number(second);
    default: throw new Error(`there is no rule ${test}`);
  }
}

function isJson(value) {
  try {
    JSON.parse(value);
    return typeof value === 'string';
  } catch {
    return false;
  }
}

/** A template of Mustache: values, sections, inverted sections and comments. */
export function mustache(template, message, escapes = true) {
  return render(parse(template), [message], escapes);
}

function parse(template) {
  const root = { parts: [] };
  const open = [root];
  let at = 0;
  for (const found of template.matchAll(/\{\{\{\s*([^}]+?)\s*\}\}\}|\{\{\s*([#^/!&>]?)\s*([^}]*?)\s*\}\}/g)) {
    const before = template.slice(at, found.index);
    at = found.index + found[0].length;
    open.at(-1).parts.push(before);
    const [, raw, sign, name] = found;
    if (raw !== undefined) open.at(-1).parts.push({ name: raw, raw: true });
    else if (sign === '#' || sign === '^') {
      const section = { name, inverted: sign === '^', parts: [] };
      open.at(-1).parts.push(section);
      open.push(section);
    } else if (sign === '/') {
      if (open.length < 2 || open.at(-1).name !== name) throw new Error(`the section ${name} is not open`);
      open.pop();
    } else if (sign !== '!' && sign !== '>') open.at(-1).parts.push({ name, raw: sign === '&' });
  }
  root.parts.push(template.slice(at));
  if (open.length > 1) throw new Error(`the section ${open.at(-1).name} is not closed`);
  return root;
}

function lookUp(name, contexts) {
  if (name === '.') return contexts.at(-1);
  const [first, ...rest] = partsOf(name);
  for (const context of [...contexts].reverse()) {
    if (context !== null && typeof context === 'object' && first in context && Object.hasOwn(context, first)) {
      return rest.reduce((at, part) => (at === null || at === undefined ? undefined : at[part]), context[first]);
    }
  }
  return undefined;
}

function render({ parts }, contexts, escapes) {
  let written = '';
  for (const part of parts) {
    if (typeof part === 'string') written += part;
    else if (part.parts === undefined) {
      const value = text(lookUp(part.name, contexts));
      written += part.raw || !escapes ? value : value.replace(/[&<>"'/`=]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;', '/': '&#x2F;', '`': '&#x60;', '=': '&#x3D;' })[character]);
    } else {
      const value = lookUp(part.name, contexts);
      const isEmpty = !value || (Array.isArray(value) && value.length === 0);
      if (part.inverted) written += isEmpty ? render(part, contexts, escapes) : '';
      else if (Array.isArray(value)) written += value.map((entry) => render(part, [...contexts, entry], escapes)).join('');
      else if (!isEmpty) written += render(part, [...contexts, value], escapes);
    }
  }
  return written;
}

/** The messages of a text, a list or an object, with what `joined` needs to put them together. */
export function splitMessage(message, { separator, kind, size, field }) {
  const value = get(message, field);
  const id = crypto.randomUUID();
  const make = (part, parts) => { const made = structuredClone(message); setIn(made, field, part); made.parts = { id, ...parts, ...message.parts === undefined ? {} : { parts: message.parts } }; return made; };
  if (typeof value === 'string') {
    const length = kind === 'len' ? Math.max(1, Number(separator)) : 0;
    const parts = length > 0 ? value.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? [] : value.split(separator);
    return parts.map((part, index) => make(part, { type: 'string', ch: length > 0 ? '' : separator, index, count: parts.length }));
  }
  if (Array.isArray(value)) {
    const chunks = Array.from({ length: Math.ceil(value.length / size) }, (_, index) => value.slice(index * size, (index + 1) * size));
    return chunks.map((chunk, index) => make(size === 1 ? chunk[0] : chunk, { type: 'array', len: size, index, count: chunks.length }));
  }
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value);
    return entries.map(([key, part], index) => make(part, { type: 'object', key, index, count: entries.length }));
  }
  return [message];
}

/** Messages put together: those of one `splitMessage`, or as many as `count` says. */
export function joined(items, { mode, build, field, key, joiner, count }) {
  if (mode === 'auto') {
    const groups = new Map();
    const rest = [];
    for (const item of items) {
      const id = item.json.parts?.id;
      if (id === undefined) rest.push(item);
      else groups.set(id, [...groups.get(id) ?? [], item]);
    }
    const made = [...groups.values()].map((group) => {
      const ordered = [...group].sort((left, right) => left.json.parts.index - right.json.parts.index);
      const last = structuredClone(ordered.at(-1).json);
      const { type, ch, len, parts } = last.parts;
      const values = ordered.map((item) => item.json.payload);
      last.payload = type === 'string' ? values.join(ch) : type === 'object' ? Object.fromEntries(ordered.map((item) => [item.json.parts.key, item.json.payload])) : len > 1 ? values.flat() : values;
      if (parts === undefined) delete last.parts;
      else last.parts = parts;
      return { json: last, origin: ordered.at(-1) };
    });
    return [...rest, ...made];
  }
  const groups = count > 0 ? Array.from({ length: Math.floor(items.length / count) }, (_, index) => items.slice(index * count, (index + 1) * count)) : items.length > 0 ? [items] : [];
  return groups.map((group) => {
    const last = structuredClone(group.at(-1).json);
    const valueOf = ({ json }) => (field === '' ? json : get(json, field));
    const values = group.map(valueOf);
    const result = build === 'array' ? values
      : build === 'object' ? Object.fromEntries(group.map((item) => [text(get(item.json, key)), valueOf(item)]))
        : build === 'merged' ? Object.assign({}, ...values) : values.map(text).join(joiner);
    setIn(last, field === '' ? 'payload' : field, result);
    delete last.parts;
    return { json: last, origin: group.at(-1) };
  });
}

/** Messages by a key. */
export function sortedMessages(items, by, { falls, numbers }) {
  const ordered = [...items].sort((left, right) => compare(by(left), by(right), falls, numbers));
  return ordered.map((item, index) => ({ ...item, json: item.json.parts === undefined ? item.json : { ...item.json, parts: { ...item.json.parts, index } } }));
}

/** Messages in groups, as `joined` puts them together. */
export function batched(items, count, overlap) {
  const made = [];
  for (let from = 0; from + count <= items.length; from += Math.max(1, count - overlap)) {
    const id = crypto.randomUUID();
    for (const [index, item] of items.slice(from, from + count).entries()) made.push({ json: { ...item.json, parts: { id, index, count } }, origin: item });
  }
  return made;
}

/** A number moved from one range to another. */
export function rangeOf(message, { field, from: [low, high], to: [lowest, highest], action, round }) {
  let value = Number(get(message, field));
  if (Number.isNaN(value)) return message;
  if (action === 'drop' && (value < low || value > high)) return null;
  if (action === 'clamp') value = Math.min(Math.max(value, low), high);
  if (action === 'roll') { const span = high - low; value = ((value - low) % span + span) % span + low; }
  const moved = (value - low) / (high - low) * (highest - lowest) + lowest;
  setIn(message, field, round ? Math.round(moved) : moved);
  return message;
}

/** JSON of a property, or the property of JSON. */
export function jsonMessage(message, field, action, pretty) {
  const value = get(message, field);
  if (typeof value === 'string') { if (action !== 'str') setIn(message, field, JSON.parse(value)); } else if (action !== 'obj' && value !== undefined) setIn(message, field, JSON.stringify(value, null, pretty ? 4 : 0));
  return message;
}

/** CSV of objects, or objects of CSV. */
export function csvMessage(message, { separator, columns, header, multi, skip, numbers }) {
  const value = message.payload;
  if (typeof value !== 'string') {
    const names = columns === '' ? undefined : columns.split(',').map((name) => name.trim());
    const rows = [value].flat().map((row) => (names === undefined || row === null || typeof row !== 'object' ? row : Object.fromEntries(names.map((name) => [name, row[name]]))));
    return [{ ...message, payload: csvText(rows, separator, false) }];
  }
  let rows = csvCells(value, separator).filter((row) => row.length > 1 || row[0] !== '').slice(skip);
  let names = columns === '' ? undefined : columns.split(',').map((name) => name.trim());
  if (header) { names = rows[0]?.map((name) => name.trim()); rows = rows.slice(1); }
  const cell = (found) => (numbers && found.trim() !== '' && !Number.isNaN(Number(found)) ? Number(found) : found);
  const objects = rows.map((row) => { const made = {}; for (const [index, found] of row.entries()) { const name = names === undefined ? `col${index + 1}` : names[index]; if (name !== undefined && name !== '') setMember(made, name, cell(found)); } return made; });
  if (multi === 'mult') return [{ ...structuredClone(message), payload: objects }];
  const id = crypto.randomUUID();
  return objects.map((payload, index) => ({ ...structuredClone(message), payload, parts: { id, index, count: objects.length } }));
}

/** Runs the code of a function node for each message. */
export async function nodeFunction(code, items, flow, outputs) {
  const made = Array.from({ length: outputs }, () => []);
  const store = { get: (name) => flow.variables.get(name), set: (name, value) => { flow.variables.set(name, value); }, keys: () => [...flow.variables.keys()] };
  for (const item of items) {
    const send = (sent) => {
      for (const [output, messages] of (Array.isArray(sent) ? sent : [sent]).entries()) {
        for (const json of [messages].flat()) if (json !== null && json !== undefined && typeof json === 'object') made[output]?.push({ json, origin: item });
      }
    };
    const log = (level) => (...values) => console[level](...values);
    const node = { send, done: () => undefined, status: () => undefined, log: log('log'), warn: log('warn'), error: log('error'), debug: log('debug'), trace: log('debug'), name: '', id: '' };
    const RED = { util: { cloneMessage: structuredClone, generateId: () => crypto.randomUUID().slice(0, 16) } };
    send(await code({ msg: structuredClone(item.json), node, context: { ...store, flow: store, global: store }, flow: store, global: store, env: { get: () => undefined }, RED }));
  }
  return made;
}
