// Requests of steps, through connections or to open hosts.

import { get, isStructure, objectOf, setMember, text } from './items.js';

/** A URL below the base URL of a connection. */
function below(url, base) {
  if (url.startsWith('/')) return url;
  const prefix = base?.replace(/\/$/, '');
  if (prefix !== undefined && url.startsWith(prefix)) return url.slice(prefix.length) || '/';
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** Members as a form: those of lists and objects have their place in brackets, and what is not there is left out. */
function formOf(members) {
  const parameters = new URLSearchParams();
  const add = (name, value) => {
    if (value === undefined) return;
    if (isStructure(value)) for (const [member, entry] of Object.entries(value)) add(`${name}[${member}]`, entry);
    else parameters.append(name, text(value));
  };
  for (const [name, value] of Object.entries(members ?? {})) add(name, value);
  return parameters;
}

/** Members whose names are paths, such as `a.b` and `list[0]`, as an object. */
export function nested(members) {
  const object = {};
  for (const [name, value] of Object.entries(members)) {
    const path = [...name.matchAll(/[^.[\]]+|\[([^\]]*)\]/g)].map(([part, inside]) => inside ?? part);
    let at = object;
    for (const [index, part] of path.entries()) {
      if (index === path.length - 1) setMember(at, part, value);
      else {
        if (!Object.hasOwn(at, part) || at[part] === null || typeof at[part] !== 'object') setMember(at, part, /^\d+$/.test(path[index + 1]) ? [] : {});
        at = at[part];
      }
    }
  }
  return object;
}

