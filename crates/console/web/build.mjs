// Builds the console: `node build.mjs --out DIR [--dev]`.
//
// Writes each file with its brotli and gzip forms beside it, and `manifest.json`, which says how to serve them.

import { createHash } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { generateApiTypes } from './build/api-types.mjs';
import { bundle, mediaType } from './build/bundle.mjs';

const ENCODINGS = {
  br: { suffix: '.br', encode: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }) },
  gzip: { suffix: '.gz', encode: (bytes) => promisify(gzip)(bytes, { level: 9 }) },
};

async function writeEncoded(folder, { path, contents, role }) {
  await writeFile(join(folder, path), contents);
  const encodings = [];
  for (const [name, { suffix, encode }] of Object.entries(ENCODINGS)) {
    const encoded = await encode(contents);
    if (encoded.length >= contents.length) continue;
    await writeFile(join(folder, path + suffix), encoded);
    encodings.push(name);
  }
  const hash = createHash('sha256').update(contents).digest('base64url').slice(0, 22);
  const immutable = !['document', 'icon'].includes(role);
  return { path, role, type: mediaType(path), immutable, etag: `"${hash}"`, bytes: contents.length, encodings };
}

const { values } = parseArgs({ options: { out: { type: 'string' }, dev: { type: 'boolean', default: false } } });
if (!values.out) {
  console.error('Name the folder to write to: node build.mjs --out DIR [--dev]');
  process.exit(2);
}
const folder = resolve(values.out);
await generateApiTypes();
const { files } = await bundle({ dev: values.dev });
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const manifest = await Promise.all(files.map((file) => writeEncoded(folder, file)));
await writeFile(join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
console.log(`${files.length} files in ${folder}`);
