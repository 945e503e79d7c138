// ECMA-402, "DateTimeFormat Objects"; names and patterns are those of CLDR.
import { each, same, suite, throws } from './suite.js';

const at = Date.UTC(2026, 2, 5, 4, 7, 9, 12);
const show = (locale, options, date = at) => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options }).format(date).replace(/\u202f/g, ' ');
const hour = (timeZone, date) => new Intl.DateTimeFormat('en', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(date);

export default suite(
  each([
    ['en', {}, '3/5/2026'], ['ru', {}, '05.03.2026'], ['kk', {}, '05.03.2026'],
    ['en', { dateStyle: 'full' }, 'Thursday, March 5, 2026'], ['en', { dateStyle: 'long' }, 'March 5, 2026'], ['en', { dateStyle: 'medium' }, 'Mar 5, 2026'], ['en', { dateStyle: 'short' }, '3/5/26'],
    ['ru', { dateStyle: 'full' }, 'четверг, 5 марта 2026 г.'], ['ru', { dateStyle: 'long' }, '5 марта 2026 г.'], ['ru', { dateStyle: 'medium' }, '5 мар. 2026 г.'], ['ru', { dateStyle: 'short' }, '05.03.2026'],
    ['en', { timeStyle: 'medium' }, '4:07:09 AM'], ['en', { timeStyle: 'short' }, '4:07 AM'], ['ru', { timeStyle: 'medium' }, '04:07:09'], ['kk', { timeStyle: 'short' }, '04:07'],
    ['en', { month: 'long' }, 'March'], ['ru', { month: 'long' }, 'март'], ['en', { weekday: 'short' }, 'Thu'], ['ru', { weekday: 'long' }, 'четверг'], ['en', { month: 'narrow' }, 'M'],
    ['en', { year: '2-digit' }, '26'], ['en', { day: '2-digit' }, '05'], ['en', { hour: 'numeric' }, '4 AM'], ['en', { hour: 'numeric', hour12: false }, '04'],
    ['ru', { day: 'numeric', month: 'long' }, '5 марта'], ['en', { month: 'short', day: 'numeric' }, 'Mar 5'], ['en', { year: 'numeric', month: 'long' }, 'March 2026'],
    ['en', { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3, hourCycle: 'h23' }, '04:07:09.012'],
  ], (locale, options) => `${locale} ${JSON.stringify(options)}`, (locale, options, text) => same(show(locale, options), text)),
  each([
    ['Asia/Almaty', Date.UTC(2026, 2, 5, 4), '09:00'], ['Asia/Almaty', Date.UTC(2023, 2, 5, 4), '10:00'], ['Europe/Berlin', Date.UTC(2026, 2, 29, 0, 59), '01:59'], ['Europe/Berlin', Date.UTC(2026, 2, 29, 1), '03:00'],
    ['Europe/Berlin', Date.UTC(2026, 9, 25, 0, 30), '02:30'], ['Europe/Berlin', Date.UTC(2026, 9, 25, 1, 30), '02:30'], ['America/New_York', Date.UTC(2026, 2, 8, 7), '03:00'], ['Asia/Kolkata', at, '09:37'],
    ['Australia/Lord_Howe', Date.UTC(2026, 0, 1), '11:00'], ['Pacific/Apia', Date.UTC(2011, 11, 30, 9, 59), '23:59'], ['Asia/Kathmandu', at, '09:52'], ['Africa/Casablanca', Date.UTC(2026, 6, 1), '01:00'],
    ['UTC', at, '04:07'], ['asia/almaty', at, '09:07'], ['Etc/GMT+5', at, '23:07'], ['+05:30', at, '09:37'],
  ], (zone, date) => `${zone} at ${new Date(date).toISOString()}`, (zone, date, text) => same(hour(zone, date), text)),
  each(['Nowhere/Land', '', 'Europe/', '+25:00', 'Europe/Berlin '], (zone) => `no zone ${JSON.stringify(zone)}`, (timeZone) => throws(() => new Intl.DateTimeFormat('en', { timeZone }), 'RangeError')),
  each([['month', 'huge'], ['weekday', 'numeric'], ['hour', 'long'], ['dateStyle', 'tiny'], ['hourCycle', 'h25'], ['fractionalSecondDigits', 4]], (name, value) => `no ${name} ${value}`, (name, value) =>
    throws(() => new Intl.DateTimeFormat('en', { [name]: value }), 'RangeError')),
  each([['dateStyle', 'year'], ['timeStyle', 'hour']], (style, field) => `${style} with ${field}`, (style, field) => throws(() => new Intl.DateTimeFormat('en', { [style]: 'short', [field]: 'numeric' }), 'TypeError')),
  each([NaN, 8.64e15 + 1, Infinity], (date) => `no date of ${date}`, (date) => throws(() => new Intl.DateTimeFormat('en').format(date), 'RangeError')),
  each(['x', 'en-', 'en_US', '', 'a-DE'], (locale) => `no language ${JSON.stringify(locale)}`, (locale) => throws(() => new Intl.DateTimeFormat(locale), 'RangeError')),
  {
    'parts join to the text': () => {
      const format = new Intl.DateTimeFormat('ru', { dateStyle: 'full', timeStyle: 'medium', timeZone: 'Asia/Almaty' });
      same(format.formatToParts(at).map(({ value }) => value).join(''), format.format(at));
    },
    'kinds of parts': () => same(new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).formatToParts(at).map(({ type, value }) => [type, value]), [['month', '3'], ['literal', '/'], ['day', '5'], ['literal', '/'], ['year', '2026']]),
    'format is bound': () => {
      const { format } = new Intl.DateTimeFormat('en', { timeZone: 'UTC' });
      same([format(at), [at].map(format)[0]], ['3/5/2026', '3/5/2026']);
    },
    'format stays the same function': () => {
      const format = new Intl.DateTimeFormat('en');
      same(format.format === format.format, true);
    },
    'a Date and a number': () => same(show('en', {}, new Date(at)), show('en', {}, at)),
    'without a date it is now': () => same(new Intl.DateTimeFormat('en', { timeZone: 'UTC', year: 'numeric' }).format(), String(new Date().getUTCFullYear())),
    'the resolved options': () => {
      const { locale, calendar, numberingSystem, timeZone, year, month, day } = new Intl.DateTimeFormat('ru', { timeZone: 'asia/almaty' }).resolvedOptions();
      same([locale, calendar, numberingSystem, timeZone, year, month, day], ['ru', 'gregory', 'latn', 'Asia/Almaty', 'numeric', '2-digit', '2-digit']);
    },
    'the resolved hours': () => same(['en', 'ru'].map((locale) => new Intl.DateTimeFormat(locale, { hour: 'numeric' }).resolvedOptions()).map(({ hourCycle, hour12 }) => [hourCycle, hour12]), [['h12', true], ['h23', false]]),
    'supported languages': () => same(Intl.DateTimeFormat.supportedLocalesOf(['ru', 'kk', 'en-GB', 'tlh']), ['ru', 'kk', 'en-GB']),
    'without new': () => same(Intl.DateTimeFormat('en', { timeZone: 'UTC' }).format(at), '3/5/2026'),
    'the first language that is known': () => same(show(['tlh', 'ru'], { month: 'long' }), 'март'),
    'its tag': () => same(Object.prototype.toString.call(new Intl.DateTimeFormat('en')), '[object Intl.DateTimeFormat]'),
    'noon and midnight': () => same([0, 12].map((hours) => show('en', { hour: 'numeric', minute: '2-digit' }, Date.UTC(2026, 0, 1, hours))), ['12:00 AM', '12:00 PM']),
    'a year before Christ': () => same(show('en', { year: 'numeric', era: 'short' }, new Date('-000043-03-15T00:00:00Z')), '44 BC'),
    'the name of a zone': () => same([show('en', { hour: 'numeric', timeZone: 'America/New_York', timeZoneName: 'short' }), show('ru', { hour: 'numeric', minute: 'numeric', timeZone: 'Asia/Almaty', timeZoneName: 'short' })], ['11 PM EST', '09:07 GMT+5']),
    'toLocaleDateString': () => same([new Date(at).toLocaleDateString('ru', { timeZone: 'UTC' }), new Date(NaN).toLocaleDateString('en')], ['05.03.2026', 'Invalid Date']),
    'toLocaleTimeString': () => same(new Date(at).toLocaleTimeString('ru', { timeZone: 'Asia/Almaty' }), '09:07:09'),
  },
);