function withQuery(url, query) {
  const added = formOf(query).toString();
  return added === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${added}`;
}

/**
 * Sends a request and returns items of the response.
 * @param {Record<string, any>} options
 */
export async function request(options) {
  const { method, query, headers, base, as, into = 'data', full = false, accept, items } = options;
  if ('via' in options && options.via === undefined) throw new Error('the connection of this step is not there; bind it and turn the import on again');
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers ?? {})) if (value !== undefined) sent.set(name, text(value));
  // The connection brings its own; the gate refuses a request that has others.
  if (options.via !== undefined) for (const name of ['authorization', 'cookie']) sent.delete(name);
  let { body } = options;
  if (options.type !== undefined) sent.set('content-type', options.type);
  if (options.json !== undefined) {
    body = JSON.stringify(options.json);
    if (!sent.has('content-type')) sent.set('content-type', 'application/json');
  } else if (options.form !== undefined) {
    body = formOf(options.form).toString();
    if (!sent.has('content-type')) sent.set('content-type', 'application/x-www-form-urlencoded');
  } else if (options.multipart !== undefined) {
    body = new FormData();
    // It names the boundary between the parts.
    sent.delete('content-type');
    for (const [name, value] of Object.entries(options.multipart)) body.append(name, text(value));
  } else if (body !== undefined) body = text(body);
  const address = withQuery(text(options.url), query);
  const init = { method, headers: sent, ...body === undefined || method === 'GET' ? {} : { body } };
  const response = options.via === undefined ? await fetch(address, init) : await options.via.fetch(below(address, base), init);
  const answer = await response.text();
  if (!response.ok && accept !== 'any') throw new Error(`${method} answered ${response.status}: ${answer.slice(0, 200)}`);
  if (as === 'json' && answer !== '') {
    try {
      JSON.parse(answer);
    } catch (error) {
      throw new Error('the response is no JSON', { cause: error });
    }
  }
  // A response without a body is an empty item.
  if (answer === '' && !full && as !== 'file') return [{ json: {} }];
  const isJson = (as === undefined || as === 'json') && /[/+]json/.test(response.headers.get('content-type') ?? '');
  let data = answer;
  if ((as === undefined || as === 'json') && (isJson || /^\s*[[{]/.test(answer))) {
    try { data = JSON.parse(answer); } catch { data = answer; }
  }
  const member = typeof data === 'string' && options.into !== undefined ? into : 'body';
  const content = answer === '' && options.into !== undefined ? {} : { [member]: data };
  if (full) return [{ json: { ...content, headers: Object.fromEntries(response.headers), statusCode: response.status, statusMessage: response.statusText } }];
  if (as === 'file') return [{ json: {}, binary: { [into]: { text: answer, type: response.headers.get('content-type') } } }];
  if (typeof data === 'string') return [{ json: { [into]: data } }];
  const list = items === undefined ? data : get(data, items) ?? [];
  return (Array.isArray(list) ? list : [list]).map((json) => ({ json: objectOf(json) }));
}

/** The member that tells headers of a response from those that a message sets for its next request. */
const ANSWERED = 'x-node-red-request-node';

function digestOf(headers) {
  let digest = 0;
  for (const character of JSON.stringify(headers)) digest = (digest * 31 + character.codePointAt(0)) | 0;
  return (digest >>> 0).toString(16).padStart(8, '0');
}

/** Headers of a response, marked as such. */
export function answeredHeaders(headers) {
  return { ...headers, [ANSWERED]: digestOf(headers) };
}

/** Headers that a message sets: none if they are still those of the response before, as Node-RED has it. */
export function ownHeaders(headers) {
  const { [ANSWERED]: mark, ...own } = headers ?? {};
  return mark !== undefined && mark === digestOf(own) ? {} : own;
}

/** The entries of an RSS or Atom feed. */
export async function feedItems(url) {
  const response = await fetch(text(url));
  if (!response.ok) throw new Error(`the feed answered ${response.status}`);
  const source = await response.text();
  const plain = (value) => value?.replace(/^<!\[CDATA\[([^]*)\]\]>$/, '$1').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&').trim();
  return [...source.matchAll(/<(item|entry)[\s>]([^]*?)<\/\1>/g)].map(([, , entry]) => {
    const member = (name) => plain(new RegExp(`<${name}(?:\\s[^>]*)?>([^]*?)</${name}>`).exec(entry)?.[1]);
    const link = member('link') || /<link[^>]*href="([^"]+)"/.exec(entry)?.[1];
    const date = member('pubDate') ?? member('published') ?? member('updated');
    const found = { title: member('title'), link, pubDate: date, content: member('content:encoded') ?? member('content') ?? member('description') ?? member('summary'), guid: member('guid') ?? member('id') };
    return { ...Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)), ...date === undefined || Number.isNaN(Date.parse(date)) ? {} : { isoDate: new Date(date).toISOString() } };
  });
}

async function ask(via, base, url, headers, json) {
  const [{ json: answer }] = await request({ via, base, method: 'POST', url, headers, json });
  return answer;
}

/** The text that a model with OpenAI's API answers. */
export async function chat(via, { base, ...body }) {
  const answer = await ask(via, base, `${base}/chat/completions`, {}, body);
  return answer.choices?.[0]?.message?.content ?? '';
}

/** The text that a model of Anthropic answers. */
export async function chatAnthropic(via, { base, model, messages }) {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content).join('\n');
  const body = { model, max_tokens: 4096, messages: messages.filter(({ role }) => role !== 'system'), ...system === '' ? {} : { system } };
  const answer = await ask(via, base, `${base}/v1/messages`, { 'anthropic-version': '2023-06-01' }, body);
  return answer.content?.map((part) => part.text ?? '').join('') ?? '';
}

/** The text that a model of Google answers. */
export async function chatGemini(via, { base, model, messages }) {
  const contents = messages.filter(({ role }) => role !== 'system').map(({ role, content }) => ({ role: role === 'assistant' ? 'model' : 'user', parts: [{ text: content }] }));
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => ({ text: content }));
  const body = { contents, ...system.length === 0 ? {} : { systemInstruction: { parts: system } } };
  const name = String(model).startsWith('models/') ? model : `models/${model}`;
  const answer = await ask(via, base, `${base}/v1beta/${name}:generateContent`, {}, body);
  return answer.candidates?.[0]?.content?.parts?.map((part) => part.text ?? '').join('') ?? '';
}

/** The JSON in a model's answer, which often stands between fences. */
export function jsonIn(answer) {
  const fenced = /```(?:json)?\s*([^]*?)```/.exec(answer);
  return JSON.parse(fenced === null ? answer : fenced[1]);
}

const range = (sheet, cells) => encodeURIComponent(cells === undefined || cells === '' ? String(sheet) : String(cells).includes('!') ? String(cells) : `${sheet}!${cells}`);

const idOf = (document) => /\/d\/([^/]+)/.exec(String(document))?.[1] ?? String(document);

/** The rows of a Google sheet, by the names in its first. */
export async function readSheet(via, { document, sheet, range: cells }, items) {
  const [{ json }] = await request({ via, method: 'GET', url: `/v4/spreadsheets/${encodeURIComponent(idOf(document))}/values/${range(sheet ?? 'Sheet1', cells)}` });
  const [header = [], ...rows] = json.values ?? [];
  return rows.map((row, index) => {
    const made = { row_number: index + 2 };
    for (const [column, name] of header.entries()) setMember(made, name, row[column] ?? '');
    return { json: made, origin: items[0] };
  });
}

/** Appends a row to a Google sheet for each item. Columns are found by the names in its first row. */
export async function appendToSheet(via, { document, sheet, range: cells }, items, valuesOf) {
  const path = `/v4/spreadsheets/${encodeURIComponent(idOf(document))}/values/`;
  const objects = items.map((item, index) => valuesOf(item, index));
  const [{ json }] = await request({ via, method: 'GET', url: `${path}${range(`${sheet ?? 'Sheet1'}`, '1:1')}` });
  const header = json.values?.[0] ?? Object.keys(objects[0] ?? {});
  const rows = objects.map((object) => header.map((name) => (object[name] === undefined || object[name] === null ? '' : text(object[name]))));
  if (json.values === undefined) rows.unshift(header);
  await request({ via, method: 'POST', url: `${path}${range(sheet ?? 'Sheet1', cells)}:append`, query: { valueInputOption: 'USER_ENTERED', insertDataOption: 'INSERT_ROWS' }, json: { values: rows } });
  return objects.map((made, index) => ({ json: { ...made }, origin: items[index] }));
}

/** A mail (RFC 5322) in base64url, as Gmail takes it. */
export function mailOf({ to, subject, text: content, kind }) {
  const line = (value) => text(value).replace(/[\r\n]+/g, ' ');
  const encode = (value) => btoa(Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte)).join(''));
  const type = kind === 'text' ? 'text/plain' : 'text/html';
  const mail = [`To: ${line([to].flat().join(', '))}`, `Subject: =?utf-8?B?${encode(line(subject))}?=`, 'MIME-Version: 1.0', `Content-Type: ${type}; charset=utf-8`, 'Content-Transfer-Encoding: base64', '', encode(text(content))].join('\r\n');
  return encode(mail).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** The members that a list of fields gives, or those of the item. */
export function fieldsOf(fields, item) {
  const list = fields?.fieldValues ?? [];
  return list.length === 0 ? item.json : Object.fromEntries(list.map(({ fieldId, column, fieldValue }) => [fieldId ?? column, fieldValue]));
}

/** Recipients of Microsoft Graph of a list of addresses. */
export function addresses(list) {
  return text(list).split(/[,;]/).map((address) => address.trim()).filter((address) => address !== '').map((address) => ({ emailAddress: { address } }));
}
