// Builds the console: `node build.mjs --out DIR [--dev]`.
//
// Writes each file with its brotli and gzip forms beside it, where they are smaller, and `files.tsv`: a line a file with role, path
// and media type. The server renders the document itself.

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { bundle, mediaType } from './build/bundle.mjs';

const ENCODINGS = {
  br: { suffix: '.br', encode: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }) },
  gzip: { suffix: '.gz', encode: (bytes) => promisify(gzip)(bytes, { level: 9 }) },
};

async function writeEncoded(folder, { path, contents, role }) {
  await writeFile(join(folder, path), contents);
  for (const { suffix, encode } of Object.values(ENCODINGS)) {
    const encoded = await encode(contents);
    if (encoded.length < contents.length) await writeFile(join(folder, path + suffix), encoded);
  }
  return `${role}\t${path}\t${mediaType(path)}\n`;
}

const { values } = parseArgs({ options: { out: { type: 'string' }, dev: { type: 'boolean', default: false } } });
if (!values.out) {
  console.error('Name the folder to write to: node build.mjs --out DIR [--dev]');
  process.exit(2);
}
const folder = resolve(values.out);
const { files } = await bundle({ dev: values.dev });
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const served = files.filter(({ role }) => role !== 'document');
const lines = await Promise.all(served.map((file) => writeEncoded(folder, file)));
await writeFile(join(folder, 'files.tsv'), lines.join(''));
console.log(`${served.length} files in ${folder}`);
