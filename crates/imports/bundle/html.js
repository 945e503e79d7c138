// Elements of HTML by CSS selectors.

const VOID = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'track', 'wbr']);
const RAW = new Set(['script', 'style', 'textarea', 'title']);
/** Elements that end where another of them begins. */
const CLOSES = { li: ['li'], p: ['p'], dt: ['dt', 'dd'], dd: ['dt', 'dd'], tr: ['tr', 'td', 'th'], td: ['td', 'th'], th: ['td', 'th'], option: ['option'] };
/** Elements that keep what is in them together. */
const SCOPES = new Set(['', 'body', 'div', 'dl', 'html', 'ol', 'select', 'table', 'ul']);

const decode = (text) => text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(amp|lt|gt|quot|apos|nbsp));/gi, (_, hex, number, name) => (name === undefined ? String.fromCodePoint(Math.min(0x10ffff, Number.parseInt(hex ?? number, hex === undefined ? 10 : 16))) : { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }[name.toLowerCase()]));

/** The tree of a document. What is not closed ends with what it is in. */
function parse(source) {
  const root = { tag: '', attributes: Object.create(null), children: [], parent: null };
  let at = root;
  const tags = /<!--[^]*?-->|<![^>]*>|<(\/?)([a-zA-Z][^\s/>]*)((?:\s+[^\s=>/]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*))?)*)\s*(\/?)>/g;
  let from = 0;
  const text = (end) => { if (end > from) at.children.push(decode(source.slice(from, end))); };
  for (let found = tags.exec(source); found !== null; found = tags.exec(source)) {
    text(found.index);
    from = tags.lastIndex;
    const [, slash, name, written, isEmpty] = found;
    if (name === undefined) continue;
    const tag = name.toLowerCase();
    if (slash !== '') {
      for (let open = at; open !== root; open = open.parent) if (open.tag === tag) { at = open.parent; break; }
      continue;
    }
    for (let open = at; Object.hasOwn(CLOSES, tag) && !SCOPES.has(open.tag); open = open.parent) if (CLOSES[tag].includes(open.tag)) at = open.parent;
    const attributes = Object.create(null);
    for (const [, key, quoted, single, bare] of written.matchAll(/([^\s=>/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?/g)) attributes[key.toLowerCase()] ??= decode(quoted ?? single ?? bare ?? '');
    const element = { tag, attributes, children: [], parent: at };
    at.children.push(element);
    if (RAW.has(tag)) {
      const end = source.toLowerCase().indexOf(`</${tag}`, from);
      const inner = source.slice(from, end < 0 ? source.length : end);
      element.children.push(tag === 'title' || tag === 'textarea' ? decode(inner) : inner);
      from = end < 0 ? source.length : end;
      tags.lastIndex = from;
      at = element;
    } else if (!VOID.has(tag) && isEmpty === '') at = element;
  }
  text(source.length);
  return root;
}

const elements = (node) => node.children.filter((child) => typeof child === 'object');

function* all(node) {
  for (const child of elements(node)) {
    yield child;
    yield* all(child);
  }
}

/** A simple selector, such as `a.b[href]`, as tests. */
function compound(source) {
  const tests = [];
  let rest = source;
  while (rest !== '') {
    const found = /^(?:(\*|[a-zA-Z][\w-]*)|#([\w-]+)|\.([\w-]+)|\[([\w-]+)(?:([~^$*|]?=)\s*(?:"([^"]*)"|'([^']*)'|([^\]]*)))?\]|:(first-child|last-child|first|nth-child\((\d+)\)|nth-of-type\((\d+)\)))/.exec(rest);
    if (found === null) throw new Error(`this selector is not known: ${source}`);
    const [matched, tag, id, name, attribute, operator, quoted, single, bare, pseudo, child, ofType] = found;
    rest = rest.slice(matched.length);
    if (tag !== undefined) tests.push((element) => tag === '*' || element.tag === tag.toLowerCase());
    else if (id !== undefined) tests.push((element) => element.attributes.id === id);
    else if (name !== undefined) tests.push((element) => (element.attributes.class ?? '').split(/\s+/).includes(name));
    else if (attribute !== undefined) {
      const wanted = quoted ?? single ?? bare;
      const holds = { '=': (value) => value === wanted, '~=': (value) => value.split(/\s+/).includes(wanted), '^=': (value) => value.startsWith(wanted), '$=': (value) => value.endsWith(wanted), '*=': (value) => value.includes(wanted), '|=': (value) => value === wanted || value.startsWith(`${wanted}-`) }[operator];
      tests.push((element) => attribute in element.attributes && (holds === undefined || holds(element.attributes[attribute])));
    } else if (pseudo !== 'first') {
      const siblings = (element) => elements(element.parent).filter((other) => ofType === undefined || other.tag === element.tag);
      tests.push((element) => siblings(element).at(pseudo === 'last-child' ? -1 : Number(child ?? ofType ?? 1) - 1) === element);
    }
  }
  return (element) => element.tag !== '' && tests.every((test) => test(element));
}

function matches(element, steps, last = steps.length - 1) {
  const { test, combinator } = steps[last];
  if (!test(element)) return false;
  if (last === 0) return true;
  const before = element.parent === null ? [] : elements(element.parent).slice(0, elements(element.parent).indexOf(element));
  switch (combinator) {
    case '>': return element.parent !== null && matches(element.parent, steps, last - 1);
    case '+': return before.length > 0 && matches(before.at(-1), steps, last - 1);
    case '~': return before.some((sibling) => matches(sibling, steps, last - 1));
    default: for (let up = element.parent; up !== null; up = up.parent) if (matches(up, steps, last - 1)) return true;
  }
  return false;
}

/** The elements of a document that a selector names, in the order in which they stand. */
export function select(source, selector) {
  const alternatives = selector.split(',').map((alternative) => {
    const steps = [];
    let combinator = ' ';
    for (const [part] of alternative.trim().matchAll(/\[[^\]]*\]|[^\s>+~[]+(?:\[[^\]]*\][^\s>+~[]*)*|[>+~]/g)) {
      if (/^[>+~]$/.test(part)) combinator = part;
      else { steps.push({ test: compound(part), combinator }); combinator = ' '; }
    }
    if (steps.length === 0) throw new Error('the selector is empty');
    return steps;
  });
  const isFirst = /:first(?!-)/.test(selector);
  const found = [...all(parse(String(source)))].filter((element) => alternatives.some((steps) => matches(element, steps)));
  return isFirst ? found.slice(0, 1) : found;
}

/** The text of an element. */
export function textOf(element) {
  return element.children.map((child) => (typeof child === 'string' ? child : child.tag === 'script' || child.tag === 'style' ? '' : textOf(child))).join('');
}

const escaped = (text) => text.replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character]);

/** The HTML in an element. */
export function innerHtml(element) {
  return element.children.map((child) => {
    if (typeof child === 'string') return element.tag === 'script' || element.tag === 'style' ? child : escaped(child);
    const attributes = Object.entries(child.attributes).map(([name, value]) => ` ${name}="${escaped(value).replaceAll('"', '&quot;')}"`).join('');
    return VOID.has(child.tag) ? `<${child.tag}${attributes}>` : `<${child.tag}${attributes}>${innerHtml(child)}</${child.tag}>`;
  }).join('');
}

/** What is asked of the elements: their text, HTML, value or an attribute; of the first, or of all. */
export function extract(source, { selector, gives, attribute, isList, isTrimmed, isClean }) {
  const values = select(source, selector).map((element) => {
    const value = gives === 'html' ? innerHtml(element) : gives === 'attribute' ? element.attributes[attribute.toLowerCase()] : gives === 'value' ? element.attributes.value : textOf(element);
    const trimmed = isTrimmed && typeof value === 'string' ? value.trim() : value;
    return isClean && typeof trimmed === 'string' ? trimmed.replace(/\s+/g, ' ') : trimmed;
  });
  return isList ? values : values[0];
}
