// DOM standard, "Events".
import { each, same, suite, throws } from './suite.js';

const tag = (value) => Object.prototype.toString.call(value);
const heard = (add, event = new Event('x')) => {
  const target = new EventTarget();
  const seen = [];
  add(target, seen);
  const result = target.dispatchEvent(event);
  return [...seen, result];
};

export default suite(
  each([
    ['detail', null, { detail: 7 }, 7], ['detail', null, {}, null], ['detail', null, { detail: 0 }, 0], ['detail', null, { detail: '' }, ''],
    ['detail', null, { detail: false }, false], ['bubbles', null, { bubbles: 1 }, true], ['cancelable', null, { cancelable: 'x' }, true], ['composed', null, { composed: true }, true],
    ['bubbles', null, undefined, false], ['cancelable', null, null, false], ['composed', null, {}, false], ['type', null, {}, 'x'], ['defaultPrevented', null, {}, false], ['eventPhase', null, {}, 0],
    ['isTrusted', null, {}, false], ['target', null, {}, null], ['currentTarget', null, {}, null], ['srcElement', null, {}, null], ['returnValue', null, {}, true], ['cancelBubble', null, {}, false],
  ], (name, _, init) => `${name} of a CustomEvent with ${JSON.stringify(init)}`, (name, _, init, value) => same(new CustomEvent('x', init)[name], value)),
  each([['', ''], [7, '7'], [null, 'null'], [undefined, 'undefined'], ['ä b', 'ä b']], (type) => `the type ${String(type)} (${typeof type})`, (type, kept) =>
    same([new Event(type).type, new CustomEvent(type).type], [kept, kept])),
  each([['Event', Event], ['CustomEvent', CustomEvent]], (name) => `${name} without a type`, (_, kind) => throws(() => new kind(), 'TypeError')),
  each([['Event', Event], ['CustomEvent', CustomEvent], ['EventTarget', EventTarget]], (name) => `${name} without new`, (_, kind) => throws(() => kind('x'), 'TypeError')),
  each([['Event', () => new Event('x')], ['CustomEvent', () => new CustomEvent('x')], ['EventTarget', () => new EventTarget()]], (name) => `the tag of ${name}`, (name, make) => same(tag(make()), `[object ${name}]`)),
  each([['a number', 7], ['text', 'x']], (what) => `options that are ${what}`, (_, init) => throws(() => new Event('x', init), 'TypeError')),
  each([['NONE', 0], ['CAPTURING_PHASE', 1], ['AT_TARGET', 2], ['BUBBLING_PHASE', 3]], (name) => `the constant ${name}`, (name, value) => same([Event[name], new Event('x')[name]], [value, value])),
  each([['null', null], ['nothing', undefined], ['an object', {}], ['text', 'x'], ['a copy', Object.create(Event.prototype)]], (what) => `dispatching ${what}`, (_, event) =>
    throws(() => new EventTarget().dispatchEvent(event), 'TypeError')),
  each([['a number', 7], ['text', 'x'], ['true', true]], (what) => `a listener that is ${what}`, (_, listener) => throws(() => new EventTarget().addEventListener('x', listener), 'TypeError')),
  each([['null', null], ['undefined', undefined]], (what) => `a listener that is ${what} is ignored`, (_, listener) => same(heard((t) => t.addEventListener('x', listener)), [true])),
  {
    'a detail of undefined': () => same(new CustomEvent('x', { detail: undefined }).detail, null),
    'listeners in their order': () => same(heard((t, seen) => { t.addEventListener('x', () => seen.push(1)); t.addEventListener('x', () => seen.push(2)); }), [1, 2, true]),
    'a listener that is added twice': () => same(heard((t, seen) => { const l = () => seen.push(1); t.addEventListener('x', l); t.addEventListener('x', l, { once: true }); }), [1, true]),
    'the same listener, capturing and not': () => same(heard((t, seen) => { const l = () => seen.push(1); t.addEventListener('x', l); t.addEventListener('x', l, true); }), [1, 1, true]),
    'capturing listeners come first': () => same(heard((t, seen) => { t.addEventListener('x', () => seen.push('b')); t.addEventListener('x', () => seen.push('a'), { capture: true }); }), ['a', 'b', true]),
    'removing needs the same capture': () => same(heard((t, seen) => { const l = () => seen.push(1); t.addEventListener('x', l, true); t.removeEventListener('x', l); t.removeEventListener('x', l, { capture: false }); }), [1, true]),
    'a removed listener': () => same(heard((t, seen) => { const l = () => seen.push(1); t.addEventListener('x', l, true); t.removeEventListener('x', l, { capture: true }); }), [true]),
    'removing what is not there': () => same(heard((t) => { t.removeEventListener('x', () => {}); t.removeEventListener('y', null); }), [true]),
    'once': () => {
      const target = new EventTarget();
      let count = 0;
      target.addEventListener('x', () => { if (count++ === 0) target.dispatchEvent(new Event('x')); }, { once: true });
      target.dispatchEvent(new Event('x'));
      same(count, 1);
    },
    'a listener that is removed meanwhile': () => same(heard((t, seen) => { const l = () => seen.push(2); t.addEventListener('x', () => { seen.push(1); t.removeEventListener('x', l); }); t.addEventListener('x', l); }), [1, true]),
    'a listener that is added meanwhile': () => same(heard((t, seen) => t.addEventListener('x', () => { seen.push(1); t.addEventListener('x', () => seen.push(2)); })), [1, true]),
    'a signal removes a listener': () => {
      const target = new EventTarget();
      const controller = new AbortController();
      let count = 0;
      target.addEventListener('x', () => count++, { signal: controller.signal });
      target.dispatchEvent(new Event('x'));
      controller.abort();
      target.dispatchEvent(new Event('x'));
      same(count, 1);
    },
    'a signal that is aborted already': () => same(heard((t, seen) => t.addEventListener('x', () => seen.push(1), { signal: AbortSignal.abort() })), [true]),
    'a signal that is none': () => throws(() => new EventTarget().addEventListener('x', () => {}, { signal: {} }), 'TypeError'),
    'a signal that aborts meanwhile': () => same(heard((t, seen) => { const c = new AbortController(); t.addEventListener('x', () => c.abort()); t.addEventListener('x', () => seen.push(1), { signal: c.signal }); }), [true]),
    'an object with handleEvent': () => same(heard((t, seen) => { const l = { handleEvent(event) { seen.push(this === l, event.type); } }; t.addEventListener('x', l); }), [true, 'x', true]),
    'handleEvent is looked up late': () => same(heard((t, seen) => { const l = {}; t.addEventListener('x', l); l.handleEvent = () => seen.push(1); }), [1, true]),
    'what this is in a listener': () => same(heard((t, seen) => t.addEventListener('x', function () { seen.push(this === t); })), [true, true]),
    'the event while it is dispatched': () => same(heard((t, seen) => t.addEventListener('x', (e) => seen.push(e.target === t, e.currentTarget === t, e.srcElement === t, e.eventPhase, e.composedPath().length, e.composedPath()[0] === t))), [true, true, true, 2, 1, true, true]),
    'the event afterwards': () => {
      const [target, event] = [new EventTarget(), new Event('x')];
      target.dispatchEvent(event);
      same([event.target === target, event.currentTarget, event.eventPhase, event.composedPath()], [true, null, 0, []]);
    },
    preventDefault: () => same(heard((t, seen) => t.addEventListener('x', (e) => { e.preventDefault(); seen.push(e.defaultPrevented, e.returnValue); }), new Event('x', { cancelable: true })), [true, false, false]),
    'preventDefault of what is not cancelable': () => same(heard((t, seen) => t.addEventListener('x', (e) => { e.preventDefault(); seen.push(e.defaultPrevented); })), [false, true]),
    'preventDefault of a passive listener': () => same(heard((t, seen) => t.addEventListener('x', (e) => { e.preventDefault(); seen.push(e.defaultPrevented); }, { passive: true }), new Event('x', { cancelable: true })), [false, true]),
    'returnValue of false': () => same(heard((t) => t.addEventListener('x', (e) => { e.returnValue = false; }), new Event('x', { cancelable: true })), [false]),
    'returnValue of true changes nothing': () => same(heard((t) => t.addEventListener('x', (e) => { e.preventDefault(); e.returnValue = true; }), new Event('x', { cancelable: true })), [false]),
    stopImmediatePropagation: () => same(heard((t, seen) => { t.addEventListener('x', (e) => { seen.push(1); e.stopImmediatePropagation(); }); t.addEventListener('x', () => seen.push(2)); }), [1, true]),
    'stopPropagation does not stop the others at the target': () => same(heard((t, seen) => { t.addEventListener('x', (e) => { seen.push(1); e.stopPropagation(); seen.push(e.cancelBubble); }); t.addEventListener('x', () => seen.push(2)); }), [1, true, 2, true]),
    'stopPropagation before the dispatch': () => { const event = new Event('x'); event.stopPropagation(); same([heard((t, seen) => t.addEventListener('x', () => seen.push(1)), event), heard((t, seen) => t.addEventListener('x', () => seen.push(1)), event)], [[true], [1, true]]); },
    'a listener that throws does not stop the others': () => same(heard((t, seen) => { t.addEventListener('x', () => { throw new Error('on purpose'); }); t.addEventListener('x', () => seen.push(2)); }), [2, true]),
    'dispatching while it is dispatched': () => same(heard((t, seen) => t.addEventListener('x', (e) => { try { t.dispatchEvent(e); } catch (error) { seen.push(error.name); } })), ['InvalidStateError', true]),
    'dispatching once more': () => { const event = new Event('x'); same([heard((t, seen) => t.addEventListener('x', () => seen.push(1)), event), heard((t, seen) => t.addEventListener('x', () => seen.push(2)), event)], [[1, true], [2, true]]); },
    'other types': () => same(heard((t, seen) => { t.addEventListener('y', () => seen.push(1)); t.addEventListener('X', () => seen.push(2)); }), [true]),
    'too few arguments': () => { throws(() => new EventTarget().addEventListener('x'), 'TypeError'); throws(() => new EventTarget().removeEventListener('x'), 'TypeError'); },
    'a class of an app': () => { class Bell extends EventTarget { ring() { return this.dispatchEvent(new CustomEvent('ring', { detail: 3 })); } } const bell = new Bell(); let seen = 0; bell.onring = () => { seen += 100; }; bell.addEventListener('ring', (e) => { seen += e.detail; }); bell.ring(); same(seen, 3); },
    'an event of an app': () => { class Own extends Event { constructor() { super('own', { cancelable: true }); } } same([heard((t, seen) => t.addEventListener('own', (e) => seen.push(e instanceof Own)), new Own())], [[true, true]]); },
    'the time of an event': () => same(Math.abs(new Event('x').timeStamp - performance.now()) < 1000, true),
    'properties cannot be set': () => { const event = new Event('x'); throws(() => { event.type = 'y'; }, 'TypeError'); same(event.type, 'x'); },
    'a CustomEvent is an Event': () => same([new CustomEvent('x') instanceof Event, Object.getPrototypeOf(CustomEvent) === Event], [true, true]),
  },
);
