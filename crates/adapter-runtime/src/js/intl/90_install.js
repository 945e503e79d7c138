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
    const { tag, timeZone, hourCycle, fields, dateStyle, timeStyle } = this.#format;
    const out = { locale: tag, calendar: 'gregory', numberingSystem: 'latn', timeZone };
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

/** What is in the module of numbers, which is loaded when one of them is touched. */
const OF_NUMBERS = ['ListFormat', 'NumberFormat', 'PluralRules', 'RelativeTimeFormat'];
/** What ECMA-402 has besides. */
const ABSENT = ['Collator', 'DisplayNames', 'DurationFormat', 'Locale', 'Segmenter', 'supportedValuesOf'];

/** Text of a date for `toLocaleString` and the like. */
const localize = (date, locales, options, needs, defaults) => {
  const millis = apply(getTime, date, []);
  const format = resolve(locales, options, needs, defaults);
  // Not a number is the only one that differs from itself.
  if (millis !== millis) return 'Invalid Date';
  format.pattern = patternOf(format);
  return textAt(format, millis);
};

/**
 * Letters in the order of CLDR, with what comes before them. The Cyrillic ones, among which are those of Kazakh, come before
 * the Latin ones in these languages.
 */
const SIGNS = '\t\n\v\f\r _-–—,;:!?.…\'"«»()[]{}@*/\\&#%`^+<=>|~$0123456789';
const LETTERS = {
  __proto__: null,
  ru: 'аәбвгғдежзиійкқлмнңоөпрстуүұфхһцчшщъыьэюя',
  kk: 'аәбвгғдежзийкқлмнңоөпрстуұүфхһцчшщъыіьэюя',
};
const ranks = { __proto__: null };
const ranksOf = (locale) => {
  ranks[locale] ??= new Map([...SIGNS, ...LETTERS[locale], ...'abcdefghijklmnopqrstuvwxyz'].map((letter, at) => [letter, at]));
  return ranks[locale];
};

/** What two texts are compared by, one after the other: letters, marks such as that of `ё`, lower before upper case. */
const levelsOf = (locale, text) => {
  const known = ranksOf(locale);
  const levels = [[], [], []];
  for (const letter of text.normalize('NFC')) {
    const lower = letter.toLowerCase();
    let [rank, marks] = [known.get(lower), ''];
    if (rank === undefined) {
      const [base, ...others] = lower.normalize('NFD');
      rank = known.get(base) ?? 1000 + base.codePointAt(0);
      marks = others.join('');
    }
    levels[0].push(rank);
    levels[1].push(marks);
    levels[2].push(letter === lower ? 0 : 1);
  }
  return levels;
};
const collate = (locale, text, other) => {
  const [left, right] = [levelsOf(locale, text), levelsOf(locale, other)];
  for (let level = 0; level < 3; level++) {
    const [one, two] = [left[level], right[level]];
    for (let at = 0; at < one.length && at < two.length; at++) {
      if (one[at] !== two[at]) return one[at] < two[at] ? -1 : 1;
    }
    if (one.length !== two.length) return one.length < two.length ? -1 : 1;
  }
  return 0;
};

/** What `localeCompare` compares with (ECMA-402 §19.1.1); null where it is the order of code units. */
const collationOf = (locales, given) => {
  const tags = tagsOf(locales);
  const options = given === undefined ? create(null) : Object(given);
  if (given === null) throw new TypeError('the options must be an object');
  const [tag = 'en'] = tags;
  const keywords = keywordsOf(tag);
  const usage = oneOf(options, 'usage', ['sort', 'search'], 'sort');
  oneOf(options, 'localeMatcher', MATCHERS);
  const isNumeric = options.numeric === undefined ? ['', 'true'].includes(keywords.kn) : Boolean(options.numeric);
  const caseFirst = oneOf(options, 'caseFirst', ['upper', 'lower', 'false'], ['upper', 'lower'].includes(keywords.kf) ? keywords.kf : 'false');
  const sensitivity = oneOf(options, 'sensitivity', ['base', 'accent', 'case', 'variant'], 'variant');
  const locale = languageOf(tag);
  const needs = locale === undefined ? `the language ${tag.slice(0, 40)}` : usage !== 'sort' ? `usage: '${usage}'`
    : isNumeric ? 'numeric' : caseFirst !== 'false' ? `caseFirst: '${caseFirst}'`
      : sensitivity !== 'variant' ? `sensitivity: '${sensitivity}'` : options.ignorePunctuation ? 'ignorePunctuation' : null;
  if (needs !== null) throw new TypeError(`localeCompare with ${needs} needs Intl.Collator, which is not available`);
  return LETTERS[locale] === undefined ? null : (text, other) => collate(locale, text, other);
};

/** Languages that write the other case of some letters in a way of their own. */
const OWN_CASE = ['az', 'lt', 'tr'];
const checkCase = (name, locales) => {
  const [tag = ''] = tagsOf(locales);
  const [language] = tag.toLowerCase().split('-');
  if (OWN_CASE.includes(language)) throw new TypeError(`${name} for the language ${language} is not available`);
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
  hidden(Intl, 'getCanonicalLocales', {
    getCanonicalLocales(locales) { return [...new Set(tagsOf(locales).map(canonicalTag))]; },
  }.getCanonicalLocales, true);
  lent.ofLocales = { tagsOf, canonicalTag, oneOf, hidden, absent };
  for (const name of OF_NUMBERS) {
    defineProperty(Intl, name, {
      __proto__: null, get: () => lent.ofNumbers().names[name], set(value) { hidden(this, name, value, true); },
      enumerable: false, configurable: true,
    });
  }
  for (const name of ABSENT) {
    defineProperty(Intl, name, { __proto__: null, get: () => absent(`Intl.${name}`), enumerable: false, configurable: true });
  }
  return { names: { __proto__: null, Intl }, localize, collationOf, checkCase };
};
