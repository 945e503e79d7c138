const LINE = 8192;

/** Readable text for any value, bounded in depth, breadth and length. */
const inspect = (value, depth = 0, seen = []) => {
  switch (typeof value) {
    case 'string': return depth === 0 ? value : JSON.stringify(value.length > 1000 ? `${value.slice(0, 1000)}…` : value);
    case 'bigint': return `${value}n`;
    case 'symbol': return value.toString();
    case 'function': return `[function ${value.name || 'anonymous'}]`;
    case 'object': break;
    default: return `${value}`;
  }
  if (value === null) return 'null';
  if (seen.includes(value)) return '[circular]';
  if (value instanceof Error) return describeError(value);
  if (secretName(value) !== null) return `[secret ${secretName(value)}]`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof RegExp) return `${value}`;
  if (value instanceof Promise) return '[promise]';
  if (value instanceof ArrayBuffer) return `[ArrayBuffer ${value.byteLength}]`;
  if (value instanceof URL || value instanceof URLSearchParams) return `${value}`;
  if (value instanceof Headers) return inspect(Object.fromEntries(value), depth, seen);
  if (value instanceof Response) return `[Response ${value.status}]`;
  if (value instanceof Request) return `[Request ${value.method} ${value.url}]`;
  if (depth >= 4) return Array.isArray(value) ? '[array]' : '[object]';
  const inner = [...seen, value];
  let room = LINE;
  const parts = [];
  const add = (part) => {
    parts.push(part);
    room -= part.length;
    return room > 0 && parts.length <= 100;
  };
  const go = (entry) => inspect(entry, depth + 1, inner);
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    const length = value.length ?? value.byteLength;
    for (let at = 0; at < length; at++) {
      if (!add(go(value[at]))) { parts.push('…'); break; }
    }
    return Array.isArray(value) ? `[${parts.join(', ')}]` : `${value.constructor.name} [${parts.join(', ')}]`;
  }
  if (value instanceof Map) {
    for (const [key, entry] of value) if (!add(`${go(key)} => ${go(entry)}`)) { parts.push('…'); break; }
    return `Map {${parts.join(', ')}}`;
  }
  if (value instanceof Set) {
    for (const entry of value) if (!add(go(entry))) { parts.push('…'); break; }
    return `Set {${parts.join(', ')}}`;
  }
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    if (!add(`${key}: ${go(value[key])}`)) { parts.push('…'); break; }
  }
  const name = isPlain(value) ? '' : `${value.constructor?.name ?? ''} `;
  return parts.length ? `${name}{ ${parts.join(', ')} }` : `${name}{}`;
};

/** An error with its place in app code; frames of this prelude, which have no place, are left out. */
const describeError = (error) => {
  const head = error.message === '' ? `${error.name}` : `${error.name}: ${error.message}`;
  const frames = `${error.stack ?? ''}`.split('\n')
    .filter((line) => line.includes('at ') && /\.m?[jt]s:\d/.test(line))
    .slice(0, 8);
  const cause = error.cause instanceof Error && error.cause !== error ? `\n  cause: ${error.cause.name}: ${error.cause.message}` : '';
  return [head, ...frames].join('\n') + cause;
};

const safely = (make) => {
  try {
    return make();
  } catch {
    return '[a value that throws when it is looked at]';
  }
};

const line = (values) => {
  let out = '';
  for (const value of values) {
    if (out !== '') out += ' ';
    out += safely(() => inspect(value));
    if (out.length > LINE) return `${out.slice(0, LINE)}…`;
  }
  return out;
};

/** Logs why a promise was rejected that nothing handles. */
const logRejection = (reason) => native.log(3, text(`Uncaught (in promise) ${line([reason])}`));

const makeConsole = () => {
  const at = (level) => (...values) => native.log(level, text(line(values)));
  const console = {
    debug: at(0), trace: at(0), log: at(1), info: at(1), dir: (value) => at(1)(value), dirxml: at(1), table: at(1),
    warn: at(2), error: at(3),
    assert: (condition, ...values) => { if (!condition) at(3)('Assertion failed:', ...values); },
    group: at(1), groupCollapsed: at(1), groupEnd() {}, clear() {},
  };
  const counts = new Map();
  const timers = new Map();
  console.count = (label = 'default') => {
    counts.set(label, (counts.get(label) ?? 0) + 1);
    at(1)(`${label}: ${counts.get(label)}`);
  };
  console.countReset = (label = 'default') => {
    if (!counts.delete(label)) at(2)(`Count for '${label}' does not exist`);
  };
  console.time = (label = 'default') => { timers.set(label, performance.now()); };
  console.timeLog = (label = 'default', ...values) => {
    if (timers.has(label)) at(1)(`${label}: ${(performance.now() - timers.get(label)).toFixed(3)} ms`, ...values);
    else at(2)(`Timer '${label}' does not exist`);
  };
  console.timeEnd = (label = 'default') => {
    console.timeLog(label);
    timers.delete(label);
  };
  return console;
};
