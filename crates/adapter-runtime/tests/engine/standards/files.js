// File API (Blob, File) and XMLHttpRequest standard (FormData), RFC 7578.
import { each, hex, rejects, same, suite, throws, utf8 } from './suite.js';

const tag = (value) => Object.prototype.toString.call(value);

export const BLOB = suite(
  each([
    ['nothing', undefined, ''], ['an empty list', [], ''], ['text', ['abc'], 'abc'], ['texts', ['a', '', 'b'], 'ab'],
    ['a number', [12], '12'], ['null', [null], 'null'], ['undefined', [undefined], 'undefined'], ['an object', [{}], '[object Object]'],
    ['a lone surrogate', ['\ud800x'], '\ufffdx'], ['emoji', ['😀'], '😀'], ['bytes', [new Uint8Array([104, 105])], 'hi'],
    ['a buffer', [new Uint8Array([104]).buffer], 'h'], ['part of a buffer', [new Uint8Array([1, 104, 105, 1]).subarray(1, 3)], 'hi'],
    ['a DataView', [new DataView(new Uint8Array([104, 105]).buffer, 1)], 'i'], ['wide numbers', [new Uint16Array([0x6968])], 'hi'],
    ['a blob', [new Blob(['in']), 'x'], 'inx'], ['an iterable', new Set(['a', 'b']), 'ab'], ['line ends', ['a\r\nb\n'], 'a\r\nb\n'],
  ], (what) => `a blob of ${what}`, async (_, parts, text) => {
    const blob = new Blob(parts);
    same([await blob.text(), blob.size, blob.type], [text, utf8(text).length, '']);
  }),
  each([['text', 'abc'], ['a number', 7], ['null', null], ['an object', {}]], (what) => `no blob of ${what} without a list`, (_, parts) =>
    throws(() => new Blob(parts), 'TypeError')),
  each([
    ['text/plain', 'text/plain'], ['Text/HTML', 'text/html'], ['no type', 'no type'], ['té', ''], ['a\x00', ''], ['', ''], [null, 'null'],
  ], (type) => `the type ${JSON.stringify(type)}`, (type, kept) => same(new Blob([], { type }).type, kept)),
  each([
    [[], 'abcdef'], [[2], 'cdef'], [[2, 4], 'cd'], [[-2], 'ef'], [[-4, -2], 'cd'], [[0, 0], ''], [[4, 2], ''], [[9], ''], [[-99, 99], 'abcdef'],
    [[1.9, 3.2], 'bc'], [['1', '2'], 'b'], [[NaN, 2], 'ab'], [[undefined, 1], 'a'],
  ], (range) => `a slice of ${JSON.stringify(range)}`, async (range, text) => same(await new Blob(['abc', 'def']).slice(...range).text(), text)),
  {
    'the type of a slice': () => {
      const blob = new Blob(['ab'], { type: 'text/plain' });
      same([blob.slice(0, 1).type, blob.slice(0, 1, 'image/PNG').type, blob.slice().type], ['', 'image/png', '']);
    },
    'arrayBuffer gives a new buffer': async () => {
      const blob = new Blob(['ab']);
      const first = await blob.arrayBuffer();
      new Uint8Array(first).fill(0);
      same([first instanceof ArrayBuffer, await blob.text()], [true, 'ab']);
    },
    'a stream of bytes': async () => {
      const chunks = [];
      for await (const chunk of new Blob(['ab', 'c']).stream()) chunks.push(...chunk);
      same(chunks, [97, 98, 99]);
    },
    'two streams': async () => {
      const blob = new Blob(['ab']);
      same([await new Response(blob.stream()).text(), await new Response(blob.stream()).text()], ['ab', 'ab']);
    },
    'text is UTF-8 whatever the type says': async () => same(await new Blob([new Uint8Array([0xff])], { type: 'text/plain;charset=latin1' }).text(), '\ufffd'),
    'later changes of a part': async () => {
      const part = new Uint8Array([97]);
      const blob = new Blob([part]);
      part[0] = 98;
      same(await blob.text(), 'a');
    },
    'line ends of the platform': async () => same(await new Blob(['a\r\nb'], { endings: 'native' }).text(), 'a\nb'),
    'line ends that do not exist': () => throws(() => new Blob([], { endings: 'x' }), 'TypeError'),
    'its tag': () => same([tag(new Blob()), Blob.length], ['[object Blob]', 0]),
    'without new': () => throws(() => Blob(), 'TypeError'),
    'size and type cannot be set': () => {
      const blob = new Blob(['ab']);
      try { blob.size = 9; } catch { /* A module is strict. */ }
      same(blob.size, 2);
    },
  },
);

