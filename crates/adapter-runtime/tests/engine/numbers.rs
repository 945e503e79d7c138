//! `Intl.NumberFormat`, `PluralRules`, `ListFormat` and `RelativeTimeFormat`: texts that another implementation gives
//! (`data/number_formats.json`, by Node.js 20), and what is refused.

use serde_json::{Value, json};

use crate::{support::*, surface::all_hold};

const FORMATS: &str = include_str!("data/number_formats.json");

/// Functions for each kind of case. `joined` writes parts as the file has them.
const CALLS: &str = "
    const joined = (parts) => parts.map(({ type, value }) => `${type}=${value}`).join('|');
    const numbers = [0, -0, 1, -1.5, 1234567.891, 0.000123, NaN, -Infinity];
    const counts = [0, 1, 2, 3, 4, 5, 11, 12, 13, 21, 22, 25, 101, 1.5, 0.5, 1000000];
    const lists = [[], ['a'], ['a', 'b'], ['a', 'b', 'c'], ['x', 'and', 'y'], ['Juan', 'Isabel']];
    const times = [-2, -1, 0, 1, 5, -0, 1.5];
    const units = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];
    const calls = {
        number: (locale, options) => numbers.map((n) => joined(new Intl.NumberFormat(locale, options).formatToParts(n))),
        plural: (locale, options) => {
            const rules = new Intl.PluralRules(locale, options);
            return [...counts.map((n) => rules.select(n)), ...rules.resolvedOptions().pluralCategories.slice().sort()];
        },
        list: (locale, options) => lists.map((list) => joined(new Intl.ListFormat(locale, options).formatToParts(list))),
        relative: (locale, options) => {
            const format = new Intl.RelativeTimeFormat(locale, options);
            return units.flatMap((unit) => times.map((n) => joined(format.formatToParts(n, unit))));
        },
    };";

#[tokio::test]
async fn numbers_and_words_read_as_in_another_implementation() {
    let code = format!(
        "{CALLS} const cases = {FORMATS}; const wrong = []; let count = 0;
         for (const {{ kind, locale, options, expected }} of cases) {{
             const found = calls[kind](locale, options);
             count += found.length;
             if (found.length !== expected.length) wrong.push([kind, locale, options, found.length, expected.length]);
             expected.forEach((text, at) => {{ if (found[at] !== text) wrong.push([kind, locale, options, at, text, found[at]]); }});
         }} return [count, wrong.length, wrong.slice(0, 1000)];"
    );
    let (result, _) = run_with(&engine(), &body(&code), |invocation| {
        invocation.limits.cpu_time = std::time::Duration::from_secs(60);
    })
    .await;
    let result = result.unwrap();
    let wrong: Vec<String> = result[2].as_array().unwrap().iter().map(Value::to_string).collect();
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", result[1], result[0], wrong.join("\n"));
    assert!(result[0].as_u64().unwrap() > 2_500);
}

