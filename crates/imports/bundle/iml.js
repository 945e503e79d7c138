// The functions of Make's expressions.

import { text as plain } from './items.js';

const isEmpty = (value) => value === undefined || value === null || value === '';
const list = (value) => (Array.isArray(value) ? value : isEmpty(value) ? [] : [value]);
const numbers = (values) => values.flatMap(list).map(Number).filter((number) => !Number.isNaN(number));
const string = (value) => (Array.isArray(value) ? value.map(string).join(', ') : plain(value));
const entry = (path) => String(path).split('.');
const walk = (value, path) => path.reduce((at, name) => (at === undefined || at === null || !Object.hasOwn(Object(at), name) ? undefined : at[name]), value);
const pattern = (value) => { const found = /^\/([^]*)\/([gimsu]*)$/.exec(String(value)); return found === null ? undefined : new RegExp(found[1], found[2]); };

/** A value at a path; a name at a list means that of its first entry. */
function read(value, path) {
  let at = value;
  for (const part of path) {
    if (Array.isArray(at) && typeof part === 'string') [at] = at;
    if (at === undefined || at === null || !Object.hasOwn(Object(at), part)) return undefined;
    at = at[part];
  }
  return at;
}

const moved = (unit) => (dates, value, amount) => dates.from(value).plus({ [unit]: Number(amount) });
const replaced = (unit) => (dates, value, amount) => dates.from(value).set({ [unit]: Number(amount) });