export const FILE = suite(
  each([['a.txt', 'a.txt'], ['', ''], ['ä/ö.txt', 'ä/ö.txt'], [7, '7'], [null, 'null'], ['\ud800', '\ufffd'], ['a\nb', 'a\nb'], ['😀', '😀']],
    (name) => `the name ${JSON.stringify(name)}`, (name, kept) => same(new File([], name).name, kept)),
  each([[0, 0], [1700000000000, 1700000000000], [-1, -1], ['5', 5], [1.9, 1], [NaN, 0], [null, 0], [new Date(3), 3], [true, 1]],
    (time) => `lastModified ${String(Number(time))} of a ${time === null ? 'null' : typeof time}`, (lastModified, kept) => same(new File([], 'x', { lastModified }).lastModified, kept)),
  each([['text/PLAIN', 'text/plain'], ['é', ''], ['', '']], (type) => `the type ${JSON.stringify(type)}`, (type, kept) => same(new File([], 'x', { type }).type, kept)),
  each([['text', ['ab'], 'ab'], ['bytes', [new Uint8Array([104])], 'h'], ['a file', [new File(['in'], 'y'), '!'], 'in!'], ['nothing', [], '']],
    (what) => `a file of ${what}`, async (_, parts, text) => same([await new File(parts, 'x').text(), new File(parts, 'x').size], [text, text.length])),
  each([['no arguments', []], ['no name', [[]]]], (what) => `no file with ${what}`, (_, given) => throws(() => new File(...given), 'TypeError')),
  each([['text', 'ab'], ['null', null], ['an object', {}]], (what) => `no file of ${what} without a list`, (_, parts) => throws(() => new File(parts, 'x'), 'TypeError')),
  {
    'a file is a blob': () => same([new File([], 'x') instanceof Blob, tag(new File([], 'x'))], [true, '[object File]']),
    'the time without one': () => same(Math.abs(new File([], 'x').lastModified - Date.now()) < 1000, true),
    'a slice is no file': () => same([new File(['ab'], 'x').slice(1) instanceof File, new File(['ab'], 'x').slice(1) instanceof Blob], [false, true]),
    'a slice of a file': async () => same(await new File(['abc'], 'x').slice(1, 2).text(), 'b'),
    'a stream': async () => same(await new Response(new File(['abc'], 'x').stream()).text(), 'abc'),
    'as a body': async () => {
      const request = new Request('https://a.example', { method: 'POST', body: new File(['abc'], 'x', { type: 'text/csv' }) });
      same([request.headers.get('content-type'), await request.text()], ['text/csv', 'abc']);
    },
    'without new': () => throws(() => File([], 'x'), 'TypeError'),
    'options that are no object': () => throws(() => new File([], 'x', 5), 'TypeError'),
    'options of null': () => same(new File([], 'x', null).type, ''),
  },
);

const lines = (...all) => all.join('\r\n');
const read = (body, type = 'multipart/form-data; boundary=b') => new Response(body, { headers: { 'content-type': type } }).formData();
const part = (disposition, content = 'v', type = null) => lines('--b', `Content-Disposition: ${disposition}`, ...(type ? [`Content-Type: ${type}`] : []), '', content, '--b--', '');
const form = (...entries) => {
  const made = new FormData();
  for (const entry of entries) made.append(...entry);
  return made;
};

