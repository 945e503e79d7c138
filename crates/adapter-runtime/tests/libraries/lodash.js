import * as _ from 'lodash-es';
import { app, equal } from './checks.js';

const orders = [
  { id: 1, who: 'ana', total: 30, tags: ['new'] }, { id: 2, who: 'ben', total: 10, tags: [] },
  { id: 3, who: 'ana', total: 20, tags: ['new', 'paid'] },
];

export default app({
  collections: () => {
    equal(_.mapValues(_.groupBy(orders, 'who'), (list) => _.sumBy(list, 'total')), { ana: 50, ben: 10 });
    equal(_.map(_.orderBy(orders, ['who', 'total'], ['asc', 'desc']), 'id'), [1, 3, 2]);
    equal(_.keyBy(orders, 'id')[2].who, 'ben');
    equal(_.countBy(_.flatMap(orders, 'tags')), { new: 2, paid: 1 });
    equal(_.partition(orders, { who: 'ana' }).map(_.size), [2, 1]);
    equal(_.map(_.filter(orders, ['who', 'ana']), _.property('id')), [1, 3]);
    equal(_.reduce(orders, (sum, { total }) => sum + total, 0), 60);
    equal(_.invokeMap([[3, 1], [2]], 'sort'), [[1, 3], [2]]);
  },
  arrays: () => {
    equal(_.chunk(_.range(7), 3), [[0, 1, 2], [3, 4, 5], [6]]);
    equal(_.zipObjectDeep(['a.b[0]', 'a.c'], [1, 2]), { a: { b: [1], c: 2 } });
    equal([_.uniqWith([{ a: 1 }, { a: 1 }], _.isEqual), _.difference([1, 2, 3], [2]), _.xor([1, 2], [2, 3])], [[{ a: 1 }], [1, 3], [1, 3]]);
    equal(_.flattenDeep([1, [2, [3, [4]]]]), [1, 2, 3, 4]);
    equal([_.sortedIndex([10, 30], 20), _.intersectionBy([2.1, 1.2], [2.3], Math.floor)], [1, [2.1]]);
    equal(_.unzip(_.zip(['a', 'b'], [1, 2])), [['a', 'b'], [1, 2]]);
  },
  objects: () => {
    equal(_.merge({ a: [{ b: 1 }] }, { a: [{ c: 2 }, 3] }), { a: [{ b: 1, c: 2 }, 3] });
    equal([_.get({ a: [{ b: 1 }] }, 'a[0].b'), _.get({}, 'x.y', 'no'), _.has({ a: { b: 0 } }, 'a.b')], [1, 'no', true]);
    equal(_.set({}, ['a', '0', 'b'], 1), { a: [{ b: 1 }] });
    equal([_.pick({ a: 1, b: 2 }, 'a'), _.omit({ a: 1, b: 2 }, 'a'), _.invert({ a: 'x' })], [{ a: 1 }, { b: 2 }, { x: 'a' }]);
    equal(_.defaultsDeep({ a: { b: 1 } }, { a: { b: 2, c: 3 } }), { a: { b: 1, c: 3 } });
    equal(_.transform({ a: 1, b: 2 }, (out, value, key) => { out[value] = key; }), { 1: 'a', 2: 'b' });
  },
  copies: () => {
    const source = { date: new Date(5), set: new Set([1]), map: new Map([['k', { v: 1 }]]), re: /x/gi, bytes: new Uint8Array([1, 2]) };
    source.self = source;
    const copy = _.cloneDeep(source);
    equal([copy !== source, copy.self === copy, copy.date.getTime(), [...copy.set], copy.map.get('k'), `${copy.re}`, [...copy.bytes]],
      [true, true, 5, [1], { v: 1 }, '/x/gi', [1, 2]]);
    equal([_.isEqual(copy, source), _.isEqual(new Map([[1, 2]]), new Map([[1, 3]]))], [true, false]);
  },
  kinds: () => equal(
    [_.isPlainObject({}), _.isPlainObject(new Date()), _.isTypedArray(new Uint8Array()), _.isArguments([]), _.isDate(new Date()),
      _.isRegExp(/x/), _.isMap(new Map()), _.isWeakMap(new WeakMap()), _.isError(new TypeError()), _.isFunction(async () => {}), _.isNative(Array.prototype.push)],
    [true, false, true, false, true, true, true, true, true, true, true]),
  texts: () => {
    equal([_.camelCase('Foo Bar-baz'), _.kebabCase('fooBar'), _.snakeCase('XMLHttp Request'), _.startCase('--foo-bar')],
      ['fooBarBaz', 'foo-bar', 'xml_http_request', 'Foo Bar']);
    equal([_.deburr('déjà vu'), _.escape('<a & b>'), _.unescape('&lt;'), _.truncate('a long text', { length: 7 })],
      ['deja vu', '&lt;a &amp; b&gt;', '<', 'a lo...']);
    equal([_.padStart('7', 3, '0'), _.words('өте жақсы күн'), _.upperFirst('әлем'), _.size('😀a')], ['007', ['өте', 'жақсы', 'күн'], 'Әлем', 2]);
  },
  functions: async () => {
    let calls = 0;
    const slow = _.debounce(() => calls++, 5);
    slow();
    slow();
    equal(calls, 0);
    await new Promise((done) => setTimeout(done, 30));
    equal(calls, 1);
    const often = _.throttle(() => calls++, 20, { trailing: false });
    often();
    often();
    equal(calls, 2);
    const double = _.memoize((value) => { calls++; return value * 2; });
    equal([double(2), double(2), calls], [4, 4, 3]);
    equal([_.curry((a, b, c) => a + b + c)(1)(2)(3), _.flow([(x) => x + 1, (x) => x * 2])(3), _.partial(Math.max, 5)(3)], [6, 8, 5]);
    equal([_.once(() => ++calls)(), _.over([Math.min, Math.max])(1, 2), _.attempt(() => { throw new Error('x'); }) instanceof Error], [4, [1, 2], true]);
  },
  chains: () => equal(_.default.chain([3, 1, 2]).sortBy().map((x) => x * 2).take(2).value(), [2, 4]),
  numbers: () => {
    equal([_.round(4.006, 2), _.clamp(-10, -5, 5), _.inRange(3, 2, 4), _.mean([1, 2]), _.maxBy(orders, 'total').id], [4.01, -5, true, 1.5, 1]);
    const drawn = _.random(1, 3);
    equal([[1, 2, 3].includes(drawn), _.sampleSize([1, 2, 3], 2).length, _.shuffle([1, 2, 3]).sort()], [true, 2, [1, 2, 3]]);
  },
  'templates need code from text': () => {
    equal(_.attempt(() => _.template('hello <%= who %>')({ who: 'ana' })) instanceof Error, true);
  },
});
