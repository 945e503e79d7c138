import { DateTime, Duration, IANAZone, Interval, Settings } from 'luxon';
import { app, equal } from './checks.js';

const at = DateTime.fromISO('2026-03-05T04:07:09.012Z', { zone: 'utc' });
const almaty = at.setZone('Asia/Almaty');

export default app({
  zones: () => {
    equal(almaty.toISO(), '2026-03-05T09:07:09.012+05:00');
    equal(at.setZone('America/New_York').toISO(), '2026-03-04T23:07:09.012-05:00');
    equal(at.setZone('UTC+5:30').toISO(), '2026-03-05T09:37:09.012+05:30');
    equal(at.setZone('Nowhere/Land').isValid, false);
    equal([IANAZone.isValidZone('Europe/Berlin'), IANAZone.isValidZone('Europe/Bergen2')], [true, false]);
  },
  'the system zone': () => equal([DateTime.local().zoneName, Settings.defaultZone.name], ['UTC', 'UTC']),
  'keeping the local time': () =>
    equal(at.setZone('Europe/Berlin', { keepLocalTime: true }).toUTC().toISO(), '2026-03-05T03:07:09.012Z'),
  'the start of daylight saving': () => {
    const before = DateTime.fromObject({ year: 2026, month: 3, day: 28, hour: 2, minute: 30 }, { zone: 'Europe/Berlin' });
    equal(before.plus({ days: 1 }).toISO(), '2026-03-29T03:30:00.000+02:00');
    equal(before.plus({ hours: 24 }).toISO(), '2026-03-29T03:30:00.000+02:00');
    equal([before.isInDST, before.plus({ days: 2 }).isInDST], [false, true]);
  },
  'the end of daylight saving': () => {
    const first = DateTime.fromISO('2026-10-25T00:30:00Z', { zone: 'Europe/Berlin' });
    equal([first.toISO(), first.plus({ hours: 1 }).toISO()],
      ['2026-10-25T02:30:00.000+02:00', '2026-10-25T02:30:00.000+01:00']);
    equal(first.getPossibleOffsets().length, 2);
    equal(first.startOf('day').plus({ days: 1 }).diff(first.startOf('day'), 'hours').hours, 25);
  },
  'a zone of old': () => equal(DateTime.fromISO('1900-01-01T00:00:00Z', { zone: 'Europe/Moscow' }).isValid, true),
  'formats in English': () => {
    equal(almaty.setLocale('en').toLocaleString(DateTime.DATE_FULL), 'March 5, 2026');
    equal(almaty.setLocale('en').toLocaleString(DateTime.DATE_HUGE), 'Thursday, March 5, 2026');
    equal(almaty.setLocale('en').toFormat('cccc d LLLL yyyy, h:mm a'), 'Thursday 5 March 2026, 9:07 AM');
  },
  'formats in Russian': () => {
    equal(almaty.setLocale('ru').toLocaleString(DateTime.DATE_FULL), '5 марта 2026 г.');
    equal(almaty.setLocale('ru').toFormat('d MMMM yyyy, EEEE'), '5 марта 2026, четверг');
    equal(almaty.setLocale('ru').toFormat('LLLL'), 'март');
  },
  'formats in Kazakh': () => {
    equal(almaty.setLocale('kk').toFormat('d MMMM yyyy, EEEE'), '5 наурыз 2026, бейсенбі');
    equal(almaty.setLocale('kk').monthLong, 'Наурыз');
  },
  tokens: () => {
    equal(almaty.toFormat("yyyy-MM-dd'T'HH:mm:ss.SSS ZZ z"), '2026-03-05T09:07:09.012 +05:00 Asia/Almaty');
    equal(almaty.toFormat('kkkk WW o q'), '2026 10 64 1');
    equal(almaty.toRFC2822(), 'Thu, 05 Mar 2026 09:07:09 +0500');
    equal(almaty.toHTTP(), 'Thu, 05 Mar 2026 04:07:09 GMT');
    equal(at.toSQL(), '2026-03-05 04:07:09.012 Z');
  },
  parsing: () => {
    equal(DateTime.fromFormat('05.03.2026 09:07', 'dd.MM.yyyy HH:mm', { zone: 'Asia/Almaty' }).toUTC().toISO(), '2026-03-05T04:07:00.000Z');
    equal(DateTime.fromFormat('5 марта 2026', 'd MMMM yyyy', { locale: 'ru', zone: 'utc' }).toISODate(), '2026-03-05');
    equal(DateTime.fromFormat('March 5, 2026', 'MMMM d, yyyy', { zone: 'utc' }).toISODate(), '2026-03-05');
    equal(DateTime.fromRFC2822('Thu, 05 Mar 2026 09:07:09 +0500').toUTC().toISO(), '2026-03-05T04:07:09.000Z');
    equal(DateTime.fromISO('2026-W10-4', { zone: 'utc' }).toISODate(), '2026-03-05');
    equal(DateTime.fromISO('2026-02-30').invalidReason, 'unit out of range');
  },
  durations: () => {
    const { days, hours } = DateTime.fromISO('2026-03-07T10:00Z').diff(at.startOf('hour'), ['days', 'hours']);
    equal([days, hours], [2, 6]);
    equal(Duration.fromISO('P1DT2H30M').as('minutes'), 1590);
    equal(Duration.fromMillis(90061000).shiftTo('days', 'hours', 'minutes', 'seconds').toISO(), 'P1DT1H1M1S');
  },
  'durations and relative times in words': () => {
    const duration = Duration.fromObject({ hours: 26, minutes: 5 });
    equal(duration.toFormat('dd hh:mm'), '01 02:05');
    equal(DateTime.fromMillis(0).toRelative({ base: DateTime.fromMillis(3 * 86400000), locale: 'ru' }), '3 дня назад');
    equal(DateTime.fromMillis(0).toRelativeCalendar({ base: DateTime.fromMillis(86400000) }), 'yesterday');
  },
  intervals: () => {
    const month = Interval.fromDateTimes(at.startOf('month'), at.endOf('month'));
    equal([month.contains(at), Math.round(month.length('days')), month.splitBy({ weeks: 1 }).length], [true, 31, 5]);
  },
  'lists of names': () => {
    equal(almaty.setLocale('ru').weekdayLong, 'четверг');
    equal([almaty.setLocale('en').weekdayShort, almaty.daysInMonth, almaty.isInLeapYear], ['Thu', 31, false]);
  },
  arithmetic: () => {
    equal(DateTime.utc(2024, 1, 31).plus({ months: 1 }).toISODate(), '2024-02-29');
    equal(at.endOf('quarter').toISO(), '2026-03-31T23:59:59.999Z');
    equal(at < almaty.plus(1), true);
  },
  'relative times': () => equal(at.toRelative({ base: at.plus({ hours: 3 }), locale: 'en' }), '3 hours ago'),
  'relative days': () => equal(at.plus({ days: 1 }).toRelativeCalendar({ base: at, locale: 'en' }), 'tomorrow'),
});