export const iml = {
  read,
  text: string,
  equal: (left, right) => (isEmpty(left) && isEmpty(right)) || string(left) === string(right),
  /** The bundles of a list, one each. */
  bundles: (value) => list(value).map((item, index, all) => ({ ...item !== null && typeof item === 'object' && !Array.isArray(item) ? item : { value: item }, __IMTINDEX__: index + 1, __IMTLENGTH__: all.length })),
  repeat: (start, step, count) => Array.from({ length: Math.max(0, Math.min(10_000, Number(count))) }, (_, index) => ({ i: Number(start) + index * Number(step) })),
  /** Bundles by the bundle that a step made them of. */
  groups(items, flow, feeder) {
    if (feeder === undefined) return items.length === 0 ? [] : [items];
    const groups = new Map();
    for (const item of items) {
      const source = flow.item(feeder, item).origin ?? null;
      groups.set(source, [...groups.get(source) ?? [], item]);
    }
    return [...groups.values()];
  },
  /** A row of a sheet of an object with the numbers of columns. */
  row: (values) => { const row = []; for (const [column, value] of Object.entries(values ?? {})) { if (/^\d+$/.test(column)) row[Number(column)] = string(value); } return Array.from(row, (value) => value ?? ''); },

  abs: (value) => Math.abs(value),
  add: (...values) => numbers(values).reduce((sum, number) => sum + number, 0),
  addDays: moved('day'), addHours: moved('hour'), addMinutes: moved('minute'), addMonths: moved('month'), addSeconds: moved('second'), addYears: moved('year'),
  ascii: (value) => string(value).normalize('NFKD').replace(/[^\x20-\x7e]/g, ''),
  average: (...values) => { const all = numbers(values); return all.reduce((sum, number) => sum + number, 0) / all.length; },
  base64: (value) => btoa(Array.from(new TextEncoder().encode(string(value)), (byte) => String.fromCharCode(byte)).join('')),
  capitalize: (value) => string(value).charAt(0).toUpperCase() + string(value).slice(1),
  ceil: (value) => Math.ceil(value),
  contains: (value, wanted) => (Array.isArray(value) ? value.some((found) => string(found) === string(wanted)) : string(value).includes(string(wanted))),
  dateDifference: (dates, left, right, unit = 'ms') => { const lengths = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }; return (dates.from(left).toMillis() - dates.from(right).toMillis()) / (lengths[unit] ?? 1); },
  decodeURL: (value) => decodeURIComponent(string(value)),
  deduplicate: (value) => list(value).filter((found, index, all) => all.findIndex((other) => JSON.stringify(other) === JSON.stringify(found)) === index),
  distinct: (value, name) => list(value).filter((found, index, all) => all.findIndex((other) => JSON.stringify(walk(other, entry(name))) === JSON.stringify(walk(found, entry(name)))) === index),
  encodeURL: (value) => encodeURIComponent(string(value)),
  escapeHTML: (value) => string(value).replace(/[&<>"']/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[character]),
  first: (value) => list(value)[0],
  flatten: (value) => list(value).flat(Infinity),
  floor: (value) => Math.floor(value),
  formatDate: (dates, value, format, zone) => { const date = isEmpty(zone) ? dates.from(value) : dates.from(value).setZone(zone); return format === 'X' || format === 'x' ? String(format === 'X' ? date.toUnixInteger() : date.toMillis()) : date.toFormat(format, 'moment'); },
  formatNumber: (value, places, decimal = ',', thousands = '.') => { const [whole, fraction] = Number(value).toFixed(Number(places ?? 0)).split('.'); return whole.replace(/\B(?=(\d{3})+$)/g, thousands) + (fraction === undefined ? '' : decimal + fraction); },
  get: (value, path) => read(value, entry(path).map((part) => (/^\d+$/.test(part) ? Number(part) - (Array.isArray(value) ? 1 : 0) : part))),
  if: (test, yes, no) => (test && test !== 'false' ? yes : no),
  ifempty: (value, other) => (isEmpty(value) ? other : value),
  indexOf: (value, wanted, from) => string(value).indexOf(string(wanted), from),
  join: (value, separator = ',') => list(value).map(string).join(separator),
  keys: (value) => Object.keys(value ?? {}),
  last: (value) => list(value).at(-1),
  length: (value) => (Array.isArray(value) ? value.length : string(value).length),
  lower: (value) => string(value).toLowerCase(),
  map: (value, name, key, wanted) => list(value).filter((found) => key === undefined || string(wanted).split(',').map((word) => word.trim()).includes(string(walk(found, entry(key))))).map((found) => walk(found, entry(name))),
  max: (...values) => Math.max(...numbers(values)),
  median: (...values) => { const all = numbers(values).sort((left, right) => left - right); const half = Math.floor(all.length / 2); return all.length % 2 === 1 ? all[half] : (all[half - 1] + all[half]) / 2; },
  merge: (...values) => (values.every((value) => Array.isArray(value) || isEmpty(value)) ? values.flatMap(list) : Object.assign({}, ...values)),
  min: (...values) => Math.min(...numbers(values)),
  omit: (value, ...names) => Object.fromEntries(Object.entries(value ?? {}).filter(([name]) => !names.includes(name))),
  parseDate: (dates, value) => dates.from(value),
  parseNumber: (value, decimal = '.') => Number(string(value).replaceAll(decimal === '.' ? ',' : '.', '').replace(decimal, '.').replaceAll(' ', '')),
  pick: (value, ...names) => Object.fromEntries(Object.entries(value ?? {}).filter(([name]) => names.includes(name))),
  pow: (value, exponent) => Number(value) ** Number(exponent),
  random: () => Math.random(),
  remove: (value, ...entries) => list(value).filter((found) => !entries.map(string).includes(string(found))),
  replace: (value, wanted, replacement) => { const found = pattern(wanted); return found === undefined ? string(value).replace(string(wanted), () => string(replacement)) : string(value).replace(found, string(replacement)); },
  reverse: (value) => [...list(value)].reverse(),
  round: (value, places = 0) => Number(Number(value).toFixed(Number(places))),
  setDate: replaced('day'), setHour: replaced('hour'), setMinute: replaced('minute'), setMonth: replaced('month'), setSecond: replaced('second'), setYear: replaced('year'),
  setDay: (dates, value, day) => { const date = dates.from(value); return date.plus({ day: Number(day) - 1 - date.weekday % 7 }); },
  slice: (value, from, to) => list(value).slice(from, to),
  sort: (value, order = 'asc', name = undefined) => [...list(value)].sort((left, right) => { const [a, b] = name === undefined ? [left, right] : [walk(left, entry(name)), walk(right, entry(name))]; const by = a < b ? -1 : a > b ? 1 : 0; return String(order).startsWith('desc') ? -by : by; }),
  split: (value, separator) => string(value).split(string(separator)),
  sqrt: (value) => Math.sqrt(value),
  startcase: (value) => string(value).toLowerCase().replace(/(^|\s)\S/g, (letter) => letter.toUpperCase()),
  stripHTML: (value) => string(value).replace(/<[^>]*>/g, ''),
  substring: (value, from, to) => string(value).substring(from, to),
  sum: (...values) => numbers(values).reduce((sum, number) => sum + number, 0),
  switch: (value, ...cases) => { for (let index = 0; index + 1 < cases.length; index += 2) if (string(cases[index]) === string(value)) return cases[index + 1]; return cases.length % 2 === 1 ? cases.at(-1) : undefined; },
  toArray: (value) => Object.entries(value ?? {}).map(([key, found]) => ({ key, value: found })),
  toString: (value) => string(value),
  trim: (value) => string(value).trim(),
  trunc: (value) => Math.trunc(value),
  upper: (value) => string(value).toUpperCase(),
  uuid: () => crypto.randomUUID(),
};
