const timeOf = (value) => {
  if (value === undefined) return now();
  try {
    return apply(getTime, value, []);
  } catch {
    return +value;
  }
};

class Formatter {
  #format;
  #bound;
  constructor(locales, options) {
    this.#format = resolve(locales, options, 'any', 'date');
    this.#format.pattern = patternOf(this.#format);
  }
  get format() {
    const format = this.#format;
    this.#bound ??= (date) => textAt(format, timeOf(date));
    return this.#bound;
  }
  formatToParts(date = undefined) { return partsAt(this.#format, timeOf(date)); }
  formatRange() { absent('Intl.DateTimeFormat.prototype.formatRange'); }
  formatRangeToParts() { absent('Intl.DateTimeFormat.prototype.formatRangeToParts'); }
  resolvedOptions() {
    const { locale, timeZone, hourCycle, fields, dateStyle, timeStyle } = this.#format;
    const out = { locale, calendar: 'gregory', numberingSystem: 'latn', timeZone };
    if (hourCycle !== undefined) {
      out.hourCycle = hourCycle;
      out.hour12 = hourCycle === 'h11' || hourCycle === 'h12';
    }
    if (dateStyle === undefined && timeStyle === undefined) {
      for (const name in FIELDS) if (fields[name] !== undefined) out[name] = fields[name];
      // What the pattern of the language makes of a number.
      for (const name of ['month', 'day', 'hour', 'minute', 'second']) {
        if (out[name] === 'numeric' || out[name] === '2-digit') out[name] = isTwoDigits(this.#format, name) ? '2-digit' : 'numeric';
      }
    }
    if (dateStyle !== undefined) out.dateStyle = dateStyle;
    if (timeStyle !== undefined) out.timeStyle = timeStyle;
    return out;
  }
}

/** What ECMA-402 has besides. */
const ABSENT = [
  'Collator', 'DisplayNames', 'DurationFormat', 'ListFormat', 'Locale', 'NumberFormat', 'PluralRules', 'RelativeTimeFormat',
  'Segmenter', 'getCanonicalLocales', 'supportedValuesOf',
];

/** Text of a date for `toLocaleString` and the like. */
const localize = (date, locales, options, needs, defaults) => {
  const millis = apply(getTime, date, []);
  const format = resolve(locales, options, needs, defaults);
  // Not a number is the only one that differs from itself.
  if (millis !== millis) return 'Invalid Date';
  format.pattern = patternOf(format);
  return textAt(format, millis);
};

export const install = (lent) => {
  ({ native, TypeError, RangeError, NumberOf, now, apply, getTime, defineProperty, toStringTag, create } = lent);
  const hidden = (target, key, value, writable) =>
    defineProperty(target, key, { __proto__: null, value, writable, enumerable: false, configurable: true });
  // It may be called without new (§11.1.1).
  const DateTimeFormat = function DateTimeFormat(locales = undefined, options = undefined) {
    return lent.construct(Formatter, [locales, options], new.target ?? DateTimeFormat);
  };
  hidden(DateTimeFormat, 'length', 0, false);
  defineProperty(DateTimeFormat, 'prototype', { __proto__: null, value: Formatter.prototype, writable: false });
  hidden(Formatter.prototype, 'constructor', DateTimeFormat, true);
  hidden(Formatter.prototype, toStringTag, 'Intl.DateTimeFormat', false);
  hidden(DateTimeFormat, 'supportedLocalesOf', {
    supportedLocalesOf(locales, options = undefined) {
      const tags = tagsOf(locales);
      if (options !== undefined) oneOf(Object(options), 'localeMatcher', MATCHERS);
      return tags.filter((tag) => languageOf(tag) !== undefined).map(canonicalTag);
    },
  }.supportedLocalesOf, true);
  const Intl = {};
  hidden(Intl, toStringTag, 'Intl', false);
  hidden(Intl, 'DateTimeFormat', DateTimeFormat, true);
  for (const name of ABSENT) {
    defineProperty(Intl, name, { __proto__: null, get: () => absent(`Intl.${name}`), enumerable: false, configurable: true });
  }
  return { names: { __proto__: null, Intl }, localize };
};