#[tokio::test]
async fn numbers_and_words_as_the_standard_says() {
    const THROWS: &str =
        "const throws = (call) => { try { call(); return 'no' } catch (error) { return error.name } };";
    let cases = [
        // As in docs/runtime.md.
        (
            "return [(1234567.5).toLocaleString('kk', { style: 'currency', currency: 'KZT' }), new Intl.PluralRules('ru').select(3), new Intl.ListFormat('kk', { type: 'disjunction' }).format(['A', 'B']), new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(-1, 'day')];",
            json!(["1\u{a0}234\u{a0}567,50\u{a0}₸", "few", "A не B", "yesterday"]),
        ),
        (
            "return [(1234.5).toLocaleString(), (1234.5).toLocaleString('de'), 12345678901234567890n.toLocaleString('ru'), Number.prototype.toLocaleString.call(new Number(7))];",
            json!(["1,234.5", "1.234,5", "12\u{a0}345\u{a0}678\u{a0}901\u{a0}234\u{a0}567\u{a0}890", "7"]),
        ),
        (
            "return throws(() => Number.prototype.toLocaleString.call('7')) + throws(() => BigInt.prototype.toLocaleString.call(7));",
            json!("TypeErrorTypeError"),
        ),
        (
            "return [(1.005).toLocaleString('en', { maximumFractionDigits: 2 }), (0.1 + 0.2).toLocaleString('en', { maximumFractionDigits: 20 }), (2.5).toLocaleString('en', { maximumFractionDigits: 0, roundingMode: 'halfEven' })];",
            json!(["1.01", "0.30000000000000004", "2"]),
        ),
        (
            "const f = new Intl.NumberFormat('en'); return [f.format('123456789012345678901234567890.5'), f.format(' 12 '), f.format(''), f.format('x'), f.format('0x10'), f.format('.5e1'), f.format(null), f.format(undefined), f.format(true), f.format(10n ** 30n)];",
            json!([
                "123,456,789,012,345,678,901,234,567,890.5",
                "12",
                "0",
                "NaN",
                "16",
                "5",
                "0",
                "NaN",
                "1",
                "1,000,000,000,000,000,000,000,000,000,000"
            ]),
        ),
        (
            "return [1e308, -5e-324, 1.7976931348623157e308].map((n) => n.toLocaleString('en', { maximumSignificantDigits: 2 }).length);",
            json!([411, 327, 411]),
        ),
        (
            "return new Intl.NumberFormat('de-CH', { style: 'currency', currency: 'chf' }).resolvedOptions();",
            json!({"locale": "de-CH", "numberingSystem": "latn", "style": "currency", "currency": "CHF", "currencyDisplay": "symbol", "currencySign": "standard", "minimumIntegerDigits": 1, "minimumFractionDigits": 2, "maximumFractionDigits": 2, "useGrouping": "auto", "notation": "standard", "signDisplay": "auto", "roundingIncrement": 1, "roundingMode": "halfExpand", "roundingPriority": "auto", "trailingZeroDisplay": "auto"}),
        ),
        (
            "return ['JPY', 'KWD', 'KZT', 'XXX', 'CLF'].map((currency) => new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits);",
            json!([0, 3, 2, 2, 4]),
        ),
        (
            "return [{ style: 'x' }, { style: 'currency' }, { style: 'currency', currency: 'EURO' }, { minimumFractionDigits: 101 }, { minimumFractionDigits: 5, maximumFractionDigits: 2 }, { maximumSignificantDigits: 0 }, { useGrouping: 'x' }, { roundingMode: 'x' }, { currency: '1' }].map((options) => throws(() => new Intl.NumberFormat('en', options)));",
            json!([
                "RangeError",
                "TypeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError"
            ]),
        ),
        (
            "return [{ style: 'unit', unit: 'liter' }, { notation: 'compact' }, { style: 'currency', currency: 'EUR', currencyDisplay: 'name' }, { roundingIncrement: 5, maximumFractionDigits: 2, minimumFractionDigits: 2 }, { roundingPriority: 'morePrecision' }].map((options) => throws(() => new Intl.NumberFormat('en', options))).concat(throws(() => new Intl.NumberFormat('en').formatRange(1, 2)), throws(() => new Intl.PluralRules('en').selectRange(1, 2)));",
            json!([
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError",
                "TypeError"
            ]),
        ),
        (
            "return [Intl.NumberFormat('ru') instanceof Intl.NumberFormat, throws(() => Intl.PluralRules()), throws(() => Intl.ListFormat()), throws(() => Intl.RelativeTimeFormat()), `${new Intl.NumberFormat()}`, Intl.NumberFormat.name, Intl.PluralRules.length, Object.keys(Intl)];",
            json!([
                true,
                "TypeError",
                "TypeError",
                "TypeError",
                "[object Intl.NumberFormat]",
                "NumberFormat",
                0,
                []
            ]),
        ),
        (
            "return [Intl.NumberFormat.supportedLocalesOf(['de-at', 'fa', 'xx', 'EN-us']), new Intl.NumberFormat('xx').resolvedOptions().locale, new Intl.NumberFormat(['xx', 'fr-CA-u-nu-arab']).resolvedOptions().locale, throws(() => new Intl.NumberFormat('e'))];",
            json!([["de-AT", "en-US"], "en", "fr-CA", "RangeError"]),
        ),
        // A text that is missing would be a wrong one.
        (
            "return ['en-foo', 'en-fonipa-fonipa', 'ru-12'].map((tag) => [() => new Intl.NumberFormat(tag), () => new Intl.PluralRules(tag), () => new Intl.ListFormat(tag), () => new Intl.RelativeTimeFormat(tag), () => (5).toLocaleString(tag), () => 5n.toLocaleString([tag])].map(throws).join());",
            json!([
                "RangeError,RangeError,RangeError,RangeError,RangeError,RangeError",
                "RangeError,RangeError,RangeError,RangeError,RangeError,RangeError",
                "RangeError,RangeError,RangeError,RangeError,RangeError,RangeError"
            ]),
        ),
        (
            "return [new Intl.NumberFormat('en').format('9e999').length, new Intl.NumberFormat('en').format('1e-999'), (1e300).toLocaleString('de-x-private').length, new Intl.NumberFormat('zh-Hant-TW-u-nu-hanidec').format(1234.5)];",
            json!([1333, "0", 401, "1,234.5"]),
        ),
        (
            "return [Intl.getCanonicalLocales(['EN-us', 'zh-hans-cn', 'EN-us']), throws(() => Intl.getCanonicalLocales('e'))];",
            json!([["en-US", "zh-Hans-CN"], "RangeError"]),
        ),
        (
            "const l = new Intl.ListFormat('en'); return [l.format(new Set(['a', 'b'])), l.format(['', 'and', 'and']), throws(() => l.format([1])), throws(() => new Intl.ListFormat('en', null)), throws(() => new Intl.ListFormat('en', 'x')), l.format(Array.from({ length: 30 }, (_, at) => `${at}`)).length];",
            json!(["a and b", ", and, and and", "TypeError", "TypeError", "TypeError", 112]),
        ),
        (
            "const r = new Intl.RelativeTimeFormat('en'); return [r.format(1, 'days'), throws(() => r.format(1, 'fortnight')), throws(() => r.format(NaN, 'day')), r.format('3', 'hour'), r.format(1e6, 'second'), JSON.stringify(r.formatToParts(-1234.5, 'day'))];",
            json!([
                "in 1 day",
                "RangeError",
                "RangeError",
                "in 3 hours",
                "in 1,000,000 seconds",
                r#"[{"type":"integer","value":"1","unit":"day"},{"type":"group","value":",","unit":"day"},{"type":"integer","value":"234","unit":"day"},{"type":"decimal","value":".","unit":"day"},{"type":"fraction","value":"5","unit":"day"},{"type":"literal","value":" days ago"}]"#
            ]),
        ),
        (
            "Intl.NumberFormat = 7; return [Intl.NumberFormat, typeof Intl.PluralRules, (5).toLocaleString('en')];",
            json!([7, "function", "5"]),
        ),
        ("return new Intl.PluralRules('en', { minimumFractionDigits: 1 }).select(1);", json!("other")),
    ];
    let cases: Vec<_> = cases.into_iter().map(|(code, gives)| (format!("{THROWS} {code}"), gives)).collect();
    let cases: Vec<_> = cases.iter().map(|(code, gives)| (code.as_str(), gives.clone())).collect();
    all_hold(&cases).await;
}
