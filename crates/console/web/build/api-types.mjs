// The types of the API, from the description that the server is tested against.

import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import openapiTypescript, { astToString } from 'openapi-typescript';

const DESCRIPTION = new URL('../../../../docs/openapi.json', import.meta.url);
const OUTPUT = new URL('../.generated/api.d.ts', import.meta.url);

/** Writes `.generated/api.d.ts`, unless it is newer than the description. */
export async function generateApiTypes() {
  const [source, made] = await Promise.all([stat(DESCRIPTION), stat(OUTPUT).catch(() => null)]);
  if (made && made.mtimeMs > source.mtimeMs) return;
  const description = JSON.parse(await readFile(DESCRIPTION, 'utf8'));
  await mkdir(new URL('.', OUTPUT), { recursive: true });
  await writeFile(fileURLToPath(OUTPUT), astToString(await openapiTypescript(description)));
}
