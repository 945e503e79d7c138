export const install = (lent) => {
  ({ native, TypeError, RangeError, NumberOf, defineProperty, toStringTag, create, construct } = lent);
  ({ tagsOf, canonicalTag, oneOf, hidden, absent } = lent.ofLocales);
  const named = (name, kind, length) => {
    hidden(kind, 'name', name, false);
    hidden(kind, 'length', length, false);
    hidden(kind.prototype, toStringTag, `Intl.${name}`, false);
    hidden(kind, 'supportedLocalesOf', {
      supportedLocalesOf(locales, options = undefined) { return supportedLocalesOf(locales, options); },
    }.supportedLocalesOf, true);
    return kind;
  };
  // It may be called without new (§15.1.1).
  const NumberFormat = function NumberFormat(locales = undefined, options = undefined) {
    return construct(NumberFormatter, [locales, options], new.target ?? NumberFormat);
  };
  defineProperty(NumberFormat, 'prototype', { __proto__: null, value: NumberFormatter.prototype, writable: false });
  hidden(NumberFormatter.prototype, 'constructor', NumberFormat, true);
  return {
    names: {
      __proto__: null,
      NumberFormat: named('NumberFormat', NumberFormat, 0),
      PluralRules: named('PluralRules', Plurals, 0),
      ListFormat: named('ListFormat', Lists, 0),
      RelativeTimeFormat: named('RelativeTimeFormat', RelativeTimes, 0),
    },
    localizeNumber,
  };
};
