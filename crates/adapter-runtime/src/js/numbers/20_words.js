class Plurals {
  #rules;
  constructor(locales = undefined, given = undefined) {
    const locale = localeOf(locales);
    const options = coerced(given);
    oneOf(options, 'localeMatcher', ['lookup', 'best fit']);
    const type = oneOf(options, 'type', ['cardinal', 'ordinal'], 'cardinal');
    this.#rules = { locale, type, digits: digitsOf(options, 0, 3) };
  }
  select(value) {
    const { locale, type, digits } = this.#rules;
    return written(native.pluralCategory(locale, type === 'ordinal', spelled(digits), textOf(+value)));
  }
  selectRange() { absent('Intl.PluralRules.prototype.selectRange'); }
  resolvedOptions() {
    const { locale, type, digits } = this.#rules;
    const out = { locale, type };
    resolvedDigits(digits, out);
    out.pluralCategories = written(native.pluralCategories(locale, type === 'ordinal'));
    resolvedRounding(digits, out);
    return out;
  }
}

class Lists {
  #list;
  constructor(locales = undefined, given = undefined) {
    const locale = localeOf(locales);
    const options = optionsOf(given);
    oneOf(options, 'localeMatcher', ['lookup', 'best fit']);
    const type = oneOf(options, 'type', ['conjunction', 'disjunction', 'unit'], 'conjunction');
    const style = oneOf(options, 'style', ['long', 'short', 'narrow'], 'long');
    this.#list = { locale, type, style };
  }
  formatToParts(list = undefined) {
    const { locale, type, style } = this.#list;
    const items = [];
    if (list !== undefined) {
      for (const item of list) {
        if (typeof item !== 'string') throw new TypeError('the items of a list must be strings');
        items.push(item);
      }
    }
    const separators = items.length < 2 ? ['', '']
      : written(native.listSeparators(locale, type, style, items.map((item) => item.toWellFormed())));
    const parts = [];
    items.forEach((value, at) => {
      if (separators[at] !== '') parts.push({ type: 'literal', value: separators[at] });
      parts.push({ type: 'element', value });
    });
    const last = separators[items.length] ?? '';
    if (last !== '') parts.push({ type: 'literal', value: last });
    return parts;
  }
  format(list = undefined) { return this.formatToParts(list).map(({ value }) => value).join(''); }
  resolvedOptions() { return { ...this.#list }; }
}

const UNITS = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];
class RelativeTimes {
  #times;
  constructor(locales = undefined, given = undefined) {
    const locale = localeOf(locales);
    const options = coerced(given);
    oneOf(options, 'localeMatcher', ['lookup', 'best fit']);
    const style = oneOf(options, 'style', ['long', 'short', 'narrow'], 'long');
    const numeric = oneOf(options, 'numeric', ['always', 'auto'], 'always');
    this.#times = { locale, style, numeric, numberingSystem: 'latn' };
  }
  #text(value, unit) {
    const { locale, style, numeric } = this.#times;
    const number = +value;
    const name = `${unit}`.replace(/s$/, '');
    if (!UNITS.includes(name)) throw new RangeError(`${`${unit}`.slice(0, 40)} is not a unit of time`);
    if (!Number.isFinite(number)) throw new RangeError('the number must be finite');
    return [written(native.relativeTime(locale, style, numeric === 'auto', name, textOf(number))), number, name];
  }
  format(value, unit) { return this.#text(value, unit)[0]; }
  formatToParts(value, unit) {
    const [text, number, name] = this.#text(value, unit);
    const digits = flatParts(resolveNumber(this.#times.locale, { useGrouping: 'auto' }), Math.abs(number));
    const inDigits = joined(digits);
    const at = text.indexOf(inDigits);
    if (at < 0) return [{ type: 'literal', value: text }];
    const parts = at === 0 ? [] : [{ type: 'literal', value: text.slice(0, at) }];
    parts.push(...partsOf(digits, { unit: name }));
    const rest = text.slice(at + inDigits.length);
    if (rest !== '') parts.push({ type: 'literal', value: rest });
    return parts;
  }
  resolvedOptions() { return { ...this.#times }; }
}
