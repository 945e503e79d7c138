// `Intl.NumberFormat`, `PluralRules`, `ListFormat` and `RelativeTimeFormat` (ECMA-402), and what `Number` and `BigInt` have of them.
// The sections of this folder are joined into one module, which is loaded when app code first touches one of these names. The
// texts come from Rust, which has CLDR; options are resolved here.

let native, TypeError, RangeError, NumberOf, defineProperty, toStringTag, create, construct;
let tagsOf, canonicalTag, oneOf, hidden, absent;

const object = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

/** Languages of CLDR that write numbers with Latin digits unless they are asked for others. */
const LANGUAGES = new Set(
  ('af am ast az be bg br bs ca cs cy da de dsb el en es et eu fi fil fo fr fy ga gd gl gu ha he hi hr hsb hu hy ia id ig is it ja ka kk km '
    + 'kn ko ky lb lo lt lv mk ml mn ms mt nb nl nn no or pa pcm pl pt rm ro ru sc si sk sl so sq sr st su sv sw ta te tg th ti tk tn to '
    + 'tr tt uk ur uz vi wo xh yo yue zh zu').split(' '),
);
const languageOf = (tag) => tag.toLowerCase().split('-')[0];
const isKnown = (tag) => LANGUAGES.has(languageOf(tag));
/** A tag without its extensions, which change nothing here. */
const baseOf = (tag) => canonicalTag(tag).replace(/-[a-z0-9](?:-.*)?$/i, '');
const localeOf = (locales) => {
  const known = tagsOf(locales).find(isKnown);
  if (known === undefined) return 'en';
  const locale = baseOf(known);
  if (!native.isLanguageTag(locale)) throw new RangeError(`${known.slice(0, 40)} is not a language tag`);
  return locale;
};
/** What Rust gives. It gives nothing for a number that is out of all bounds; no text would be a wrong one. */
const written = (found) => {
  if (found === undefined || found === null) throw new RangeError('the number cannot be written');
  return found;
};
const supportedLocalesOf = (locales, options) => {
  const tags = tagsOf(locales);
  if (options !== undefined) oneOf(Object(options), 'localeMatcher', ['lookup', 'best fit']);
  return tags.filter(isKnown).map(canonicalTag);
};

/** Options as an object (`CoerceOptionsToObject`). */
const coerced = (given) => {
  if (given === null) throw new TypeError('the options must be an object');
  return given === undefined ? create(null) : Object(given);
};
/** Options as an object, which nothing else may stand for (`GetOptionsObject`). */
const optionsOf = (given) => {
  if (given !== undefined && !object(given)) throw new TypeError('the options must be an object');
  return given ?? create(null);
};
/** A whole number between two others (`DefaultNumberOption`). */
const integerOf = (value, name, min, max, otherwise) => {
  if (value === undefined) return otherwise;
  const number = NumberOf(value);
  if (!(number >= min && number <= max)) throw new RangeError(`${name} must be from ${min} to ${max}`);
  return Math.floor(number);
};
const ROUNDING_MODES = ['ceil', 'floor', 'expand', 'trunc', 'halfCeil', 'halfFloor', 'halfExpand', 'halfTrunc', 'halfEven'];

/** The digits that are written (`SetNumberFormatDigitOptions`). */
const digitsOf = (options, minDefault, maxDefault) => {
  const minimumIntegerDigits = integerOf(options.minimumIntegerDigits, 'minimumIntegerDigits', 1, 21, 1);
  const { minimumFractionDigits, maximumFractionDigits, minimumSignificantDigits, maximumSignificantDigits } = options;
  if (integerOf(options.roundingIncrement, 'roundingIncrement', 1, 5000, 1) !== 1) absent('roundingIncrement of Intl.NumberFormat');
  const roundingMode = oneOf(options, 'roundingMode', ROUNDING_MODES, 'halfExpand');
  if (oneOf(options, 'roundingPriority', ['auto', 'morePrecision', 'lessPrecision'], 'auto') !== 'auto') {
    absent('roundingPriority of Intl.NumberFormat');
  }
  const trailingZeroDisplay = oneOf(options, 'trailingZeroDisplay', ['auto', 'stripIfInteger'], 'auto');
  const digits = { minimumIntegerDigits, roundingMode, trailingZeroDisplay };
  if (minimumSignificantDigits !== undefined || maximumSignificantDigits !== undefined) {
    digits.minimumSignificantDigits = integerOf(minimumSignificantDigits, 'minimumSignificantDigits', 1, 21, 1);
    digits.maximumSignificantDigits = integerOf(
      maximumSignificantDigits, 'maximumSignificantDigits', digits.minimumSignificantDigits, 21, 21,
    );
    return digits;
  }
  let min = integerOf(minimumFractionDigits, 'minimumFractionDigits', 0, 100, undefined);
  let max = integerOf(maximumFractionDigits, 'maximumFractionDigits', 0, 100, undefined);
  if (min === undefined) min = max === undefined ? minDefault : Math.min(minDefault, max);
  if (max === undefined) max = Math.max(maxDefault, min);
  if (min > max) throw new RangeError('minimumFractionDigits must be at most maximumFractionDigits');
  digits.minimumFractionDigits = min;
  digits.maximumFractionDigits = max;
  return digits;
};
/** Digits as Rust takes them. */
const spelled = (digits) => {
  const isSignificant = digits.maximumSignificantDigits !== undefined;
  return [
    `${digits.minimumIntegerDigits}`, isSignificant ? 'significant' : 'fraction',
    `${isSignificant ? digits.minimumSignificantDigits : digits.minimumFractionDigits}`,
    `${isSignificant ? digits.maximumSignificantDigits : digits.maximumFractionDigits}`,
    digits.roundingMode, `${digits.trailingZeroDisplay === 'stripIfInteger'}`,
  ];
};
/** What `resolvedOptions` says of digits, in the order of the standard. */
const resolvedDigits = (digits, out) => {
  for (const name of [
    'minimumIntegerDigits', 'minimumFractionDigits', 'maximumFractionDigits', 'minimumSignificantDigits', 'maximumSignificantDigits',
  ]) {
    if (digits[name] !== undefined) out[name] = digits[name];
  }
};
const resolvedRounding = ({ roundingMode, trailingZeroDisplay }, out) => {
  out.roundingIncrement = 1;
  out.roundingMode = roundingMode;
  out.roundingPriority = 'auto';
  out.trailingZeroDisplay = trailingZeroDisplay;
};

/** A number as text without loss (`ToIntlMathematicalValue`). */
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i;
const textOf = (value) => {
  const primitive = object(value) ? (typeof value.valueOf?.() === 'bigint' ? value.valueOf() : +value) : value;
  if (typeof primitive === 'bigint') return `${primitive}`;
  if (typeof primitive === 'string') {
    const trimmed = primitive.trim();
    if (trimmed.length <= 400 && DECIMAL.test(trimmed)) {
      const unsigned = trimmed.replace(/^[+-]/, '').toLowerCase();
      return (trimmed[0] === '-' ? '-' : '') + (unsigned[0] === '.' ? '0' : '') + unsigned.replace(/\.(?=e|$)/, '');
    }
  }
  const number = typeof primitive === 'number' ? primitive : +primitive;
  return Object.is(number, -0) ? '-0' : `${number}`;
};
const joined = (parts) => {
  let out = '';
  for (let at = 1; at < parts.length; at += 2) out += parts[at];
  return out;
};
const partsOf = (flat, more = undefined) => {
  const parts = [];
  for (let at = 0; at < flat.length; at += 2) parts.push({ type: flat[at], value: flat[at + 1], ...more });
  return parts;
};
