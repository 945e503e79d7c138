// Runs the journeys against a running server:
// `node e2e/run.mjs --base http://127.0.0.1:7420 [--only NAME] [--skip NAME] [--at-once 3] [--issuer URL] [--maildir FOLDER]`.
//
// Prints a line a journey, and fails with all that went wrong. A journey that needs an issuer, mail or passkeys is skipped, and
// named, where the server has none.

import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { checkPages } from './accessibility.mjs';
import { launch, watch } from './browser.mjs';
import { mailbox } from './mail.mjs';
import { createWorld } from './world.mjs';

/** Time a step of a journey may take; covers a loaded machine. */
const STEP_TIMEOUT = 60_000;
/** Time the browser may take to close. */
const CLOSE_TIMEOUT = 10_000;
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const DESKTOP = { viewport: { width: 1440, height: 900 } };

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    only: { type: 'string', default: '' },
    skip: { type: 'string' },
    'at-once': { type: 'string', default: '3' },
    issuer: { type: 'string' },
    maildir: { type: 'string' },
  },
});
if (!values.base) {
  console.error('Name the server: node e2e/run.mjs --base http://127.0.0.1:7420');
  process.exit(2);
}
const base = values.base.replace(/\/$/, '');

async function journeys() {
  const folder = new URL('journeys/', import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith('.mjs')).sort();
  const lists = await Promise.all(files.map(async (file) => {
    const { default: list } = await import(new URL(file, folder));
    return list.map((journey) => ({ ...journey, name: `${file.replace('.mjs', '')}: ${journey.name}` }));
  }));
  return [...lists.flat(), ...checkPages()].filter(({ name }) => name.includes(values.only) && (values.skip === undefined || !name.includes(values.skip)));
}

function expect(condition, message) {
  if (!condition) throw new Error(message);
}

/** What journeys may need that not every server has. */
async function availableParts() {
  const methods = await (await fetch(`${base}/v1/auth/methods`)).json();
  return { issuer: values.issuer !== undefined, mail: values.maildir !== undefined, passkeys: methods.passkeys };
}

/** Runs a journey in a workspace of its own. Returns what went wrong. */
async function runJourney(browser, journey) {
  const options = { ...(journey.phone ? PHONE : DESKTOP), locale: 'en-GB', reducedMotion: 'reduce', ...journey.options };
  const world = await createWorld(browser, base, { role: journey.role, options });
  const found = watch(world.context, base, values.issuer);
  const page = await world.context.newPage();
  page.setDefaultTimeout(STEP_TIMEOUT);
  try {
    await journey.run({ page, base, browser, expect, context: world.context, api: world.api, person: world.person, world: world.world, mailTo: mailbox(values.maildir) });
  } catch (error) {
    found.push(`${error.message}\nat ${page.url()}`);
  } finally {
    await world.close();
  }
  return found;
}

async function runAll(browser, queue) {
  const failures = [];
  const worker = async () => {
    for (let journey = queue.shift(); journey; journey = queue.shift()) {
      const started = performance.now();
      const found = await runJourney(browser, journey).catch((error) => [error.message]);
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(`${found.length === 0 ? 'passed' : 'FAILED'} ${seconds.padStart(6)} s  ${journey.name}`);
      if (found.length > 0) failures.push(`${journey.name}\n  ${[...new Set(found)].join('\n  ').slice(0, 4000)}`);
    }
  };
  await Promise.all(Array.from({ length: Number(values['at-once']) }, worker));
  return failures;
}

const browser = await launch();
const available = await availableParts();
const chosen = await journeys();
const queue = chosen.filter(({ needs }) => needs === undefined || available[needs]);
for (const { name, needs } of chosen) if (needs !== undefined && !available[needs]) console.log(`skipped           ${name}: needs ${needs}`);
const count = queue.length;
const failures = await runAll(browser, queue);
// A browser that does not close is killed when this process ends.
await Promise.race([browser.close(), sleep(CLOSE_TIMEOUT)]);
if (count === 0) failures.push(`no journey is named like “${values.only}”`);
if (failures.length > 0) {
  console.error(`\n${failures.length} of ${count} failed:\n\n${failures.join('\n\n')}`);
  process.exit(1);
}
console.log(`${count} journeys passed`);
process.exit(0);
