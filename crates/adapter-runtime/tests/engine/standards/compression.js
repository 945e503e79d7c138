// Compression standard; RFC 1950, 1951 and 1952.
import { bytes, each, hex, rejects, same, suite, throws, utf8 } from './suite.js';

const FORMATS = ['gzip', 'deflate', 'deflate-raw'];
const through = (stream, ...chunks) => new Response(new ReadableStream({
  start(controller) {
    for (const chunk of chunks) controller.enqueue(chunk);
    controller.close();
  },
}).pipeThrough(stream)).bytes();
const pack = (format, ...chunks) => through(new CompressionStream(format), ...chunks);
const unpack = (format, ...chunks) => through(new DecompressionStream(format), ...chunks);
const text = (data) => new TextDecoder().decode(data);
const both = FORMATS.flatMap((format) => [0, 1, 100, 70000].map((size) => [format, size]));
// "hello" by zlib.
const HELLO = {
  gzip: '1f8b0800000000000203cb48cdc9c9070086a6103605000000', deflate: '789ccb48cdc9c90700062c0215',
  'deflate-raw': 'cb48cdc9c90700',
};

export default suite(
  each(both, (format, size) => `${format} of ${size} bytes and back`, async (format, size) => {
    const data = Uint8Array.from({ length: size }, (_, at) => (at * at) >> 3);
    same(hex(await unpack(format, await pack(format, data))) === hex(data), true);
  }),
  each(FORMATS, (format) => `${format} of another implementation`, async (format) => same(text(await unpack(format, bytes(HELLO[format]))), 'hello')),
  each(FORMATS, (format) => `${format} byte by byte`, async (format) =>
    same(text(await unpack(format, ...[...bytes(HELLO[format])].map((byte) => new Uint8Array([byte])))), 'hello')),
  each(FORMATS, (format) => `${format} of many chunks`, async (format) => {
    const chunks = Array.from({ length: 50 }, (_, at) => utf8(`line ${at}\n`));
    same(text(await unpack(format, await pack(format, ...chunks))), chunks.map(text).join(''));
  }),
  each(FORMATS, (format) => `${format} that is cut off`, (format) => rejects(unpack(format, bytes(HELLO[format]).slice(0, -1)), 'TypeError')),
  each(FORMATS, (format) => `${format} with something behind it`, (format) => rejects(unpack(format, bytes(`${HELLO[format]}00`)), 'TypeError')),
  each(FORMATS, (format) => `${format} with something behind it in a chunk of its own`, (format) => rejects(unpack(format, bytes(HELLO[format]), new Uint8Array(1)), 'TypeError')),
  each(FORMATS, (format) => `${format} of nothing at all`, (format) => rejects(unpack(format), 'TypeError')),
  each(FORMATS, (format) => `${format} of noise`, (format) => rejects(unpack(format, new Uint8Array(64).fill(0xff)), 'TypeError')),
  each(FORMATS, (format) => `${format} with empty chunks`, async (format) =>
    same(text(await unpack(format, new Uint8Array(0), bytes(HELLO[format]), new Uint8Array(0))), 'hello')),
  each(FORMATS, (format) => `a chunk of text for ${format}`, (format) => rejects(pack(format, 'hello'), 'TypeError')),
  each(FORMATS, (format) => `a chunk of text from ${format}`, (format) => rejects(unpack(format, 'hello'), 'TypeError')),
  each(FORMATS, (format) => `a buffer for ${format}`, async (format) => same(text(await unpack(format, await pack(format, utf8('hi').buffer))), 'hi')),
  each(['', 'GZIP', 'zlib', 'br', 'deflate-raw ', undefined, null], (format) => `no format ${String(format)}`, (format) => {
    throws(() => new CompressionStream(format), 'TypeError');
    throws(() => new DecompressionStream(format), 'TypeError');
  }),
  each([['gzip', 11, '06'], ['gzip', -8, 'ff'], ['gzip', -4, '07'], ['deflate', 0, '07'], ['deflate', -1, '16']],
    (format, at) => `${format} with a changed byte at ${at}`, (format, at, digits) => {
      const data = bytes(HELLO[format]);
      const index = at < 0 ? data.length + at : at;
      data[index] ^= Number.parseInt(digits, 16);
      return rejects(unpack(format, data), 'TypeError');
    }),
  {
    'the head of gzip': async () => same([...(await pack('gzip', utf8('x'))).slice(0, 3)], [0x1f, 0x8b, 8]),
    'the head of deflate': async () => {
      const [cmf, flg] = await pack('deflate', utf8('x'));
      same([cmf & 15, (cmf * 256 + flg) % 31], [8, 0]);
    },
    'the length in gzip': async () => same([...(await pack('gzip', new Uint8Array(300))).slice(-4)], [44, 1, 0, 0]),
    'what repeats gets smaller': async () => same((await pack('gzip', new Uint8Array(70000))).length < 500, true),
    'gzip with a name and a comment': async () => {
      const data = bytes(HELLO.gzip);
      const named = new Uint8Array([...data.slice(0, 3), 0x18, ...data.slice(4, 10), ...utf8('a.txt\0about\0'), ...data.slice(10)]);
      same(text(await unpack('gzip', named)), 'hello');
    },
    'ends of a stream': () => {
      const { readable, writable } = new CompressionStream('gzip');
      same([readable instanceof ReadableStream, writable instanceof WritableStream], [true, true]);
    },
    'tags': () => same([new CompressionStream('gzip'), new DecompressionStream('gzip')].map((value) => Object.prototype.toString.call(value)), ['[object CompressionStream]', '[object DecompressionStream]']),
    'without new': () => throws(() => CompressionStream('gzip'), 'TypeError'),
  },
);
