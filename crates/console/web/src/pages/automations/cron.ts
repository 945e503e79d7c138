// Cron expressions, as far as a preview needs them: what they name, and when that is next. The server decides what is accepted.

export interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: readonly number[];
  readonly months: readonly number[];
  readonly weekdays: readonly number[];
  readonly fields: readonly [minute: string, hour: string, day: string, month: string, weekday: string];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

function numberOf(text: string, names: readonly string[], first: number): number {
  const index = names.indexOf(text.toLowerCase());
  if (index >= 0) return index + first;
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

/** Returns the numbers of a part such as `9-17/2`, or `null` if it is not one. */
function partOf(part: string, from: number, to: number, names: readonly string[]): number[] | null {
  const [range = '', step = '1', ...rest] = part.split('/');
  const [low, high, ...more] = range === '*' ? [from, to] : range.split('-').map((text) => numberOf(text, names, from));
  const last = high ?? low;
  const by = Number(step);
  const isNumbers = low !== undefined && last !== undefined && low >= from && last <= to && low <= last && Number.isInteger(by) && by >= 1;
  if (!isNumbers || rest.length > 0 || more.length > 0 || (part.includes('/') && range !== '*' && high === undefined)) return null;
  return Array.from({ length: Math.floor((last - low) / by) + 1 }, (_, index) => low + index * by);
}

function fieldOf(field: string, from: number, to: number, names: readonly string[] = []): number[] | null {
  const parts = field.split(',').map((part) => partOf(part, from, to, names));
  if (parts.includes(null)) return null;
  return [...new Set(parts.flatMap((part) => part ?? []))].sort((a, b) => a - b);
}

/** Reads an expression of five fields, or returns `null` if it is not one. */
export function parseCron(text: string): Cron | null {
  const fields = text.trim().split(/\s+/);
  const [minute, hour, day, month, weekday] = fields;
  if (fields.length !== 5 || minute === undefined || hour === undefined || day === undefined || month === undefined || weekday === undefined) return null;
  const [minutes, hours, days, months, named] = [fieldOf(minute, 0, 59), fieldOf(hour, 0, 23), fieldOf(day, 1, 31), fieldOf(month, 1, 12, MONTHS), fieldOf(weekday, 0, 7, WEEKDAYS)];
  if (!minutes || !hours || !days || !months || !named) return null;
  const weekdays = [...new Set(named.map((number) => number % 7))].sort((a, b) => a - b);
  return { minutes, hours, days, months, weekdays, fields: [minute, hour, day, month, weekday] };
}

/** Fields of an expression with their numbers. */
const FIELDS = [
  { name: 'minute', from: 0, to: 59, names: [] }, { name: 'hour', from: 0, to: 23, names: [] }, { name: 'day', from: 1, to: 31, names: [] },
  { name: 'month', from: 1, to: 12, names: MONTHS }, { name: 'weekday', from: 0, to: 7, names: WEEKDAYS },
] as const;

/** What is wrong with an expression: the number of its fields, or the first field that is not one. */
export type CronMistake = { readonly field: null } | { readonly field: (typeof FIELDS)[number]['name']; readonly from: number; readonly to: number };

/** Says what is wrong with an expression. Of a last day, a working day and the like the server decides. */
export function cronMistake(text: string): CronMistake | null {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) return { field: null };
  const wrong = FIELDS.find(({ from, to, names, name }, index) => {
    const field = fields[index] ?? '';
    const isSpecial = (name === 'day' || name === 'weekday') && /[LW#?]/i.test(field.replace(/[a-z]{3,}/gi, ''));
    return !isSpecial && fieldOf(field, from, to, names) === null;
  });
  return wrong === undefined ? null : { field: wrong.name, from: wrong.from, to: wrong.to };
}

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns the clock of a zone at an instant, as milliseconds of a clock in UTC. */
function wallAt(instant: number, zone: string): number {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, calendar: 'gregory', hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' });
    formats.set(zone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(parts['year'] ?? 0, (parts['month'] ?? 1) - 1, parts['day'], parts['hour'], parts['minute']);
}

/** Returns the instants at which a zone's clock shows `wall`: two if it is turned back, one after the gap if it skips that. */
function instantsOf(wall: number, zone: string, hasAnyHour: boolean): number[] {
  const offset = (instant: number) => wallAt(instant, zone) - instant;
  const [before, after] = [offset(wall - DAY), offset(wall + DAY)];
  const found = [...new Set([wall - before, wall - after])].filter((instant) => wallAt(instant, zone) === wall).sort((a, b) => a - b);
  if (found.length > 0) return hasAnyHour ? found : found.slice(0, 1);
  if (hasAnyHour) return [];
  // The clock skips this time: what names hours fires as soon as the gap is over.
  let [low, high] = [Math.min(wall - before, wall - after), Math.max(wall - before, wall - after)];
  while (high - low > MINUTE) {
    const middle = low + Math.floor((high - low) / MINUTE / 2) * MINUTE;
    if (offset(middle) === before) low = middle;
    else high = middle;
  }
  return [high];
}

function matchesDay({ days, months, weekdays, fields }: Cron, wall: Date): boolean {
  if (!months.includes(wall.getUTCMonth() + 1)) return false;
  const [isDay, isWeekday] = [days.includes(wall.getUTCDate()), weekdays.includes(wall.getUTCDay())];
  // As in crontab(5): either day counts, unless one of the fields begins with a star.
  return fields[2].startsWith('*') || fields[4].startsWith('*') ? isDay && isWeekday : isDay || isWeekday;
}

const MAX_DAYS = 366 * 8;
const MAX_TURNED_BACK_HOURS = 2;

/** Returns the next times after `from`, at most `count`. `zone` has to be one that the browser knows. */
export function nextTimes(cron: Cron, zone: string, from: number, count: number): Date[] {
  const found = new Set<number>();
  const hasAnyHour = cron.fields[1].includes('*');
  const firstDay = Math.floor(wallAt(from, zone) / DAY) * DAY;
  for (let day = 0; day < MAX_DAYS && found.size < count; day += 1) {
    const midnight = firstDay + day * DAY;
    if (!matchesDay(cron, new Date(midnight))) continue;
    let enoughAt: number | null = null;
    for (const hour of cron.hours) {
      // Where the clock is turned back, later hours of the day hold earlier instants.
      if (found.size >= count) enoughAt ??= hour;
      if (enoughAt !== null && hour > enoughAt + MAX_TURNED_BACK_HOURS) break;
      for (const minute of cron.minutes) {
        const wall = midnight + (hour * 60 + minute) * MINUTE;
        if (wall < wallAt(from, zone) - DAY / 8) continue;
        for (const instant of instantsOf(wall, zone, hasAnyHour)) if (instant > from) found.add(instant);
      }
    }
  }
  return [...found].sort((a, b) => a - b).slice(0, count).map((instant) => new Date(instant));
}

/** Whether the browser knows the time zone. */
export function isZone(zone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: zone }));
  } catch {
    return false;
  }
}

/** Time zones for a choice: the browser's own and UTC first. */
export function zones(current: string): readonly string[] {
  const own = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return [...new Set([current, own, 'UTC', ...Intl.supportedValuesOf('timeZone')])].filter((zone) => zone !== '');
}
