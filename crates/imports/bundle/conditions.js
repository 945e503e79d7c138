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
  const known = (operations) => {
    if (!Object.hasOwn(operations, operation)) throw new Error(`there is no condition ${test}`);
    return operations[operation];
  };
  switch (type) {
    case 'number': return known(numbers)(number(left, loose), number(right, loose));
    case 'dateTime': return known(dates)(millis(left), millis(right));
    case 'boolean': {
      const value = loose ? truth(left) : left;
      if (operation === 'true') return value === true;
      if (operation === 'false') return value === false;
      return operation === 'equals' && value === (loose ? truth(right) : right);
    }
    case 'array': return known(lists)(list(left), right);
    case 'object': return false;
    default: {
      const fold = (value) => (ignoreCase && operation !== 'regex' && typeof value === 'string' ? value.toLowerCase() : value);
      return known(strings)(fold(asString(left, loose)), fold(asString(right, loose)));
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