export const FORM = suite(
  each([
    ['form-data; name="a"', 'a', 'v'], ['form-data; name=a', 'a', 'v'], ['form-data; name=""', '', 'v'], ['form-data; name="a b"', 'a b', 'v'],
    ['form-data; name="ä"', 'ä', 'v'], ['form-data; name="a%22b"', 'a"b', 'v'], ['form-data; name="a%0D%0Ab"', 'a\r\nb', 'v'], ['FORM-DATA; NAME="a"', 'a', 'v'],
  ], (disposition) => `a part with ${disposition}`, async (disposition, name, value) => same([...await read(part(disposition))], [[name, value]])),
  each([['text/plain', 'text/plain'], ['image/png', 'image/png'], [null, 'text/plain']], (type) => `a file part of type ${type}`, async (type, kept) => {
    const file = (await read(part('form-data; name="f"; filename="a.txt"', 'v', type))).get('f');
    same([file instanceof File, file.name, file.type, await file.text()], [true, 'a.txt', kept, 'v']);
  }),
  each([
    ['no boundary', 'multipart/form-data', part('form-data; name="a"')], ['another boundary', 'multipart/form-data; boundary=c', part('form-data; name="a"')],
    ['no end', undefined, lines('--b', 'Content-Disposition: form-data; name="a"', '', 'v')], ['no name', undefined, part('form-data')],
    ['no disposition', undefined, lines('--b', 'X-A: b', '', 'v', '--b--', '')], ['another type', 'text/plain', 'a=b'], ['JSON', 'application/json', '{}'],
  ], (what) => `a form with ${what}`, (_, type, body) => rejects(read(body, type), 'TypeError')),
  each([
    ['a=1&b=2', [['a', '1'], ['b', '2']]], ['', []], ['a', [['a', '']]], ['a+b=%C3%A4', [['a b', 'ä']]], ['a=%ff', [['a', '\ufffd']]], ['=x', [['', 'x']]], ['a=1=2', [['a', '1=2']]],
  ], (body) => `the query ${JSON.stringify(body)}`, async (body, entries) => same([...await read(body, 'application/x-www-form-urlencoded')], entries)),
  each([['a\nb', 'a\r\nb'], ['a\rb', 'a\r\nb'], ['a\r\nb', 'a\r\nb']], (text) => `${JSON.stringify(text)} is written with line ends of the net`, async (text, sent) =>
    same((await read(...await (async () => { const r = new Response(form(['a', text])); return [await r.text(), r.headers.get('content-type')]; })())).get('a'), sent)),
  each([['x"y', 'x%22y'], ['x\r\ny', 'x%0D%0Ay'], ['ä', 'ä']], (name) => `the name ${JSON.stringify(name)} is written`, async (name, sent) =>
    same((await new Response(form([name, 'v'])).text()).includes(`name="${sent}"`), true)),
  {
    append: () => same([...form(['a', '1'], ['b', '2'], ['a', '3'])], [['a', '1'], ['b', '2'], ['a', '3']]),
    set: () => {
      const f = form(['a', '1'], ['b', '2'], ['a', '3']);
      f.set('a', '4');
      f.set('c', '5');
      same([...f], [['a', '4'], ['b', '2'], ['c', '5']]);
    },
    'get, getAll and has': () => {
      const f = form(['a', '1'], ['a', '2']);
      same([f.get('a'), f.getAll('a'), f.get('x'), f.getAll('x'), f.has('a'), f.has('x')], ['1', ['1', '2'], null, [], true, false]);
    },
    delete: () => {
      const f = form(['a', '1'], ['b', '2'], ['a', '3']);
      f.delete('a');
      same([...f.keys()], ['b']);
    },
    'values become text': () => same([...form(['a', 7], ['b', null], ['c', undefined], ['d', [1, 2]])].map(([, value]) => value), ['7', 'null', 'undefined', '1,2']),
    'a lone surrogate': () => same(form(['\ud800', '\ud800']).get('\ufffd'), '\ufffd'),
    'a blob becomes a file': () => {
      const file = form(['f', new Blob(['x'], { type: 'text/csv' })]).get('f');
      same([file instanceof File, file.name, file.type], [true, 'blob', 'text/csv']);
    },
    'a file keeps its name': () => same(form(['f', new File(['x'], 'a.txt')]).get('f').name, 'a.txt'),
    'a file with another name': () => same(form(['f', new File(['x'], 'a.txt'), 'b.txt']).get('f').name, 'b.txt'),
    'a name for text': () => throws(() => form(['a', 'text', 'b.txt']), 'TypeError'),
    'too few arguments': () => throws(() => new FormData().append('a'), 'TypeError'),
    'iteration sees what is added': () => {
      const f = form(['a', '1']);
      const seen = [];
      for (const [name] of f) if (seen.push(name) < 3) f.append(`${name}x`, '');
      same(seen, ['a', 'ax', 'axx']);
    },
    'forEach': () => {
      const seen = [];
      const f = form(['a', '1']);
      f.forEach((value, name, whole) => seen.push(value, name, whole === f));
      same(seen, ['1', 'a', true]);
    },
    'iterators': () => same([[...form(['a', '1']).entries()], [...form(['a', '1']).values()], FormData.prototype[Symbol.iterator] === FormData.prototype.entries], [[['a', '1']], ['1'], true]),
    'there and back': async () => {
      const request = new Request('https://a.example', { method: 'POST', body: form(['a', 'ä'], ['f', new File([new Uint8Array([0, 255])], 'b.bin', { type: 'x/y' })]) });
      same(request.headers.get('content-type').startsWith('multipart/form-data; boundary='), true);
      const back = await request.formData();
      same([back.get('a'), back.get('f').name, back.get('f').type, hex(await back.get('f').arrayBuffer())], ['ä', 'b.bin', 'x/y', '00ff']);
    },
    'its tag': () => same(tag(new FormData()), '[object FormData]'),
  },
);
