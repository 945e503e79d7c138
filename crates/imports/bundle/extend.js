// Functions for the methods that n8n adds to values.

import { parsed } from './items.js';

const words = (value) => String(value).replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);
const same = (left, right) => JSON.stringify(left) === JSON.stringify(right);
const distinct = (list, key = (entry) => entry) => list.filter((entry, index) => list.findIndex((other) => same(key(other), key(entry))) === index);
const numbers = (list) => list.map(Number);
const bytes = (value) => new TextEncoder().encode(String(value));

export const extend = {
  average: (list) => numbers(list).reduce((sum, number) => sum + number, 0) / list.length,
  base64Decode: (value) => new TextDecoder().decode(Uint8Array.from(atob(String(value)), (character) => character.charCodeAt(0))),
  base64Encode: (value) => btoa(Array.from(bytes(value), (byte) => String.fromCharCode(byte)).join('')),
  capitalize: (value) => capital(String(value)),
  ceil: (value) => Math.ceil(value),
  chunk: (list, size = 1) => Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size)),
  compact: (value) => (Array.isArray(value) ? value.filter((entry) => entry !== null && entry !== undefined && entry !== '') : Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== null && entry !== undefined && entry !== ''))),
  difference: (list, other) => list.filter((entry) => !other.some((found) => same(found, entry))),
  extractDomain: (value) => /(?:[a-z0-9-]+\.)+[a-z]{2,}/i.exec(String(value).replace(/^[^@]*@/, ''))?.[0],
  extractEmail: (value) => /[^\s@<>"'(),;:]+@[^\s@<>"'(),;:]+\.[^\s@<>"'(),;:.]+/.exec(String(value))?.[0],
  extractUrl: (value) => /https?:\/\/[^\s<>"']+/.exec(String(value))?.[0],
  first: (list) => list?.[0],
  floor: (value) => Math.floor(value),
  hasField: (object, name) => Object.hasOwn(object, name),
  ifEmpty: (value, other) => (extend.isEmpty(value) ? other : value),
  intersection: (list, other) => list.filter((entry) => other.some((found) => same(found, entry))),
  isEmail: (value) => /^[^\s@]+@[^\s@]+\.[^\s@.]+$/.test(String(value)),
  isEmpty: (value) => value === undefined || value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0),
  isEven: (value) => Number(value) % 2 === 0,
  isNotEmpty: (value) => !extend.isEmpty(value),
  isNumeric: (value) => String(value).trim() !== '' && !Number.isNaN(Number(value)),
  isOdd: (value) => Math.abs(Number(value) % 2) === 1,
  isUrl: (value) => /^https?:\/\/[^\s]+$/.test(String(value)),
  keys: (value) => Object.keys(value),
  last: (list) => list?.at(-1),
  max: (list) => Math.max(...numbers(list)),
  merge: (value, other) => ({ ...other, ...value }),
  min: (list) => Math.min(...numbers(list)),
  parseJson: (value) => parsed(value),
  pluck: (list, name) => list.map((entry) => entry?.[name]),
  removeDuplicates: (list, name) => distinct(list, name === undefined ? undefined : (entry) => entry?.[name]),
  removeTags: (value) => String(value).replace(/<[^>]*>/g, ''),
  round: (value, places = 0) => Number(Number(value).toFixed(places)),
  sum: (list) => numbers(list).reduce((sum, number) => sum + number, 0),
  toBoolean: (value) => !['', 'false', '0', 'no'].includes(String(value ?? '').toLowerCase()),
  toCamelCase: (value) => words(value).map((word, index) => (index === 0 ? word.toLowerCase() : capital(word.toLowerCase()))).join(''),
  toDashCase: (value) => words(value).map((word) => word.toLowerCase()).join('-'),
  toFloat: (value) => Number.parseFloat(value),
  toInt: (value, radix = 10) => Number.parseInt(value, radix),
  toJsonString: (value) => JSON.stringify(value),
  toNumber: (value) => Number(value),
  toSentenceCase: (value) => String(value).toLowerCase().replace(/(^\s*\p{L}|[.!?]\s+\p{L})/gu, (letter) => letter.toUpperCase()),
  toSnakeCase: (value) => words(value).map((word) => word.toLowerCase()).join('_'),
  toTitleCase: (value) => String(value).replace(/\p{L}[\p{L}\p{N}']*/gu, (word) => capital(word.toLowerCase())),
  trunc: (value) => Math.trunc(value),
  union: (list, other) => distinct([...list, ...other]),
  unique: (list, name) => extend.removeDuplicates(list, name),
  urlDecode: (value, entire) => (entire ? decodeURI(value) : decodeURIComponent(value)),
  urlEncode: (value, entire) => (entire ? encodeURI(value) : encodeURIComponent(value)),
  values: (value) => Object.values(value),
};
