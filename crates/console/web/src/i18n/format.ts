// Numbers, times and sizes in the current language.

import { kazakhDate, kazakhDay, kazakhList, kazakhLongDate, kazakhRelative, kazakhUnit } from './kazakh';
import { locale, numeralLocale } from './locale';

const formatters = new Map<string, unknown>();

function formatter<T>(kind: string, make: (of: string) => T): T {
  const key = `${locale.value} ${kind}`;
  const known = formatters.get(key);
  if (known !== undefined) return known as T;
  const made = make(numeralLocale(locale.value));
  formatters.set(key, made);
  return made;
}

type When = Date | string | number;
const isKazakh = () => locale.value === 'kk';
const asDate = (when: When) => (when instanceof Date ? when : new Date(when));

export function formatNumber(value: number, options: Intl.NumberFormatOptions = {}): string {
  return formatter(`number ${JSON.stringify(options)}`, (of) => new Intl.NumberFormat(of, options)).format(value);
}

/** `24 Nov 2026, 14:20`, in a time zone; in the browser's own by default. */
export function formatDateTime(when: When, zone?: string): string {
  const inZone = zone === undefined ? {} : { timeZone: zone };
  if (isKazakh()) {
    const clock = formatter(`hour ${zone ?? ''}`, (of) => new Intl.DateTimeFormat(of, { ...inZone, hour: '2-digit', minute: '2-digit', hour12: false })).format(asDate(when));
    return `${kazakhDate(zone === undefined ? asDate(when) : dayIn(when, zone))}, ${clock}`;
  }
  return formatter(`date-time ${zone ?? ''}`, (of) => new Intl.DateTimeFormat(of, { ...inZone, dateStyle: 'medium', timeStyle: 'short' })).format(asDate(when));
}

/** Names of time zones by how they were written, so that `UTC` and `Etc/UTC` are one. */
const zones = new Map<string, string | null>();

/** Returns the usual name of a time zone, or `null` if the browser does not know it. */
function zoneName(zone: string): string | null {
  const known = zones.get(zone);
  if (known !== undefined) return known;
  let name: string | null = null;
  try {
    name = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    // A server may know newer zones.
  }
  zones.set(zone, name);
  return name;
}

/** `24 Nov 2026, 14:20 (Asia/Almaty)`: on the clock of a time zone, which is named unless it is the browser's own. */
export function formatZoned(when: When, zone: string): string {
  const name = zoneName(zone);
  if (name === null || name === new Intl.DateTimeFormat().resolvedOptions().timeZone) return formatDateTime(when);
  return `${formatDateTime(when, name)} (${zone})`;
}

/** Returns the day that it is in a time zone, as a date of the browser's own. */
function dayIn(when: When, zone: string): Date {
  const [year = 0, month = 1, day = 1] = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(asDate(when)).split('-').map(Number);
  return new Date(year, month - 1, day);
}

/** `Tuesday, 24 November 2026 at 14:20:07 GMT+5`: everything, for a tooltip. */
export function formatFull(when: When): string {
  if (isKazakh()) return `${kazakhLongDate(asDate(when))}, ${formatter('zoned', (of) => new Intl.DateTimeFormat(of, { timeStyle: 'long' })).format(asDate(when))}`;
  return formatter('full', (of) => new Intl.DateTimeFormat(of, { dateStyle: 'full', timeStyle: 'long' })).format(asDate(when));
}

/** `24 Nov 2026`, in a time zone; in the browser's own by default. */
export function formatDate(when: When, zone?: string): string {
  if (isKazakh()) return kazakhDate(zone === undefined ? asDate(when) : dayIn(when, zone));
  return formatter(`date ${zone ?? ''}`, (of) => new Intl.DateTimeFormat(of, { ...(zone === undefined ? {} : { timeZone: zone }), dateStyle: 'medium' })).format(asDate(when));
}

/** `14:20:07`. */
export function formatTime(when: When): string {
  return formatter('time', (of) => new Intl.DateTimeFormat(of, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false })).format(asDate(when));
}

/** `14:20:07` on the day of `now`; on others with the date. */
export function formatClock(when: When, now: number = Date.now()): string {
  const isToday = asDate(when).toDateString() === new Date(now).toDateString();
  return isToday ? formatTime(when) : formatDateTime(when);
}

/** `14:20`. */
function formatHour(when: When): string {
  return formatter('hour', (of) => new Intl.DateTimeFormat(of, { hour: '2-digit', minute: '2-digit', hour12: false })).format(asDate(when));
}

