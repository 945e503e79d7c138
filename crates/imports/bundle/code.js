// Runs the code that people wrote in a workflow, with the names that n8n gives it.

import { itemAt } from './flow.js';

function names(items, flow, index) {
  const wrap = (list) => ({ all: () => list, first: () => itemAt(list, 0), last: () => itemAt(list, -1) });
  const item = items[index];
  const step = (name) => ({ ...wrap(flow.all(name)), item: flow.item(name, item), isExecuted: flow.ran(name), itemMatching: (at) => itemAt(flow.all(name), at) });
  return {
    items, item, $json: item?.json ?? {}, $input: { ...wrap(items), item }, $: step, $items: (name) => flow.all(name),
    $node: new Proxy({}, { get: (_, name) => ({ json: flow.item(String(name), item).json }) }),
    $now: flow.dates.now(), $today: flow.dates.today(), $workflow: { name: flow.workflow }, $execution: { id: flow.runId }, $itemIndex: index, $runIndex: 0,
    DateTime: { now: () => flow.dates.now(), local: () => flow.dates.now(), fromISO: (value) => flow.dates.from(value), fromMillis: (value) => flow.dates.fromMillis(value), fromSeconds: (value) => flow.dates.fromSeconds(value), fromJSDate: (value) => flow.dates.from(value) },
  };
}

/** The items of what code returned. */
function itemsOf(result) {
  const list = Array.isArray(result) ? result.flat() : result === undefined || result === null ? [] : [result];
  return list.map((entry) => {
    if (entry === null || typeof entry !== 'object') throw new Error('the code must return objects');
    const isItem = entry.json !== undefined && typeof entry.json === 'object';
    // Items are copied, so that the code of one step does not change those of another.
    return isItem ? { json: entry.json, binary: entry.binary, origin: entry.step === undefined ? undefined : entry } : { json: entry };
  });
}

/** Runs code once for all items. */
export async function codeForAll(code, items, flow) {
  const copies = items.map((item) => ({ ...item, json: structuredClone(item.json), origin: item }));
  return [itemsOf(await code(names(copies, flow, 0)))];
}

/** Runs code once for each item. */
export async function codeForEach(code, items, flow) {
  const made = [];
  const copies = items.map((item) => ({ ...item, json: structuredClone(item.json), origin: item }));
  for (const index of copies.keys()) {
    const [item] = itemsOf(await code(names(copies, flow, index)));
    if (item !== undefined) made.push({ ...item, origin: items[index] });
  }
  return [made];
}
