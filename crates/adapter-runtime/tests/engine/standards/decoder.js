// Encoding standard, "Interface TextDecoder".
import { bytes, each, same, suite, throws } from './suite.js';

const decode = (digits, label = 'utf-8', options = {}) => new TextDecoder(label, options).decode(bytes(digits));

export default suite(
  each([
    ['', ''], ['6869', 'hi'], ['c3a9', 'é'], ['e282ac', '€'], ['f09f9880', '😀'], ['c3', '\ufffd'], ['ff', '\ufffd'], ['c080', '\ufffd\ufffd'],
    ['eda080', '\ufffd\ufffd\ufffd'], ['f4908080', '\ufffd\ufffd\ufffd\ufffd'], ['e28261', '\ufffda'], ['f09f98', '\ufffd'], ['61c3', 'a\ufffd'], ['80', '\ufffd'],
    ['efbbbf61', 'a'], ['efbbbfefbbbf61', '\ufeffa'], ['00', '\0'], ['efbfbf', '\uffff'], ['f48fbfbf', '\u{10ffff}'], ['e0808061', '\ufffd\ufffd\ufffda'],
  ], (digits) => `UTF-8: ${digits}`, (digits, text) => same(decode(digits), text)),
  each(['c3', 'ff', 'eda080', 'f4908080', 'e28261'], (digits) => `UTF-8, fatal: ${digits}`, (digits) => throws(() => decode(digits, 'utf-8', { fatal: true }), 'TypeError')),
  each([
    ['utf8', 'utf-8'], ['UTF-8', 'utf-8'], ['  utf-8\n', 'utf-8'], ['unicode-1-1-utf-8', 'utf-8'], ['latin1', 'windows-1252'], ['ascii', 'windows-1252'], ['iso-8859-1', 'windows-1252'],
    ['cp1251', 'windows-1251'], ['koi8', 'koi8-r'], ['sjis', 'shift_jis'], ['gb2312', 'gbk'], ['big5-hkscs', 'big5'], ['utf-16', 'utf-16le'], ['ucs-2', 'utf-16le'],
    ['euc-kr', 'euc-kr'], ['ks_c_5601-1987', 'euc-kr'], ['x-mac-cyrillic', 'x-mac-cyrillic'], ['dos-874', 'windows-874'],
  ], (label) => `the label ${JSON.stringify(label)}`, (label, name) => same(new TextDecoder(label).encoding, name)),
  each(['', 'utf', 'utf-32', 'x-nothing', 'replacement', 'iso-2022-kr', 'utf-7', '\u00a0utf-8'], (label) => `no label ${JSON.stringify(label)}`, (label) => throws(() => new TextDecoder(label), 'RangeError')),
  each([
    ['windows-1252', '80e9', '€é'], ['windows-1251', 'cff0e8', 'При'], ['koi8-r', 'f0d2c9', 'При'], ['shift_jis', '93fa967b', '日本'], ['euc-jp', 'c6fccbdc', '日本'],
    ['gbk', 'd6d0', '中'], ['gb18030', '8130813181308132', '\u0081\u0082'], ['big5', 'a4a4', '中'], ['euc-kr', 'c7d1', '한'], ['utf-16le', '3dd800de', '😀'],
    ['utf-16be', 'd83dde00', '😀'], ['iso-8859-5', 'bfe0d8', 'При'], ['utf-16le', 'fffe6100', 'a'], ['utf-16be', 'feff0061', 'a'], ['utf-16le', '00d8', '\ufffd'], ['utf-16le', '61', '\ufffd'],
    ['x-user-defined', '80', '\uf780'], ['iso-8859-8', 'e0', 'א'], ['macintosh', '80', 'Ä'], ['ibm866', '8f', 'П'],
  ], (label, digits) => `${label}: ${digits}`, (label, digits, text) => same(decode(digits, label), text)),
  {
    'a character in pieces': () => {
      const d = new TextDecoder();
      same([d.decode(bytes('f09f'), { stream: true }), d.decode(bytes('98'), { stream: true }), d.decode(bytes('80'), { stream: true }), d.decode()], ['', '', '😀', '']);
    },
    'the rest at the end': () => {
      const d = new TextDecoder();
      same([d.decode(bytes('61e2'), { stream: true }), d.decode()], ['a', '\ufffd']);
    },
    'after its end it begins anew': () => {
      const d = new TextDecoder();
      same([d.decode(bytes('e2')), d.decode(bytes('efbbbf61'))], ['\ufffd', 'a']);
    },
    'a mark in pieces': () => {
      const d = new TextDecoder();
      same([d.decode(bytes('ef'), { stream: true }), d.decode(bytes('bb'), { stream: true }), d.decode(bytes('bf61'))], ['', '', 'a']);
    },
    'the mark is kept': () => same([decode('efbbbf61', 'utf-8', { ignoreBOM: true }), decode('fffe6100', 'utf-16le', { ignoreBOM: true })], ['\ufeffa', '\ufeffa']),
    'a fatal error at the end of a stream': () => {
      const d = new TextDecoder('utf-8', { fatal: true });
      same(d.decode(bytes('61e2'), { stream: true }), 'a');
      throws(() => d.decode(), 'TypeError');
      same(d.decode(bytes('62')), 'b');
    },
    'its properties': () => {
      const { encoding, fatal, ignoreBOM } = new TextDecoder('utf-8', { fatal: 1, ignoreBOM: '' });
      same([encoding, fatal, ignoreBOM, new TextDecoder().fatal], ['utf-8', true, false, false]);
    },
    'a buffer and views of it': () => {
      const { buffer } = bytes('61626364');
      same([buffer, new DataView(buffer, 1, 2), new Uint16Array(buffer)].map((source) => new TextDecoder().decode(source)), ['abcd', 'bc', 'abcd']);
    },
    'nothing': () => same([new TextDecoder().decode(), new TextDecoder().decode(undefined)], ['', '']),
    'text instead of bytes': () => throws(() => new TextDecoder().decode('abc'), 'TypeError'),
    'an array instead of bytes': () => throws(() => new TextDecoder().decode([97]), 'TypeError'),
    'without new': () => throws(() => TextDecoder(), 'TypeError'),
    'its tag': () => same(Object.prototype.toString.call(new TextDecoder()), '[object TextDecoder]'),
  },
);
