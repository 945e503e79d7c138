// Conditions of filters and branches.

const isEmpty = (value) => value === undefined || value === null || value === '' || (typeof value === 'object' && !(value instanceof Date) && typeof value.toMillis !== 'function' && Object.keys(value).length === 0);

function millis(value) {
  if (typeof value?.toMillis === 'function') return value.toMillis();
  return value instanceof Date ? value.getTime() : typeof value === 'number' ? value : Date.parse(String(value));
}

function asString(value, loose) {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return loose ? '' : value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A pattern as people write it: `/a/i`, or without slashes. */
function pattern(value) {
  const written = /^\/([^]*)\/([dgimsuvy]*)$/.exec(String(value));
  return written === null ? new RegExp(String(value)) : new RegExp(written[1], written[2].replace('g', ''));
}

const strings = {
  equals: (left, right) => left === right,
  contains: (left, right) => String(left ?? '').includes(right ?? ''),
  startsWith: (left, right) => String(left ?? '').startsWith(right ?? ''),
  endsWith: (left, right) => String(left ?? '').endsWith(right ?? ''),
  regex: (left, right) => pattern(right).test(left ?? ''),
};

const numbers = {
  equals: (left, right) => left === right,
  gt: (left, right) => left > right,
  lt: (left, right) => left < right,
  gte: (left, right) => left >= right,
  lte: (left, right) => left <= right,
};

const dates = {
  equals: (left, right) => left === right,
  after: (left, right) => left > right,
  before: (left, right) => left < right,
  afterOrEquals: (left, right) => left >= right,
  beforeOrEquals: (left, right) => left <= right,
};

const list = (value) => (Array.isArray(value) ? value : typeof value === 'string' && value.trim().startsWith('[') ? JSON.parse(value) : []);

const lists = {
  contains: (left, right) => left.some((entry) => entry === right || String(entry) === String(right)),
  lengthEquals: (left, right) => left.length === Number(right),
  lengthGt: (left, right) => left.length > Number(right),
  lengthLt: (left, right) => left.length < Number(right),
  lengthGte: (left, right) => left.length >= Number(right),
  lengthLte: (left, right) => left.length <= Number(right),
};

/**
 * Whether a condition holds. `test` is a type and an operation, such as `string:contains`.
 * @param {any} left
 * @param {string} test
 * @param {any} right
 * @param {{ ignoreCase?: boolean, loose?: boolean }} [options]
 * @returns {boolean}
 */
export function holds(left, test, right, { ignoreCase = false, loose = false } = {}) {
  const [type, operation] = test.split(':');
  switch (operation) {
    case 'exists': return left !== undefined && left !== null;
    case 'notExists': return left === undefined || left === null;
    case 'empty': return isEmpty(left);
    case 'notEmpty': return !isEmpty(left);
    default:
  }
  if (operation.startsWith('not')) {
    const positive = operation[3].toLowerCase() + operation.slice(4);
    return !holds(left, `${type}:${positive}`, right, { ignoreCase, loose });
  }
  if (operation === 'lengthNotEquals') return !holds(left, `${type}:lengthEquals`, right, { ignoreCase, loose });
  switch (type) {
    case 'number': return known(numbers, operation, test)(number(left, loose), number(right, loose));
    case 'dateTime': return known(dates, operation, test)(millis(left), millis(right));
    case 'boolean': {
      const value = loose ? truth(left) : left;
      if (operation === 'true') return value === true;
      if (operation === 'false') return value === false;
      return operation === 'equals' && value === (loose ? truth(right) : right);
    }
    case 'array': return known(lists, operation, test)(list(left), right);
    case 'object': return false;
    default: {
      const fold = (value) => (ignoreCase && operation !== 'regex' && typeof value === 'string' ? value.toLowerCase() : value);
      return known(strings, operation, test)(fold(asString(left, loose)), fold(asString(right, loose)));
    }
  }
}

function number(value, loose) {
  if (typeof value === 'number') return value;
  if (value === undefined || value === null || value === '') return loose ? 0 : NaN;
  return Number(value);
}

function truth(value) {
  if (typeof value === 'string') return !['', 'false', '0', 'no', 'n'].includes(value.trim().toLowerCase());
  return Boolean(value);
}

/** A value as a type of n8n's filters; an error says that it is none. */
function converted(value, type, { loose, version }) {
  if (type === 'any' || value === null || value === undefined) return value;
  const fail = () => { throw new Error(loose ? `Conversion error: ${JSON.stringify(value)} can't be converted to ${type}` : `Wrong type: ${JSON.stringify(value)} was expected to be ${type}`); };
  switch (type) {
    case 'string':
      if (typeof value === 'string') return value;
      return loose ? (typeof value === 'object' ? JSON.stringify(value) : String(value)) : fail();
    case 'number': {
      const isNothing = (typeof value === 'string' && value.trim() === '') || (Array.isArray(value) && value.length === 0);
      if (isNothing && version >= 3) return null;
      if (typeof value === 'number') return value;
      return loose && !Number.isNaN(Number(value)) ? Number(value) : fail();
    }
    case 'boolean': {
      if (typeof value === 'boolean') return value;
      if (!loose) return fail();
      const word = typeof value === 'string' ? value.toLowerCase() : value;
      if (version >= 2) {
        if (word === 'true' || word === 'false') return word === 'true';
        const number = typeof value === 'string' && value.trim() === '' ? NaN : Number(value);
        if (number === 0 || number === 1) return number === 1;
      }
      return Boolean(value);
    }
    case 'dateTime': {
      const time = millis(value);
      return Number.isNaN(time) ? fail() : time;
    }
    case 'array': {
      if (Array.isArray(value)) return value;
      try {
        const list = loose ? JSON.parse(String(value)) : null;
        return Array.isArray(list) ? list : fail();
      } catch {
        return fail();
      }
    }
    case 'object': {
      if (typeof value === 'object' && (loose ? !Array.isArray(value) : true)) return value;
      try {
        const object = loose ? JSON.parse(String(value)) : null;
        return object !== null && typeof object === 'object' && !Array.isArray(object) ? object : fail();
      } catch {
        return fail();
      }
    }
    default: return value;
  }
}

/** Operations that are the opposite of another one. */
const OPPOSITES = { notEquals: 'equals', notContains: 'contains', notStartsWith: 'startsWith', notEndsWith: 'endsWith', notRegex: 'regex', notEmpty: 'empty', notExists: 'exists', lengthNotEquals: 'lengthEquals' };

/**
 * Whether a condition of a filter of n8n is fulfilled. Unlike `holds`, types are those of the filter, and others are errors.
 * @param {any} left
 * @param {string} test
 * @param {any} right
 * @param {{ ignoreCase?: boolean, loose?: boolean, version?: number, rightType?: string, single?: boolean }} [options]
 * @returns {boolean}
 */
export function fulfils(left, test, right, { ignoreCase = false, loose = false, version = 1, rightType, single = false } = {}) {
  const [type, operation] = test.split(':');
  let one = converted(left, type, { loose, version });
  let other;
  try {
    other = converted(right, rightType ?? type, { loose, version });
  } catch (error) {
    if (!single) throw error;
  }
  const opposite = OPPOSITES[operation];
  const result = fulfilled(type, opposite ?? operation);
  return opposite === undefined ? result : !result;

  function fulfilled(kind, name) {
    const exists = one !== undefined && one !== null && !Number.isNaN(one);
    if (name === 'exists') return exists;
    if (kind === 'string') {
      if (ignoreCase) {
        if (typeof one === 'string') one = one.toLowerCase();
        if (typeof other === 'string' && name !== 'regex') other = other.toLowerCase();
      }
      const [text, part] = [one ?? '', other ?? ''];
      if (name === 'empty') return text.length === 0;
      return known(strings, name, test)(text, part);
    }
    if (kind === 'object') return name === 'empty' && (!one || Object.keys(one).length === 0);
    if (kind === 'array') {
      const entries = one ?? [];
      if (name === 'empty') return entries.length === 0;
      if (name !== 'contains') return known(lists, name, test)(entries, other);
      const folded = typeof other === 'string' && ignoreCase ? other.toLowerCase() : other;
      return ignoreCase && typeof other === 'string' ? entries.some((entry) => typeof entry === 'string' && entry.toLowerCase() === folded) : entries.includes(other);
    }
    if (name === 'empty') return !exists;
    if (kind === 'boolean') return name === 'true' ? Boolean(one) : name === 'false' ? !one : name === 'equals' && one === other;
    if (kind === 'dateTime' && (!one || !other)) return opposite !== undefined;
    return known(kind === 'number' ? numbers : dates, name, test)(one, other);
  }
}

function known(operations, name, test) {
  if (!Object.hasOwn(operations, name)) throw new Error(`there is no condition ${test}`);
  return operations[name];
}
