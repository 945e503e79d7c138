// Takes the pictures of the documentation: `node e2e/pictures.mjs --base http://127.0.0.1:7420 --out ../../../docs/images`.
//
// The picture of a page shows it four times: light and dark, on a desktop and on a phone. Those of the first steps show each once.

import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { settled } from './accessibility.mjs';
import { launch } from './browser.mjs';
import { walkFirstSteps } from './first-steps.mjs';
import { fillWorkspace } from './sample-workspace.mjs';
import { createWorld } from './world.mjs';

const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
/** The four views, side by side. */
const SHEET = { width: 1936, height: 470 };
/** A step, at two thirds of its size. */
const STEP = { width: 960, height: 600 };
const QUALITY = 78;

const { values: { base, out, only } } = parseArgs({ options: { base: { type: 'string' }, out: { type: 'string' }, only: { type: 'string', default: '' } } });
if (!base || !out) {
  console.error('Name the server and the folder: node e2e/pictures.mjs --base http://127.0.0.1:7420 --out FOLDER');
  process.exit(2);
}

const PAGES = {
  city: ({ ws }) => `/w/${ws}`,
  apps: ({ ws }) => `/w/${ws}/apps`,
  app: ({ ws, app }) => `/w/${ws}/apps/${app}`,
  code: ({ ws, app }) => `/w/${ws}/apps/${app}/code`,
  version: ({ ws, app }) => `/w/${ws}/apps/${app}/versions/2`,
  access: ({ ws, app }) => `/w/${ws}/apps/${app}/access`,
  logs: ({ ws, app }) => `/w/${ws}/apps/${app}/logs`,
  import: ({ ws, imported }) => `/w/${ws}/imports/${imported}`,
  automations: ({ ws }) => `/w/${ws}/automations`,
  schedule: ({ ws, schedule }) => `/w/${ws}/automations/${schedule}/schedule`,
  webhook: ({ ws, automation }) => `/w/${ws}/automations/${automation}/webhook`,
  tool: ({ ws, automation }) => `/w/${ws}/tools/${automation}`,
  runs: ({ ws }) => `/w/${ws}/runs`,
  run: ({ ws, run }) => `/w/${ws}/runs/${run}`,
  'dead-letter': ({ ws, letter }) => `/w/${ws}/dead-letters/${letter}`,
  notifications: ({ ws }) => `/w/${ws}/notifications`,
  queue: ({ ws }) => `/w/${ws}/queue`,
  gates: ({ ws }) => `/w/${ws}/gates`,
  project: ({ ws, project }) => `/w/${ws}/data/${project}`,
  grid: ({ ws, project, table }) => `/w/${ws}/data/${project}/${table}`,
  rules: ({ ws, project, table }) => `/w/${ws}/data/${project}/${table}/rules`,
  api: ({ ws, project }) => `/w/${ws}/data/${project}/-/api?table=orders`,
  people: ({ ws }) => `/w/${ws}/people`,
  audit: ({ ws }) => `/w/${ws}/settings/audit`,
  tokens: ({ ws }) => `/w/${ws}/settings/tokens/new`,
  account: () => '/account',
};

async function show(page, address, viewport, colorScheme) {
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.goto(base + address);
  await settled(page);
  // What is read on idle, such as the editor, comes after the content.
  await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch((error) => { if (error.name !== 'TimeoutError') throw error; });
  return (await page.screenshot({ type: 'png' })).toString('base64');
}

/** Writes images of pages, side by side, as WebP. */
async function writePicture(sheet, name, viewport, style, images) {
  await sheet.setViewportSize(viewport);
  await sheet.setContent(`<style>body{display:flex;${style}}img{border-radius:6px}</style>${images.join('')}`);
  await writeView(sheet, name);
}

async function writeView(page, name) {
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  writeFileSync(`${out}/${name}.webp`, Buffer.from(data, 'base64'));
}

async function takeSheet(page, sheet, name, address) {
  const views = [];
  for (const viewport of [DESKTOP, PHONE]) for (const scheme of ['light', 'dark']) views.push({ viewport, data: await show(page, address, viewport, scheme) });
  const [desktopLight, desktopDark, phoneLight, phoneDark] = views;
  const image = ({ viewport, data }) => `<img height=450 width=${Math.round((450 * viewport.width) / viewport.height)} src="data:image/png;base64,${data}">`;
  await writePicture(sheet, `console-${name}`, SHEET, 'margin:10px;gap:12px;background:#8b909a', [desktopLight, desktopDark, phoneLight, phoneDark].map(image));
}

async function takeSteps(browser, sheet) {
  const context = await browser.newContext({ baseURL: base, viewport: DESKTOP, locale: 'en-GB', reducedMotion: 'reduce' });
  const page = await context.newPage();
  const picture = async (name) => {
    const data = (await page.screenshot({ type: 'png' })).toString('base64');
    await writePicture(sheet, `first-steps-${name}`, STEP, 'margin:0', [`<img width=${STEP.width} src="data:image/png;base64,${data}">`]);
    console.log(`first-steps-${name}.webp`);
  };
  await walkFirstSteps({ page, base, picture });
  await context.close();
}

const browser = await launch();
const world = await createWorld(browser, base, { options: { viewport: DESKTOP, locale: 'en-GB' } });
const page = await world.context.newPage();
const objects = await fillWorkspace({ page, base, api: world.api, world: world.world });
const sheet = await browser.newPage({ viewport: SHEET });
mkdirSync(out, { recursive: true });
for (const [name, address] of Object.entries(PAGES)) {
  if (!name.includes(only)) continue;
  await takeSheet(page, sheet, name, address(objects));
  console.log(`console-${name}.webp`);
}
if ('first-steps'.includes(only)) await takeSteps(browser, sheet);
await browser.close();
