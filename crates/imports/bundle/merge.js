// What a step does with the items of several inputs.

import { get, identity, isStructure, setMember } from './items.js';

/** @typedef {import('./flow.js').Item} Item */

/** Whether a value counts as none where empty ones do not replace others. */
const isBlank = (value) => value === undefined || value === null || value === '';

/** Adds the members of an object to another one; with `isDeep`, those of objects and lists in it, too. */
function addMembers(target, source, { isDeep, keepsFilled }) {
  for (const [name, value] of Object.entries(source ?? {})) {
    const known = Object.hasOwn(target, name) ? target[name] : undefined;
    if (known !== undefined && (value === undefined || (keepsFilled && isBlank(value)))) continue;
    if (isDeep && isStructure(value)) {
      // A list stays one whatever is added to it.
      const own = Array.isArray(value) ? (Array.isArray(known) ? known : []) : isStructure(known) ? known : {};
      setMember(target, name, addMembers(Array.isArray(own) ? [...own] : { ...own }, value, { isDeep, keepsFilled }));
    } else setMember(target, name, value);
  }
  return target;
}

/** One object of several, of which later ones come before earlier ones. */
function combined(objects, { mergeMode = 'deepMerge', overrideEmpty = false } = {}) {
  const options = { isDeep: mergeMode !== 'shallowMerge', keepsFilled: overrideEmpty };
  return objects.reduce((target, source) => addMembers(target, source, options), {});
}

/** An item whose members have the number of their input. */
function numbered(item, number) {
  return { ...item, json: Object.fromEntries(Object.entries(item.json).map(([name, value]) => [`${name}_${number}`, value])) };
}

/** The items of all inputs, one after another. */
export function append(inputs, count) {
  return inputs.slice(0, count).flat();
}

/** Items with the members of those at the same position of two inputs. `join` is `inner`, `left` or `outer`. */
export function byIndex([first = [], second = []], join) {
  const length = join === 'inner' ? Math.min(first.length, second.length) : join === 'outer' ? Math.max(first.length, second.length) : first.length;
  return Array.from({ length }, (_, index) => {
    const [left, right] = [first[index], second[index]];
    return left === undefined || right === undefined ? left ?? right : { json: { ...left.json, ...right.json }, origin: left };
  });
}

/** Items with the members of those at the same position. */
export function byPosition(inputs, { count = 2, withUnpaired = false, clash = {}, passesUnpaired = false } = {}) {
  let lists = Array.from({ length: count }, (_, index) => inputs[index] ?? []);
  const isNumbered = clash.resolveClash === 'addSuffix';
  // Two inputs of which one has nothing are handed on by the older version.
  if (passesUnpaired && lists.some((items) => items.length === 0)) return lists.flat();
  const lengths = lists.map((items) => items.length);
  const length = withUnpaired ? Math.max(...lengths) : Math.min(...lengths);
  const preferred = lists[Number(/^preferInput(\d+)$/.exec(clash.resolveClash ?? '')?.[1] ?? count) - 1] ?? lists.at(-1);
  if (isNumbered) lists = lists.map((items, index) => items.map((item) => numbered(item, index + 1)));
  return Array.from({ length }, (_, index) => {
    const row = lists.map((items) => items[index]).filter((item) => item !== undefined);
    if (passesUnpaired && row.length < lists.length) return row[0];
    const last = passesUnpaired && isNumbered ? {} : preferred[index]?.json;
    return { json: combined([...row.map((item) => item.json), last], clash), origin: row[0] };
  });
}

/** Every item of the first input with every item of the second. */
export function everyPair([first = [], second = []], clash = { mergeMode: 'shallowMerge' }) {
  let [lefts, rights] = clash.resolveClash === 'preferInput1' ? [second, first] : [first, second];
  if (clash.resolveClash === 'addSuffix') {
    lefts = lefts.map((item) => numbered(item, 1));
    rights = rights.map((item) => numbered(item, 2));
  }
  return lefts.flatMap((left) => rights.map((right) => ({ json: combined([left.json, right.json], clash), origin: left })));
}

/** A text that is the same for values that count as equal although they are of other types. */
const looseIdentity = (value) => (isBlank(value) || value === 0 || value === '0' || value === false || value === 'false' ? 'null' : isStructure(value) ? identity(value) : String(value));

