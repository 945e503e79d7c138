// Runs the steps of an imported workflow, in the order in which they are listed.

import { Dates } from './dates.js';

/**
 * What goes from step to step. `origin` is the item that it was made of, and `step` the name of the step that made it.
 * @typedef {{ json: any, binary?: any, origin?: Item, step?: string }} Item
 */

/** Longest time that the delays of a run take together. */
const LONGEST_WAIT = 20_000;

/** What a step can see of the run. */
class Flow {
  /** @type {Map<string, Item[][]>} */
  #outputs = new Map();

  constructor({ event, env, name, timezone }) {
    this.event = event;
    this.env = env;
    this.workflow = name;
    this.runId = event.runId;
    this.dates = new Dates(timezone);
    this.variables = new Map();
    this.waited = 0;
  }

  /** All items of a step's first output. @param {string} step */
  all(step) {
    return this.#outputs.get(step)?.[0] ?? [];
  }

  /** Items of one output of a step. @param {string} step @param {number} output */
  output(step, output) {
    return this.#outputs.get(step)?.[output] ?? [];
  }

  /** Whether a step ran. @param {string} step */
  ran(step) {
    return this.#outputs.has(step);
  }

  /**
   * The item of a step from which an item was made.
   * @param {string} step
   * @param {Item | undefined} item
   */
  item(step, item) {
    for (let made = item; made !== undefined; made = made.origin) {
      if (made.step === step) return made;
    }
    return itemAt(this.all(step), 0);
  }

  keep(step, outputs) {
    this.#outputs.set(step, outputs);
  }
}

/**
 * Runs the steps.
 * @param {any[]} steps
 * @param {{ event: any, env: any, name: string, timezone: string, skipped: string[] }} options
 */
export async function run(steps, { event, env, name, timezone, skipped }) {
  const flow = new Flow({ event, env, name, timezone });
  const isManual = event.trigger === 'manual' && steps.some((step) => step.start === 'manual');
  let last = [];
  for (const step of steps) {
    if (skipped.includes(step.id)) continue;
    const inputs = step.start === undefined ? inputsOf(step, flow) : [[{ json: {} }]];
    if (step.start === undefined ? inputs.every((items) => items.length === 0) : (step.start === 'manual') !== isManual) continue;
    const first = step.once ? (inputs[0] ?? []).slice(0, 1) : inputs[0] ?? [];
    if (step.once) inputs[0] = first;
    const result = await attempts(step, () => step.run(first, flow, inputs));
    const outputs = tagged(step, result, inputs);
    if (step.always && outputs.every((items) => items.length === 0)) outputs[0] = [{ json: {}, step: step.name }];
    flow.keep(step.name, outputs);
    if (outputs.some((items) => items.length > 0)) last = outputs.find((items) => items.length > 0) ?? [];
  }
  return last.slice(0, 100).map((item) => item.json);
}

function inputsOf(step, flow) {
  const inputs = [];
  for (const [from, output, input] of step.from) {
    while (inputs.length <= input) inputs.push([]);
    inputs[input].push(...flow.output(from, output));
  }
  return inputs;
}

async function attempts(step, attempt) {
  const tries = step.retry?.tries ?? 1;
  for (let number = 1; ; number += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (number < tries && !(error instanceof NotWritten)) {
        await new Promise((resolve) => setTimeout(resolve, step.retry.wait));
        continue;
      }
      if (step.continues && !(error instanceof NotWritten)) return [[{ json: { error: error.message } }]];
      throw new Error(`${step.name}: ${error.message}`, { cause: error });
    }
  }
}

/** Notes which step made each item, and of which item. */
function tagged(step, outputs, inputs) {
  const given = inputs.flat();
  return outputs.map((items) => items.map((item, index) => {
    // An item that only passes through is an item of this step too.
    if (item.step !== undefined) return { ...item, step: step.name, origin: item };
    const origin = item.origin ?? (given.length === 1 ? given[0] : items.length === given.length ? given[index] : undefined);
    return { ...item, step: step.name, origin };
  }));
}

class NotWritten extends Error {}

/** The error of a step that nobody has written yet. @param {string} step */
export function notWritten(step) {
  return new NotWritten(`“${step}” was not translated; write its function in main.js`);
}

/**
 * Stands for an expression that was not translated.
 * @param {string} expression
 * @returns {never}
 */
export function notTranslated(expression) {
  throw new NotWritten(`this expression was not translated: ${expression}`);
}

/** The item at an index, from the end if it is negative; an empty one if there is none. */
export function itemAt(items, index) {
  return items.at(index) ?? { json: {} };
}

/** Makes an item of each, with the members that a function gives. */
export function each(items, make) {
  return [items.map((item, index) => ({ ...item, json: make(item, index), origin: item, step: undefined }))];
}

/** The same with a function that waits. */
export async function eachAsync(items, make) {
  const made = [];
  for (const [index, item] of items.entries()) made.push({ ...item, json: await make(item, index), origin: item, step: undefined });
  return [made];
}

/** Sends each item to the outputs whose numbers a function gives. */
export function divide(items, outputOf, count) {
  const outputs = Array.from({ length: count }, () => []);
  for (const [index, item] of items.entries()) {
    for (const output of [outputOf(item, index)].flat()) outputs[output]?.push(item);
  }
  return outputs;
}

/** Waits, within what a run may wait in all. @param {number} milliseconds @param {Flow} flow */
export async function sleep(milliseconds, flow) {
  const left = LONGEST_WAIT - flow.waited;
  const wait = Math.max(0, Math.min(left, Number.isFinite(milliseconds) ? milliseconds : 0));
  flow.waited += wait;
  await new Promise((resolve) => setTimeout(resolve, wait));
}

/** What a schedule gives to the workflow. */
export function scheduleFields(flow) {
  const now = flow.dates.now();
  return {
    timestamp: now.toISO(), 'Readable date': now.toFormat('MMMM d yyyy, h:mm:ss a'), 'Readable time': now.toFormat('h:mm:ss a'),
    'Day of week': now.toFormat('EEEE'), Year: now.toFormat('yyyy'), Month: now.toFormat('MMMM'), 'Day of month': now.toFormat('dd'),
    Hour: now.toFormat('HH'), Minute: now.toFormat('mm'), Second: now.toFormat('ss'), Timezone: now.zone,
  };
}
