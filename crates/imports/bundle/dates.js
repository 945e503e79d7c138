// Dates in a time zone, with what workflows use of Luxon's `DateTime`.

const UNITS = { year: 'year', month: 'month', week: 'week', day: 'day', hour: 'hour', minute: 'minute', second: 'second', millisecond: 'millisecond' };
const LENGTHS = { week: 604_800_000, day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1000, millisecond: 1 };
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

const unitOf = (name) => UNITS[String(name).toLowerCase().replace(/s$/, '')];
const pad = (value, length) => String(value).padStart(length, '0');

/** The fields of a moment in a zone. */
function fieldsIn(zone, millis) {
  const parts = {};
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' });
  for (const { type, value } of format.formatToParts(new Date(millis))) parts[type] = Number(value);
  return { year: parts.year, month: parts.month, day: parts.day, hour: parts.hour % 24, minute: parts.minute, second: parts.second, millisecond: ((millis % 1000) + 1000) % 1000 };
}

/** The moment of fields in a zone. */
function momentOf(zone, { year, month, day, hour, minute, second, millisecond }) {
  const wall = Date.UTC(year, month - 1, day, hour, minute, second, millisecond);
  let moment = wall;
  // The offset may change between the guess and the moment; two rounds settle it.
  for (let round = 0; round < 2; round += 1) moment = wall - offsetOf(zone, moment);
  return moment;
}

function offsetOf(zone, millis) {
  const { year, month, day, hour, minute, second, millisecond } = fieldsIn(zone, millis);
  return Date.UTC(year, month - 1, day, hour, minute, second, millisecond) - millis;
}

export class DateInZone {
  #fields;

  constructor(millis, zone) {
    this.millis = millis;
    this.zone = zone;
  }

  get isValid() { return !Number.isNaN(this.millis); }
  get zoneName() { return this.zone; }

  get fields() {
    if (!this.isValid) throw new Error('this is no date');
    this.#fields ??= fieldsIn(this.zone, this.millis);
    return this.#fields;
  }

  get year() { return this.fields.year; }
  get month() { return this.fields.month; }
  get day() { return this.fields.day; }
  get hour() { return this.fields.hour; }
  get minute() { return this.fields.minute; }
  get second() { return this.fields.second; }
  get millisecond() { return this.fields.millisecond; }
  /** Day of the week; 1 is Monday. */
  get weekday() { return (new Date(Date.UTC(this.year, this.month - 1, this.day)).getUTCDay() + 6) % 7 + 1; }

  /** Number of the week (ISO 8601). */
  get weekNumber() {
    const thursday = new Date(Date.UTC(this.year, this.month - 1, this.day + 4 - this.weekday));
    return Math.ceil(((thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / LENGTHS.day + 1) / 7);
  }

  #move(duration, sign) {
    const amounts = typeof duration === 'number' ? { millisecond: duration } : duration;
    let moment = this.millis;
    for (const [name, amount] of Object.entries(amounts)) {
      const unit = unitOf(name);
      if (unit === undefined) throw new Error(`there is no unit ${name}`);
      const by = sign * Number(amount);
      if (unit === 'year' || unit === 'month') {
        const fields = fieldsIn(this.zone, moment);
        const months = fields.year * 12 + fields.month - 1 + (unit === 'year' ? by * 12 : by);
        const [year, month] = [Math.floor(months / 12), months % 12 + 1];
        const longest = new Date(Date.UTC(year, month, 0)).getUTCDate();
        moment = momentOf(this.zone, { ...fields, year, month, day: Math.min(fields.day, longest) });
      } else if (unit === 'week' || unit === 'day') {
        const fields = fieldsIn(this.zone, moment);
        moment = momentOf(this.zone, { ...fields, day: fields.day + (unit === 'week' ? by * 7 : by) });
      } else moment += by * LENGTHS[unit];
    }
    return new DateInZone(moment, this.zone);
  }

