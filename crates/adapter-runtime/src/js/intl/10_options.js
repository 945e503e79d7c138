const oneOf = (options, name, values, otherwise = undefined) => {
  const value = options[name];
  if (value === undefined) return otherwise;
  if (!values.includes(`${value}`)) throw new RangeError(`${name} cannot be ${`${value}`.slice(0, 40)}`);
  return `${value}`;
};
const MATCHERS = ['lookup', 'best fit'];
const TEXT = ['narrow', 'short', 'long'];
const DIGITS = ['2-digit', 'numeric'];
const HOUR_CYCLES = ['h11', 'h12', 'h23', 'h24'];
const STYLES = ['full', 'long', 'medium', 'short'];
const ZONE_NAMES = ['short', 'long', 'shortOffset', 'longOffset', 'shortGeneric', 'longGeneric'];
/** The fields of a date and time with the forms that each may have, in the order of the standard. */
const FIELDS = {
  __proto__: null,
  weekday: TEXT, era: TEXT, year: DIGITS, month: [...DIGITS, ...TEXT], day: DIGITS, hour: DIGITS, minute: DIGITS,
  second: DIGITS, fractionalSecondDigits: ['1', '2', '3'], timeZoneName: ZONE_NAMES,
};
const DATE = ['weekday', 'year', 'month', 'day'];
const TIME = ['hour', 'minute', 'second', 'fractionalSecondDigits'];

const absent = (name) => {
  throw new TypeError(`${name} is not available; docs/runtime.md lists what there is of Intl`);
};

/** The name of a zone as it is written, or an offset as `+05:30`. */
const zoneOf = (value) => {
  if (value === undefined) return 'UTC';
  const given = `${value}`;
  const offset = /^([+-])([01]\d|2[0-3])(?::?([0-5]\d))?$/.exec(given);
  if (offset !== null) {
    const [, sign, hours, minutes = '00'] = offset;
    return `${hours === '00' && minutes === '00' ? '+' : sign}${hours}:${minutes}`;
  }
  const name = native.zoneName(given);
  if (name == null) throw new RangeError(`there is no time zone ${given.slice(0, 60)}`);
  return name;
};

/** What a formatter does (§11.1.2). `needs` and `defaults` are those of the function that asks. */
const resolve = (locales, given, needs, defaults) => {
  const tags = tagsOf(locales);
  const options = given === undefined ? create(null) : Object(given);
  if (given === null) throw new TypeError('the options must be an object');
  oneOf(options, 'localeMatcher', MATCHERS);
  const known = tags.find((tag) => languageOf(tag) !== undefined);
  const locale = known === undefined ? (tags.length === 0 ? 'en' : 'en-SE') : patternsOf(known);
  for (const name of ['calendar', 'numberingSystem']) {
    const value = options[name];
    if (value !== undefined && !/^[a-z0-9]{3,8}(?:-[a-z0-9]{3,8})*$/i.test(`${value}`)) {
      throw new RangeError(`${name} cannot be ${`${value}`.slice(0, 40)}`);
    }
  }
  const { hour12 } = options;
  const askedCycle = oneOf(options, 'hourCycle', HOUR_CYCLES);
  // What an option says otherwise is no longer of the tag.
  const keywords = keywordsOf(known ?? '');
  const taggedCycle = hour12 === undefined && HOUR_CYCLES.includes(keywords.hc) && (askedCycle ?? keywords.hc) === keywords.hc
    ? keywords.hc : undefined;
  const kept = (keywords.ca === 'gregory' ? '-ca-gregory' : '') + (taggedCycle === undefined ? '' : `-hc-${taggedCycle}`)
    + (keywords.nu === 'latn' ? '-nu-latn' : '');
  const tag = kept === '' ? locale : `${locale}-u${kept}`;
  const timeZone = zoneOf(options.timeZone);
  const fields = create(null);
  for (const name in FIELDS) {
    if (name === 'fractionalSecondDigits') {
      const digits = options[name];
      if (digits === undefined) continue;
      const count = Math.floor(NumberOf(digits));
      if (!(count >= 1 && count <= 3)) throw new RangeError('fractionalSecondDigits must be from 1 to 3');
      fields[name] = count;
      continue;
    }
    const value = oneOf(options, name, FIELDS[name]);
    if (value !== undefined) fields[name] = value;
  }
  if (options.dayPeriod !== undefined) absent('dayPeriod of Intl.DateTimeFormat');
  oneOf(options, 'formatMatcher', ['basic', 'best fit']);
  const dateStyle = oneOf(options, 'dateStyle', STYLES);
  const timeStyle = oneOf(options, 'timeStyle', STYLES);
  if (dateStyle !== undefined || timeStyle !== undefined) {
    for (const name in fields) throw new TypeError(`${name} cannot stand beside dateStyle and timeStyle`);
    if (needs === 'date' && timeStyle !== undefined) throw new TypeError('timeStyle is not for a date');
    if (needs === 'time' && dateStyle !== undefined) throw new TypeError('dateStyle is not for a time');
    if (dateStyle !== undefined) Object.assign(fields, LOCALES[locale].styles[dateStyle]);
    if (timeStyle !== undefined) {
      fields.hour = 'numeric';
      fields.minute = 'numeric';
      if (timeStyle !== 'short') fields.second = 'numeric';
      if (timeStyle === 'full') fields.timeZoneName = 'long';
      if (timeStyle === 'long') fields.timeZoneName = 'short';
    }
  } else {
    const has = (names) => names.some((name) => fields[name] !== undefined);
    if (!(needs !== 'time' && has(DATE)) && !(needs !== 'date' && has(TIME))) {
      if (defaults !== 'time') for (const name of ['year', 'month', 'day']) fields[name] = 'numeric';
      if (defaults !== 'date') for (const name of ['hour', 'minute', 'second']) fields[name] = 'numeric';
    }
  }
  let hourCycle;
  if (fields.hour !== undefined) {
    hourCycle = hour12 === undefined ? askedCycle ?? taggedCycle ?? LOCALES[locale].hourCycle : hour12 ? LOCALES[locale].hour12 ?? 'h12' : 'h23';
  }
  return { locale, tag, timeZone, hourCycle, fields, dateStyle, timeStyle };
};