/** Items whose fields are equal. `join` says which are kept, `from` of which input. */
export function byFields([first = [], second = []], { fields: given, join = 'keepMatches', from = 'both', matches = 'all', clash = {}, isLoose = false, isFlat = false, isStrict = false }) {
  // Of several fields that are compared with one, the last counts.
  const fields = [...new Map(given.map((pair) => [pair[1], pair])).values()];
  const valueOf = (item, field) => (isFlat ? item.json[field] : get(item.json, field));
  if (isStrict) {
    for (const [side, items] of [first, second].entries()) {
      const lost = given.find((pair) => !items.some((item) => valueOf(item, pair[side]) !== undefined));
      if (lost !== undefined) throw new Error(`Field '${lost[side]}' is not present in any of items in 'Input ${side + 1}'`);
    }
  }
  if (first.length === 0 || second.length === 0) {
    const isNothing = join === 'keepMatches' || (join === 'enrichInput1' && first.length === 0) || (join === 'enrichInput2' && second.length === 0)
      || (join === 'keepNonMatches' && ((from === 'input1' && first.length === 0) || (from === 'input2' && second.length === 0)));
    return isNothing ? [] : [...first, ...second];
  }
  const key = (item, side) => {
    const values = fields.map((pair) => valueOf(item, pair[side]));
    if (side === 0 && values.includes(undefined)) return undefined;
    return JSON.stringify(values.map(isLoose ? looseIdentity : identity));
  };
  const right = new Map();
  for (const item of second) {
    const of = key(item, 1);
    const known = right.get(of);
    if (known === undefined) right.set(of, [item]);
    else if (matches === 'all') known.push(item);
  }
  const isEach = from === 'both' || join.startsWith('enrich');
  const matched = new Set();
  const pairs = [];
  let leftOnly = [];
  for (const left of first) {
    const found = right.get(key(left, 0)) ?? [];
    if (found.length === 0) leftOnly.push(left);
    else for (const others of isEach ? found.map((other) => [other]) : [found]) pairs.push([left, others]);
    for (const other of found) matched.add(other);
  }
  let rightOnly = second.filter((item) => !matched.has(item));
  if (join === 'keepNonMatches') {
    const marked = (items, source) => items.map((item) => ({ ...item, json: { ...item.json, _source: source } }));
    return from === 'input1' ? leftOnly : from === 'input2' ? rightOnly : [...marked(leftOnly, 'input1'), ...marked(rightOnly, 'input2')];
  }
  const prefersFirst = (clash.resolveClash ?? (join === 'enrichInput2' ? 'preferInput1' : 'preferLast')) === 'preferInput1';
  const isNumbered = clash.resolveClash === 'addSuffix';
  const together = pairs.map(([left, others]) => {
    const [one, rest] = isNumbered ? [numbered(left, 1), others.map((other) => numbered(other, 2))] : [left, others];
    const jsons = rest.map((item) => item.json);
    return { json: combined(prefersFirst ? [...jsons, one.json] : [one.json, ...jsons], clash), origin: left };
  });
  if (isNumbered) [leftOnly, rightOnly] = [leftOnly.map((item) => numbered(item, 1)), rightOnly.map((item) => numbered(item, 2))];
  switch (join) {
    case 'enrichInput1': return [...together, ...leftOnly];
    case 'enrichInput2': return [...together, ...rightOnly];
    default: {
      const kept = from === 'input1' ? pairs.map(([left]) => left) : from === 'input2' ? second.filter((item) => matched.has(item)) : together;
      return join === 'keepEverything' ? [...kept, ...leftOnly, ...rightOnly] : kept;
    }
  }
}

/** Items of the first input, by whether the last item of the second with the same key is there. */
export function byKey([first = [], second], { fields: [own, other], mode, overwrite = 'always' }) {
  if (second === undefined || !own || !other) return mode === 'keep' ? [] : first;
  const known = new Map();
  for (const item of second) {
    const key = get(item.json, other);
    if (key) known.set(String(key), item);
  }
  return first.flatMap((item) => {
    const key = get(item.json, own);
    const isKey = typeof key === 'string' || typeof key === 'number' || key === null;
    const found = isKey && key !== null ? known.get(String(key)) : undefined;
    if (mode === 'remove') return found === undefined ? [item] : [];
    if (mode === 'keep') return found === undefined ? [] : [item];
    if (!isKey) return [];
    if (found === undefined) return [item];
    const json = structuredClone(item.json);
    for (const [name, value] of Object.entries(found.json)) {
      const isReplaced = overwrite === 'always' || (overwrite === 'undefined' ? !Object.hasOwn(json, name) : isBlank(json[name]));
      if (name !== other && isReplaced) setMember(json, name, value);
    }
    return [{ ...item, json }];
  });
}
