const STYLES = ['decimal', 'percent', 'currency', 'unit'];
const SIGNS = ['auto', 'never', 'always', 'exceptZero', 'negative'];

const groupingOf = (value) => {
  if (value === undefined || value === 'true' || value === 'false') return 'auto';
  if (value === true) return 'always';
  if (!value) return false;
  return oneOf({ useGrouping: value }, 'useGrouping', ['min2', 'auto', 'always']);
};

/** What a formatter does (§15.1.1). */
const resolveNumber = (locales, given) => {
  const locale = localeOf(locales);
  const options = coerced(given);
  oneOf(options, 'localeMatcher', ['lookup', 'best fit']);
  const { numberingSystem } = options;
  if (numberingSystem !== undefined && !/^[a-z0-9]{3,8}(?:-[a-z0-9]{3,8})*$/i.test(`${numberingSystem}`)) {
    throw new RangeError(`numberingSystem cannot be ${`${numberingSystem}`.slice(0, 40)}`);
  }
  const style = oneOf(options, 'style', STYLES, 'decimal');
  const { currency } = options;
  if (currency === undefined ? style === 'currency' : !/^[a-z]{3}$/i.test(`${currency}`)) {
    if (currency === undefined) throw new TypeError('style: \'currency\' needs a currency');
    throw new RangeError(`currency cannot be ${`${currency}`.slice(0, 40)}`);
  }
  const currencyDisplay = oneOf(options, 'currencyDisplay', ['code', 'symbol', 'narrowSymbol', 'name'], 'symbol');
  const currencySign = oneOf(options, 'currencySign', ['standard', 'accounting'], 'standard');
  if (style === 'unit') absent('style: \'unit\' of Intl.NumberFormat');
  if (style === 'currency' && currencyDisplay === 'name') absent('currencyDisplay: \'name\' of Intl.NumberFormat');
  const notation = oneOf(options, 'notation', ['standard', 'scientific', 'engineering', 'compact'], 'standard');
  if (notation !== 'standard') absent(`notation: '${notation}' of Intl.NumberFormat`);
  const code = style === 'currency' ? `${currency}`.toUpperCase() : '';
  const ofCurrency = style === 'currency' ? native.currencyDigits(code) : 0;
  const digits = digitsOf(options, ofCurrency, style === 'currency' ? ofCurrency : style === 'percent' ? 0 : 3);
  oneOf(options, 'compactDisplay', ['short', 'long'], 'short');
  const useGrouping = groupingOf(options.useGrouping);
  const signDisplay = oneOf(options, 'signDisplay', SIGNS, 'auto');
  const settings = [style, code, currencyDisplay, currencySign, `${useGrouping}`, signDisplay, ...spelled(digits)];
  return { locale, style, code, currencyDisplay, currencySign, digits, useGrouping, signDisplay, settings };
};
const flatParts = ({ locale, settings }, value) => written(native.numberParts(locale, settings, textOf(value)));

class NumberFormatter {
  #format;
  #bound;
  constructor(locales, options) { this.#format = resolveNumber(locales, options); }
  get format() {
    const format = this.#format;
    this.#bound ??= (value) => joined(flatParts(format, value));
    return this.#bound;
  }
  formatToParts(value = undefined) { return partsOf(flatParts(this.#format, value)); }
  formatRange() { absent('Intl.NumberFormat.prototype.formatRange'); }
  formatRangeToParts() { absent('Intl.NumberFormat.prototype.formatRangeToParts'); }
  resolvedOptions() {
    const { locale, style, code, currencyDisplay, currencySign, digits, useGrouping, signDisplay } = this.#format;
    const out = { locale, numberingSystem: 'latn', style };
    if (style === 'currency') Object.assign(out, { currency: code, currencyDisplay, currencySign });
    resolvedDigits(digits, out);
    Object.assign(out, { useGrouping, notation: 'standard', signDisplay });
    resolvedRounding(digits, out);
    return out;
  }
}
/** Text of a number for `toLocaleString`. */
const localizeNumber = (value, locales, options) => joined(flatParts(resolveNumber(locales, options), value));