  // Expressions also give an amount and a unit: `plus(1, 'day')`.
  plus(duration, unit) { return this.#move(unit === undefined ? duration : { [unit]: duration }, 1); }
  minus(duration, unit) { return this.#move(unit === undefined ? duration : { [unit]: duration }, -1); }
  set(fields) {
    const changed = { ...this.fields };
    for (const [name, value] of Object.entries(fields)) changed[unitOf(name)] = Number(value);
    return new DateInZone(momentOf(this.zone, changed), this.zone);
  }

  startOf(name) {
    const unit = unitOf(name);
    const fields = { ...this.fields, millisecond: 0 };
    if (unit === 'week') fields.day -= this.weekday - 1;
    const order = ['second', 'minute', 'hour', 'day', 'month', 'year'];
    for (const smaller of order.slice(0, order.indexOf(unit === 'week' ? 'day' : unit))) fields[smaller] = smaller === 'day' || smaller === 'month' ? 1 : 0;
    return new DateInZone(momentOf(this.zone, fields), this.zone);
  }

  endOf(name) { return this.startOf(name).plus({ [name]: 1 }).minus({ millisecond: 1 }); }
  setZone(zone) { return new DateInZone(this.millis, zone === 'utc' ? 'UTC' : zone); }
  toUTC() { return this.setZone('UTC'); }
  toLocal() { return this; }
  toMillis() { return this.millis; }
  valueOf() { return this.millis; }
  getTime() { return this.millis; }
  toSeconds() { return this.millis / 1000; }
  toUnixInteger() { return Math.floor(this.millis / 1000); }
  toJSDate() { return new Date(this.millis); }
  toISOString() { return new Date(this.millis).toISOString(); }
  toISODate() { return this.toFormat('yyyy-MM-dd'); }
  toISOTime() { return this.toFormat('HH:mm:ss.SSSZZ'); }
  toISO() { return this.isValid ? this.toFormat(`yyyy-MM-dd'T'HH:mm:ss.SSS`) + this.#offset() : null; }
  toJSON() { return this.toISO(); }
  toString() { return this.toISO() ?? 'Invalid DateTime'; }
  format(pattern) { return this.toFormat(pattern); }

  #offset() {
    const minutes = Math.round(offsetOf(this.zone, this.millis) / 60_000);
    if (this.zone === 'UTC') return 'Z';
    return `${minutes < 0 ? '-' : '+'}${pad(Math.floor(Math.abs(minutes) / 60), 2)}:${pad(Math.abs(minutes) % 60, 2)}`;
  }

  /** Text by a pattern of Luxon's tokens, or of Moment's if `style` says so. */
  toFormat(pattern, style) {
    if (!this.isValid) return 'Invalid DateTime';
    const tokens = {
      yyyy: () => pad(this.year, 4), yy: () => pad(this.year % 100, 2), y: () => String(this.year),
      LLLL: () => MONTHS[this.month - 1], MMMM: () => MONTHS[this.month - 1], LLL: () => MONTHS[this.month - 1].slice(0, 3), MMM: () => MONTHS[this.month - 1].slice(0, 3),
      LL: () => pad(this.month, 2), MM: () => pad(this.month, 2), L: () => String(this.month), M: () => String(this.month),
      dd: () => pad(this.day, 2), d: () => String(this.day),
      EEEE: () => DAYS[this.weekday - 1], cccc: () => DAYS[this.weekday - 1], EEE: () => DAYS[this.weekday - 1].slice(0, 3), ccc: () => DAYS[this.weekday - 1].slice(0, 3), E: () => String(this.weekday), c: () => String(this.weekday),
      HH: () => pad(this.hour, 2), H: () => String(this.hour), hh: () => pad((this.hour + 11) % 12 + 1, 2), h: () => String((this.hour + 11) % 12 + 1),
      mm: () => pad(this.minute, 2), m: () => String(this.minute), ss: () => pad(this.second, 2), s: () => String(this.second), SSS: () => pad(this.millisecond, 3), S: () => String(this.millisecond),
      a: () => (this.hour < 12 ? 'AM' : 'PM'), ZZZ: () => this.#offset().replace(':', '').replace('Z', '+0000'), ZZ: () => this.#offset().replace('Z', '+00:00'), Z: () => this.#offset().replace(/:00$/, '').replace(/^([+-])0/, '$1').replace('Z', '+0'),
      W: () => String(this.weekNumber), WW: () => pad(this.weekNumber, 2), X: () => String(Math.floor(this.millis / 1000)), x: () => String(this.millis), z: () => this.zone, o: () => String(this.#dayOfYear()), ooo: () => pad(this.#dayOfYear(), 3), q: () => String(Math.ceil(this.month / 3)),
    };
    if (style === 'moment') {
      Object.assign(tokens, {
        YYYY: tokens.yyyy, YY: tokens.yy, DD: tokens.dd, D: tokens.d, dddd: tokens.EEEE, ddd: tokens.EEE, A: tokens.a, ZZ: tokens.ZZZ, Z: () => this.#offset().replace('Z', '+00:00'), SSS: tokens.SSS, w: tokens.W, ww: tokens.WW, Do: () => ordinal(this.day),
      });
      delete tokens.dd;
      delete tokens.d;
      Object.assign(tokens, { dd: () => DAYS[this.weekday - 1].slice(0, 2), d: () => String(this.weekday % 7), a: () => tokens.A().toLowerCase() });
    }
    let written = '';
    for (const [part] of String(pattern).matchAll(/'[^']*'|\[[^\]]*\]|([a-zA-Z])\1*o?|[^]/g)) {
      if (part.length > 1 && (part.startsWith("'") || (style === 'moment' && part.startsWith('[')))) written += part.slice(1, -1);
      else if (Object.hasOwn(tokens, part)) written += tokens[part]();
      else written += part;
    }
    return written;
  }

  #dayOfYear() { return Math.round((Date.UTC(this.year, this.month - 1, this.day) - Date.UTC(this.year, 0, 1)) / LENGTHS.day) + 1; }
}

const ordinal = (number) => `${number}${number % 100 > 10 && number % 100 < 14 ? 'th' : ['th', 'st', 'nd', 'rd'][number % 10] ?? 'th'}`;

/** Makes dates in the time zone of a workflow. */
export class Dates {
  constructor(zone) { this.zone = zone; }
  now() { return new DateInZone(Date.now(), this.zone); }
  today() { return this.now().startOf('day'); }
  fromMillis(millis) { return new DateInZone(Number(millis), this.zone); }
  fromSeconds(seconds) { return new DateInZone(Number(seconds) * 1000, this.zone); }

  /** A date as the step for dates of n8n reads it: numbers of less than twelve digits are seconds, nothing is now. */
  read(value) {
    if (value instanceof DateInZone || value instanceof Date) return this.from(value);
    if (value === undefined) return this.now();
    const number = typeof value === 'string' && value.trim() === '' ? NaN : Number(value);
    if (Number.isNaN(number)) return this.from(value);
    const whole = Number.isInteger(number) ? number : number * 1000;
    return String(whole).length < 12 ? this.fromSeconds(whole) : this.fromMillis(whole);
  }

  /** A date in a format, in the offset that it is written with. */
  formatted(value, format) {
    if (value === undefined || value === null) return value;
    const date = this.read(value);
    const offset = typeof value === 'string' ? /\+(\d{2})/.exec(value) : null;
    return (offset === null ? date.setZone('UTC') : date.setZone(`Etc/GMT-${Number(offset[1])}`)).toFormat(format);
  }

  /** A date of a date, a number of milliseconds, or text in ISO 8601 or RFC 5322. */
  from(value) {
    if (value instanceof DateInZone) return value;
    if (value instanceof Date) return new DateInZone(value.getTime(), this.zone);
    if (typeof value === 'number') return this.fromMillis(value);
    const written = String(value ?? '').trim();
    // Ten digits are seconds, thirteen milliseconds.
    if (/^\d{10}$/.test(written)) return this.fromSeconds(written);
    if (/^\d{13}$/.test(written)) return this.fromMillis(written);
    const iso = /^(\d{4})-(\d{2})(?:-(\d{2}))?(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?$/.exec(written);
    if (iso === null) return new DateInZone(Date.parse(written), this.zone);
    // Without an offset, it is a time in the zone.
    const [, year, month, day = 1, hour = 0, minute = 0, second = 0, fraction = '0'] = iso;
    const fields = { year: Number(year), month: Number(month), day: Number(day), hour: Number(hour), minute: Number(minute), second: Number(second), millisecond: Number(fraction.padEnd(3, '0').slice(0, 3)) };
    return new DateInZone(momentOf(this.zone, fields), this.zone);
  }
}