/** `14:20`, or `24 Nov` at midnight: a mark on an axis of time. */
export function formatTick(when: When): string {
  const date = asDate(when);
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0;
  if (isMidnight && isKazakh()) return kazakhDay(date);
  if (isMidnight) return formatter('day', (of) => new Intl.DateTimeFormat(of, { day: 'numeric', month: 'short' })).format(date);
  return formatHour(date);
}

/** `14:20:07.056`. */
export function formatPreciseTime(when: When): string {
  return formatter('precise', (of) => new Intl.DateTimeFormat(of, { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3, hour12: false })).format(asDate(when));
}

const RELATIVE_STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [['day', 86_400], ['hour', 3_600], ['minute', 60], ['second', 1]];
const RELATIVE_LIMIT_DAYS = 7;

/** Returns the number of the day in a time zone; in the browser's own by default. */
function dayNumber(at: number, zone: string | undefined): number {
  const parts = formatter(`day ${zone ?? ''}`, () => new Intl.DateTimeFormat('en-CA', { ...(zone === undefined ? {} : { timeZone: zone }), year: 'numeric', month: '2-digit', day: '2-digit' })).format(at);
  return Date.parse(`${parts}T00:00:00Z`) / 86_400_000;
}

/** `3 min ago`, up to a week; then the date. From a day on, whole days of the calendar in `zone` are counted. */
export function formatRelative(when: When, now: number = Date.now(), zone?: string): string {
  const seconds = Math.round((asDate(when).getTime() - now) / 1_000);
  const inZone = zone === undefined ? undefined : zoneName(zone) ?? undefined;
  if (Math.abs(seconds) > RELATIVE_LIMIT_DAYS * 86_400) return formatDate(when, inZone);
  const format = (value: number, of: Intl.RelativeTimeFormatUnit) => (isKazakh()
    ? kazakhRelative(value, of)
    : formatter('relative', (tag) => new Intl.RelativeTimeFormat(tag, { numeric: 'auto', style: 'short' })).format(value, of));
  if (Math.abs(seconds) < 5) return format(0, 'second');
  const [unit, size] = RELATIVE_STEPS.find(([, step]) => Math.abs(seconds) >= step) ?? ['second', 1];
  return format(unit === 'day' ? dayNumber(asDate(when).getTime(), inZone) - dayNumber(now, inZone) : Math.trunc(seconds / size), unit);
}

const SYMBOLS: Readonly<Record<string, string>> = { millisecond: 'ms', second: 's', minute: 'min', hour: 'h' };

/** Returns a number with a unit as `Intl` names it: `minute`, `megabyte`. */
export function formatUnit(value: number, of: string, digits = 0): string {
  if (isKazakh()) return `${formatNumber(value, { maximumFractionDigits: digits })} ${kazakhUnit(of)}`;
  // The symbols of units, where Intl would write “4 mins” and “1.59 secs”.
  const symbol = locale.value === 'en' ? SYMBOLS[of] : undefined;
  if (symbol !== undefined) return `${formatNumber(value, { maximumFractionDigits: digits })} ${symbol}`;
  // English has no short form of bytes: it would say “39 byte”.
  return formatNumber(value, { style: 'unit', unit: of, unitDisplay: of === 'byte' ? 'long' : 'short', maximumFractionDigits: digits });
}

/** `4 ms`, `1.24 s`, `3 min 5 s`, `2 h 10 min`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return formatUnit(Math.round(milliseconds), 'millisecond', 0);
  const seconds = milliseconds / 1_000;
  if (seconds < 60) return formatUnit(seconds, 'second', seconds < 10 ? 2 : 1);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return pair(formatUnit(minutes, 'minute', 0), Math.floor(seconds % 60), 'second');
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return pair(formatUnit(hours, 'hour', 0), minutes % 60, 'minute');
  return pair(formatUnit(Math.floor(hours / 24), 'day', 0), hours % 24, 'hour');
}

function pair(first: string, rest: number, of: string): string {
  return rest === 0 ? first : `${first} ${formatUnit(rest, of, 0)}`;
}

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

export function formatBytes(bytes: number): string {
  const step = bytes < 1_000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), BYTE_UNITS.length - 1);
  return formatUnit(bytes / 1_000 ** step, BYTE_UNITS[step] ?? 'byte', step === 0 ? 0 : 1);
}

export function formatList(items: readonly string[]): string {
  if (isKazakh()) return kazakhList(items);
  return formatter('list', (of) => new Intl.ListFormat(of, { type: 'conjunction' })).format(items);
}
