// Cron expressions, as far as a preview needs them: what they name, and when that is next. The server decides what is accepted; its rules are in `crates/runs/src/automations/schedule`.

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
/** Most characters of an expression. */
const MAX_LENGTH = 128;

/** Fields of an expression with their numbers, and how many different values they have. */
const FIELDS = [
  { name: 'minute', from: 0, to: 59, size: 60, names: [] }, { name: 'hour', from: 0, to: 23, size: 24, names: [] }, { name: 'day', from: 1, to: 31, size: 31, names: [] },
  // Sunday is 0 and 7.
  { name: 'month', from: 1, to: 12, size: 12, names: MONTHS }, { name: 'weekday', from: 0, to: 7, size: 7, names: WEEKDAYS },
] as const;

type Field = (typeof FIELDS)[number];

/** Returns the number of a single value, or `null` if the field has none such. */
function valueOf(text: string, { from, to, names }: Field): number | null {
  const index = (names as readonly string[]).indexOf(text.toLowerCase());
  const value = index >= 0 ? index + from : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= from && value <= to ? value : null;
}

/** Returns the numbers of a range such as `9-17`, of `*` or of a single value. */
function rangeOf(range: string, field: Field): readonly [low: number, high: number] | null {
  if (range === '*') return [field.from, field.to];
  const [first = '', last = first, ...more] = range.split('-');
  const isSunday = (text: string) => text.toLowerCase() === 'sun';
  const [low, end] = [valueOf(first, field), valueOf(last, field)];
  if (low === null || end === null || more.length > 0) return null;
  // As the end of a week, Sunday comes after Saturday. From Sunday to Sunday is refused, as it would be a whole week.
  if (range.includes('-') && isSunday(last)) return isSunday(first) ? null : [low, 7];
  return low <= end ? [low, end] : null;
}

/** Returns the numbers of a part such as `9-17/2`, or `null` if it is not one. */
function partOf(part: string, field: Field): number[] | null {
  const [range = '', step = '1', ...rest] = part.split('/');
  const by = /^\d+$/.test(step) ? Number(step) : 0;
  const numbers = rangeOf(range, field);
  // A step is that of a range, and not larger than the field.
  const hasRange = range === '*' || range.includes('-');
  if (numbers === null || rest.length > 0 || by < 1 || by > field.size || (part.includes('/') && !hasRange)) return null;
  const [low, high] = numbers;
  return Array.from({ length: Math.floor((high - low) / by) + 1 }, (_, index) => low + index * by);
}

const isDayField = ({ name }: Field) => name === 'day' || name === 'weekday';

function fieldOf(text: string, field: Field): number[] | null {
  const items = text.split(',');
  if (text === '?' && isDayField(field)) return fieldOf('*', field);
  const parts = items.map((item) => (item === '*' && items.length > 1 ? null : partOf(item, field)));
  if (parts.includes(null)) return null;
  return [...new Set(parts.flatMap((part) => part ?? []))].sort((a, b) => a - b);
}

/** Whether an item names a day that depends on the month: `L`, `LW`, `15W`, `FRIL`, `MON#1`. */
function isSpecial(item: string, field: Field): boolean {
  if (field.name === 'day') return /^LW?$/i.test(item) || (/w$/i.test(item) && valueOf(item.slice(0, -1), field) !== null);
  const day = field.name === 'weekday' ? /^(.+?)(?:L|#[1-5])$/i.exec(item)?.[1] : undefined;
  return day !== undefined && valueOf(day, field) !== null;
}

function isField(text: string, field: Field): boolean {
  return fieldOf(text, field) !== null || text.split(',').every((item) => isSpecial(item, field) || (item !== '*' && partOf(item, field) !== null));
}

function fieldsOf(text: string): readonly string[] | null {
  const fields = text.trim().split(/\s+/);
  return fields.length === FIELDS.length && text.trim().length <= MAX_LENGTH ? fields : null;
}

/** Reads an expression of five fields, or returns `null` if it is not one or names days that depend on the month. */
export function parseCron(text: string): Cron | null {
  const texts = fieldsOf(text);
  if (texts === null) return null;
  const [minutes, hours, days, months, named] = FIELDS.map((field, index) => fieldOf(texts[index] ?? '', field));
  if (!minutes || !hours || !days || !months || !named) return null;
  const weekdays = [...new Set(named.map((number) => number % 7))].sort((a, b) => a - b);
  return { minutes, hours, days, months, weekdays, fields: texts as Cron['fields'] & readonly string[] };
}

/** What is wrong with an expression: the number of its fields, or the first field that is not one. */
export type CronMistake = { readonly field: null } | { readonly field: Field['name']; readonly from: number; readonly to: number };

/** Says what is wrong with an expression, by the rules of the server. */
export function cronMistake(text: string): CronMistake | null {
  const texts = fieldsOf(text);
  if (texts === null) return { field: null };
  const wrong = FIELDS.find((field, index) => !isField(texts[index] ?? '', field));
  return wrong === undefined ? null : { field: wrong.name, from: wrong.from, to: wrong.to };
}

/** Whether a field of days begins with a star: a day then has to match both fields, else either (crontab(5)). */
export const isStarred = (field: string) => /^[*?]/.test(field);

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
  return isStarred(fields[2]) || isStarred(fields[4]) ? isDay && isWeekday : isDay || isWeekday;
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
