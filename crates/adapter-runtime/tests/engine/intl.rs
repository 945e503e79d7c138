//! `Intl.DateTimeFormat` and what `Date` and `String` have of `Intl`: texts that another implementation gives
//! (`data/date_formats.json`, by Node.js 20), the order of texts, and what is refused.

use serde_json::{Value, json};

use crate::{support::*, surface::all_hold};

const FORMATS: &str = include_str!("data/date_formats.json");

#[tokio::test]
async fn dates_read_as_in_another_implementation() {
    let code = format!(
        "const cases = {FORMATS}; const wrong = []; for (const [locale, options, timeZone, date, expected] of cases) {{ \
         const found = new Intl.DateTimeFormat(locale, {{ ...options, timeZone }}).format(new Date(date)); \
         if (found !== expected) wrong.push([locale, JSON.stringify(options), timeZone, date, expected, found]) }} return [cases.length, wrong];"
    );
    let (result, _) = run(&code).await;
    let result = result.unwrap();
    assert!(result[0].as_u64().unwrap() > 500);
    let wrong: Vec<String> = result[1].as_array().unwrap().iter().map(Value::to_string).collect();
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Code before each case.
const BEFORE: &str = "const throws = (call) => { try { call(); return 'no' } catch (error) { return error.name } };
    const format = (locale, options, date = '2026-03-05T04:07:09.123Z') => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options }).format(new Date(date));
    const parts = (locale, options) => new Intl.DateTimeFormat(locale, { timeZone: 'Asia/Almaty', ...options }).formatToParts(new Date('2026-03-05T04:07:09.123Z')).map(({ type, value }) => `${type}=${value}`).join('|');
    const resolved = (locale, options) => new Intl.DateTimeFormat(locale, options).resolvedOptions();";

macro_rules! cases {
    ($(($code:expr, $gives:expr $(,)?)),+ $(,)?) => {{
        let cases = [$((format!("{BEFORE} {}", $code), $gives)),+];
        let cases: Vec<_> = cases.iter().map(|(code, gives)| (code.as_str(), gives.clone())).collect();
        all_hold(&cases).await
    }};
}

#[tokio::test]
async fn parts_and_options() {
    cases![
        (
            "return parts('en', { dateStyle: 'medium', timeStyle: 'short' });",
            json!(
                "month=Mar|literal= |day=5|literal=, |year=2026|literal=, |hour=9|literal=:|minute=07|literal= |dayPeriod=AM"
            )
        ),
        (
            "return parts('ru', { dateStyle: 'full' });",
            json!("weekday=четверг|literal=, |day=5|literal= |month=марта|literal= |year=2026|literal= г.")
        ),
        (
            "return parts('kk', { dateStyle: 'long', timeStyle: 'long' });",
            json!(
                "year=2026|literal= ж. |day=5|literal= |month=наурыз|literal=, |hour=09|literal=:|minute=07|literal=:|second=09|literal= |timeZoneName=GMT+5"
            )
        ),
        (
            "return parts('ru', { second: 'numeric', fractionalSecondDigits: 2 });",
            json!("second=9|literal=,|fractionalSecond=12")
        ),
        ("return parts('en', { era: 'short', year: 'numeric' });", json!("year=2026|literal= |era=AD")),
        (
            "return resolved();",
            json!({"locale": "en", "calendar": "gregory", "numberingSystem": "latn", "timeZone": "UTC", "year": "numeric", "month": "numeric", "day": "numeric"})
        ),
        (
            "return resolved('ru-KZ', { dateStyle: 'full', timeStyle: 'short', timeZone: 'asia/almaty' });",
            json!({"locale": "ru", "calendar": "gregory", "numberingSystem": "latn", "timeZone": "Asia/Almaty", "hourCycle": "h23", "hour12": false, "dateStyle": "full", "timeStyle": "short"})
        ),
        (
            "return resolved('en', { hour: 'numeric', timeZoneName: 'short', fractionalSecondDigits: 3 });",
            json!({"locale": "en", "calendar": "gregory", "numberingSystem": "latn", "timeZone": "UTC", "hourCycle": "h12", "hour12": true, "hour": "numeric", "fractionalSecondDigits": 3, "timeZoneName": "short"})
        ),
        (
            "return [resolved('en', { hour: 'numeric', hour12: false }).hourCycle, resolved('ru', { hour: 'numeric', hour12: true }).hourCycle, resolved('en', { hour: 'numeric', hourCycle: 'h24', hour12: undefined }).hourCycle, resolved('en', { hourCycle: 'h23' }).hourCycle ?? null];",
            json!(["h23", "h12", "h24", null])
        ),
        (
            "return [['de', 'kk'], ['fr'], ['kk-Cyrl-KZ'], [], 'RU', ['en-GB', 'ru']].map((locales) => resolved(locales).locale);",
            json!(["kk", "en-SE", "kk", "en", "ru", "en-GB"])
        ),
        // No date is read in the order of another country.
        (
            "return ['de-DE', 'fr', 'zh', 'en-CA', 'en-US', 'en-AU', 'en-Latn-IN', 'en-001', 'en-x-us'].map((locale) => new Date(Date.UTC(2026, 2, 5, 4, 7)).toLocaleString(locale));",
            json!([
                "2026-03-05, 04:07:00",
                "2026-03-05, 04:07:00",
                "2026-03-05, 04:07:00",
                "2026-03-05, 04:07:00",
                "3/5/2026, 4:07:00 AM",
                "05/03/2026, 04:07:00",
                "05/03/2026, 04:07:00",
                "05/03/2026, 04:07:00",
                "3/5/2026, 4:07:00 AM"
            ])
        ),
        (
            "return new Date(0).toLocaleDateString('de', { dateStyle: 'long' }) + '|' + format('de', { month: 'long', year: 'numeric' }) + '|' + format('fr', { month: 'numeric', day: 'numeric' });",
            json!("1 January 1970|March 2026|03-05")
        ),
        (
            "const of = Intl.DateTimeFormat.supportedLocalesOf; return [of(['EN-us', 'de', 'ru-kz', 'kk-cyrl-kz', 'ru-KZ', 'xx']), of('fr'), of(), of('en', { localeMatcher: 'lookup' }), throws(() => of('en', { localeMatcher: 'x' }))];",
            json!([["en-US", "ru-KZ", "kk-Cyrl-KZ", "ru-KZ"], [], [], ["en"], "RangeError"])
        ),
        (
            "return ['', 'e', 'en_US', 'en-', '1', 'en--US', 'nine-letters', 'toolonglanguage'].map((tag) => throws(() => new Intl.DateTimeFormat(tag)));",
            json!([
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError"
            ])
        ),
        (
            "return [null, [1], [null], [undefined]].map((locales) => throws(() => new Intl.DateTimeFormat(locales))).concat(throws(() => new Intl.DateTimeFormat(1)));",
            json!(["TypeError", "TypeError", "TypeError", "TypeError", "no"])
        ),
        (
            "return [{ year: 'x' }, { month: 'tiny' }, { weekday: 'numeric' }, { hour: 'long' }, { fractionalSecondDigits: 0 }, { fractionalSecondDigits: 4 }, { timeZoneName: 'x' }, { dateStyle: 'x' }, { hourCycle: 'h25' }, { timeZone: 'Mars/Olympus' }, { timeZone: '' }, { timeZone: '+25:00' }, { timeZone: null }, { calendar: '!' }, { formatMatcher: 'x' }, { localeMatcher: 'x' }].map((options) => throws(() => new Intl.DateTimeFormat('en', options)));",
            json!([
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError",
                "RangeError"
            ])
        ),
        (
            "return [{ dateStyle: 'full', year: 'numeric' }, { timeStyle: 'full', timeZoneName: 'short' }].map((options) => throws(() => new Intl.DateTimeFormat('en', options))).concat(throws(() => new Intl.DateTimeFormat('en', null)), throws(() => new Intl.DateTimeFormat('en', { year: Symbol() })));",
            json!(["TypeError", "TypeError", "TypeError", "TypeError"])
        ),
        (
            "const f = new Intl.DateTimeFormat('en'); const bound = f.format; return [bound(0), bound === f.format, [0, 86400000].map(f.format), bound.length, f.format(new Date(0)), f.formatToParts(0).length, throws(() => bound(NaN)), throws(() => f.formatToParts(8.64e15 + 1)), bound(8.64e15), bound(-8.64e15)];",
            json!([
                "1/1/1970",
                true,
                ["1/1/1970", "1/2/1970"],
                1,
                "1/1/1970",
                5,
                "RangeError",
                "RangeError",
                "9/13/275760",
                "4/20/271822"
            ])
        ),
        (
            "const now = new Intl.DateTimeFormat('en', { year: 'numeric' }); return [now.format() === `${new Date().getUTCFullYear()}`, now.format(undefined) === now.format(Date.now()), throws(() => now.format('x')), throws(() => now.format(1n))];",
            json!([true, true, "RangeError", "TypeError"])
        ),
        (
            "const f = Intl.DateTimeFormat('ru'); return [f instanceof Intl.DateTimeFormat, `${f}`, `${Intl}`, Intl.DateTimeFormat.length, Intl.DateTimeFormat.name, f.constructor === Intl.DateTimeFormat, throws(() => Intl.DateTimeFormat.prototype.formatToParts.call({})), Object.keys(Intl)];",
            json!([
                true,
                "[object Intl.DateTimeFormat]",
                "[object Intl]",
                0,
                "DateTimeFormat",
                true,
                "TypeError",
                []
            ])
        ),
        (
            "class Own extends Intl.DateTimeFormat {} const f = new Own('en', { timeZone: 'Europe/Kyiv' }); return [f instanceof Own, f.format(0)];",
            json!([true, "1/1/1970"])
        ),
    ];
}

#[tokio::test]
async fn time_zones() {
    cases![
        // The hour that does not exist, and the one that is there twice.
        ("const at = (date) => format('en', { timeZone: 'America/New_York', timeStyle: 'long' }, date); return [at('2026-03-08T06:59:59Z'), at('2026-03-08T07:00:00Z'), at('2026-11-01T05:59:59Z'), at('2026-11-01T06:00:00Z')];", json!(["1:59:59 AM EST", "3:00:00 AM EDT", "1:59:59 AM EDT", "1:00:00 AM EST"])),
        // Kazakhstan has had one offset since March 2024.
        ("const at = (date) => format('ru', { timeZone: 'Asia/Almaty', dateStyle: 'short', timeStyle: 'short' }, date); return [at('2024-02-29T17:59:00Z'), at('2024-02-29T18:00:00Z'), at('2026-01-01T00:00:00Z')];", json!(["29.02.2024, 23:59", "29.02.2024, 23:00", "01.01.2026, 05:00"])),
        ("return ['+05:30', '-0330', '+14', '-00:00'].map((timeZone) => [resolved('en', { timeZone }).timeZone, format('en', { timeZone, timeStyle: 'short' })]);", json!([["+05:30", "9:37 AM"], ["-03:30", "12:37 AM"], ["+14:00", "6:07 PM"], ["+00:00", "4:07 AM"]])),
        ("return ['utc', 'GMT', 'etc/gmt+5', 'EUROPE/kyiv', 'US/Pacific', 'Asia/Calcutta'].map((timeZone) => resolved('en', { timeZone }).timeZone);", json!(["UTC", "GMT", "Etc/GMT+5", "Europe/Kyiv", "US/Pacific", "Asia/Calcutta"])),
        ("const name = (timeZone, timeZoneName, locale = 'en') => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName }).formatToParts(new Date('2026-07-01')).find(({ type }) => type === 'timeZoneName').value;
          return [name('UTC', 'short'), name('UTC', 'long', 'ru'), name('Asia/Almaty', 'short'), name('Asia/Kolkata', 'short', 'kk'), name('Asia/Kolkata', 'longOffset'), name('America/Los_Angeles', 'short'), name('America/Los_Angeles', 'short', 'ru'), name('America/Los_Angeles', 'long'), name('Africa/Abidjan', 'shortOffset'), name('America/St_Johns', 'shortGeneric')];",
         json!(["UTC", "Всемирное координированное время", "GMT+5", "GMT+5:30", "GMT+05:30", "PDT", "GMT-7", "GMT-07:00", "GMT", "GMT-2:30"])),
        ("return [format('en', { timeZone: 'Europe/Amsterdam', timeStyle: 'medium' }, '1880-01-01T00:00:00Z'), format('en', { timeZone: 'Pacific/Apia', dateStyle: 'short' }, '2011-12-30T09:59:59Z'), format('en', { timeZone: 'Pacific/Apia', dateStyle: 'short' }, '2011-12-30T10:00:00Z')];", json!(["12:17:30 AM", "12/29/11", "12/31/11"])),
        ("return [format('en', { year: 'numeric' }, '0000-06-01'), format('en', { year: 'numeric', era: 'short' }, '-000100-06-01'), format('ru', { era: 'short', year: 'numeric', month: 'long', day: 'numeric' }, '-000001-06-01'), format('en', { year: '2-digit' }, '0005-06-01')];", json!(["1", "101 BC", "1 июня 2 г. до н. э.", "05"])),
    ];
}

#[tokio::test]
async fn dates_in_the_language() {
    cases![
        (
            "const d = new Date('2026-03-05T04:07:09Z'); return [d.toLocaleString(), d.toLocaleDateString(), d.toLocaleTimeString(), d.toLocaleString('ru'), d.toLocaleDateString('kk'), d.toLocaleTimeString('ru')];",
            json!([
                "3/5/2026, 4:07:09 AM",
                "3/5/2026",
                "4:07:09 AM",
                "05.03.2026, 04:07:09",
                "05.03.2026",
                "04:07:09"
            ])
        ),
        (
            "const d = new Date('2026-03-05T20:07:09Z'); return [d.toLocaleString('en', { timeZone: 'Asia/Almaty' }), d.toLocaleDateString('ru', { timeZone: 'Asia/Almaty', weekday: 'long', day: 'numeric', month: 'long' }), d.toLocaleTimeString('kk', { timeZone: 'Asia/Almaty', hour: '2-digit', minute: '2-digit' })];",
            json!(["3/6/2026, 1:07:09 AM", "пятница, 6 марта", "01:07"])
        ),
        (
            "const d = new Date(0); return [d.toLocaleTimeString('en', { year: 'numeric' }), d.toLocaleDateString('en', { hour: 'numeric' }), d.toLocaleString('en', { weekday: 'short' }), d.toLocaleString('en', { timeZoneName: 'short' })];",
            json!(["1970, 12:00:00 AM", "1/1/1970, 12 AM", "Thu", "1/1/1970, 12:00:00 AM UTC"])
        ),
        (
            "const d = new Date(0); return [throws(() => d.toLocaleDateString('en', { timeStyle: 'short' })), throws(() => d.toLocaleTimeString('en', { dateStyle: 'short' })), throws(() => d.toLocaleString('x')), throws(() => d.toLocaleString('en', { timeZone: 'x' })), new Date(NaN).toLocaleString('ru'), throws(() => Date.prototype.toLocaleString.call({})), throws(() => new Date(NaN).toLocaleString('x')), Date.prototype.toLocaleString.length];",
            json!([
                "TypeError",
                "TypeError",
                "RangeError",
                "RangeError",
                "Invalid Date",
                "TypeError",
                "RangeError",
                0
            ])
        ),
        (
            "return [new Date(0).toLocaleString('en', { dateStyle: 'long' }), new Date(0).toLocaleTimeString('ru', { timeStyle: 'short' })];",
            json!(["January 1, 1970", "00:00"])
        ),
    ];
}

#[tokio::test]
async fn what_else_is_asked_for_is_named() {
    cases![
        (
            "const names = ['Collator', 'DisplayNames', 'DurationFormat', 'Locale', 'Segmenter', 'supportedValuesOf']; return names.filter((name) => { try { Intl[name]; return true } catch (error) { return !(error instanceof TypeError && error.message.startsWith(`Intl.${name} is not available`)) } });",
            json!([])
        ),
        (
            "const f = new Intl.DateTimeFormat(); const out = []; for (const call of [() => f.formatRange(0, 1), () => f.formatRangeToParts(0, 1), () => new Intl.DateTimeFormat('en', { dayPeriod: 'long' })]) try { call() } catch (error) { out.push(`${error.name}: ${error.message.split(' is not')[0]}`) } return out;",
            json!([
                "TypeError: Intl.DateTimeFormat.prototype.formatRange",
                "TypeError: Intl.DateTimeFormat.prototype.formatRangeToParts",
                "TypeError: dayPeriod of Intl.DateTimeFormat"
            ])
        ),
        (
            "globalThis.Date.prototype.getTime = () => { throw 1 }; globalThis.TypeError = globalThis.RangeError = globalThis.Number = null; return [new Intl.DateTimeFormat('en').format(new Date(0)), new Date(0).toLocaleDateString('ru')];",
            json!(["1/1/1970", "01.01.1970"])
        ),
        (
            "globalThis.Intl = 'mine'; return [Intl, new Date(0).toLocaleDateString()];",
            json!(["mine", "1/1/1970"])
        ),
        (
            "const before = Object.getOwnPropertyNames(globalThis).length; Intl; const { writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(globalThis, 'Intl'); return [Object.getOwnPropertyNames(globalThis).length === before, writable, enumerable, configurable];",
            json!([true, true, false, true])
        ),
    ];
}

/// Every set of fields that code may ask for writes each of them, apart from its neighbours.
#[tokio::test]
async fn no_field_is_lost_or_joined_to_another() {
    for locale in ["en", "ru", "kk"] {
        // In parts, as an invocation has its time limit on a busy machine too.
        let parts = (0..8).map(|part| {
            format!(
                "const locale = '{locale}', first = {part} << 7, end = first + 128; {EVERY_SET_OF_FIELDS}"
            )
        });
        let parts: Vec<_> = parts.collect();
        let cases: Vec<_> = parts.iter().map(|code| (code.as_str(), json!([128, []]))).collect();
        all_hold(&cases).await;
    }
}

const EVERY_SET_OF_FIELDS: &str = "
    const forms = Object.entries({ weekday: 'short', era: 'short', year: 'numeric', month: 'long', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric', fractionalSecondDigits: 3, timeZoneName: 'short' });
    const wrong = [];
    for (let set = first; set < end; set++) {
      const options = Object.fromEntries(forms.filter((_, at) => set & 1 << at));
      const found = new Intl.DateTimeFormat(locale, { hourCycle: 'h12', ...options }).formatToParts(0).map(({ type }) => type);
      const asked = Object.keys(options).map((name) => name === 'fractionalSecondDigits' ? 'fractionalSecond' : name);
      const isLost = asked.some((name) => found.filter((type) => type === name).length !== 1);
      const isJoined = found.some((type, at) => at > 0 && type !== 'literal' && found[at - 1] !== 'literal');
      if (isLost || isJoined) wrong.push([options, found]);
    }
    return [end - first, wrong];";

#[tokio::test]
async fn keywords_of_a_language_tag() {
    cases![
        (
            "return ['en-u-hc-h23', 'en-US-u-hc-h11-x-foo', 'en-u-nu-latn-hc-h24-ca-gregory', 'ru-u-hc-h12-hc-h23', 'en-u-note-hc-h23-co-phonebk', 'EN-U-HC-H23', 'en-u-hc', 'en-u-hc-h99', 'en-u-ca-buddhist-nu-arab', 'en-x-u-hc-h23', 'de-u-hc-h23'].map((locale) => { const { locale: found, hourCycle, calendar, numberingSystem } = resolved(locale, { hour: 'numeric' }); return [found, hourCycle, calendar, numberingSystem].join(' '); });",
            json!([
                "en-u-hc-h23 h23 gregory latn",
                "en-u-hc-h11 h11 gregory latn",
                "en-u-ca-gregory-hc-h24-nu-latn h24 gregory latn",
                "ru-u-hc-h12 h12 gregory latn",
                "en-u-hc-h23 h23 gregory latn",
                "en-u-hc-h23 h23 gregory latn",
                "en h12 gregory latn",
                "en h12 gregory latn",
                "en h12 gregory latn",
                "en h12 gregory latn",
                "en-SE h23 gregory latn"
            ])
        ),
        (
            "return [{ hourCycle: 'h24' }, { hourCycle: 'h23' }, { hour12: true }, { hour12: false }].map((options) => { const { locale, hourCycle } = resolved('en-u-hc-h23', { hour: 'numeric', ...options }); return `${locale} ${hourCycle}`; });",
            json!(["en h24", "en-u-hc-h23 h23", "en h12", "en h23"])
        ),
        (
            "return [new Date(0).toLocaleTimeString('en-u-hc-h23'), new Date(0).toLocaleTimeString('ru-u-hc-h12', { timeStyle: 'short' })];",
            json!(["00:00:00", "12:00 AM"])
        ),
    ];
}

#[tokio::test]
async fn the_order_of_texts() {
    cases![
        (
            "const sorted = (text, locale) => text.split(' ').sort((a, b) => a.localeCompare(b, locale)).join(' ');
             return [sorted('жук ель Ёж ёж Еж еж яма Яма z A a 2 10 й и', 'ru'), sorted('ы і ш қ к ө о ү ұ у ң н һ х ғ г ә а я Қ', 'kk-KZ'), sorted('і и й ү ұ', 'ru-RU')];",
            json!([
                "10 2 еж Еж ёж Ёж ель жук и й яма Яма a A z",
                "а ә г ғ к қ Қ н ң о ө у ұ ү х һ ш ы і я",
                "и і й ү ұ"
            ])
        ),
        (
            "return [['е', 'ё'], ['ё', 'ж'], ['ёж', 'ель'], ['ЁЖ', 'ёж'], ['a b', 'ab'], ['é', 'e'], ['e\\u0301', 'é'], ['', 'а'], ['а', 'аа'], ['а', 'а'], ['я', 'a'], ['№', 'ё']].map(([one, other]) => [one.localeCompare(other, 'ru'), other.localeCompare(one, ['kk'])].join());",
            json!(["-1,1", "-1,1", "-1,1", "1,-1", "-1,1", "1,-1", "0,0", "-1,1", "-1,1", "0,0", "-1,1", "1,-1"])
        ),
        // Code units, without a language and in English.
        (
            "return [undefined, 'en', 'en-GB', []].map((locales) => ['b', 'a', 'B', 'e\\u0301', 'é'].sort((a, b) => a.localeCompare(b, locales, {})).join(' ')).concat(['b', 'a', 'B'].sort((a, b) => a.localeCompare(b)).join(' '));",
            json!(["B a b e\u{301} é", "B a b e\u{301} é", "B a b e\u{301} é", "B a b e\u{301} é", "B a b"])
        ),
        (
            "const told = (...given) => { try { return 'a'.localeCompare('b', ...given) } catch (error) { return `${error.name}: ${error.message}` } };
             return [told('de'), told(['ru', 'de']), told('ru', { numeric: true }), told(undefined, { sensitivity: 'base' }), told('en', { ignorePunctuation: true }), told('kk', { caseFirst: 'upper' }), told('en-u-kn'), told('ru-u-kf-upper'), told('en', { usage: 'search' }), told('x'), told(null), told('en', { sensitivity: 'x' }), told('ru', { numeric: false, sensitivity: 'variant', caseFirst: 'false', ignorePunctuation: false })];",
            json!([
                "TypeError: localeCompare with the language de needs Intl.Collator, which is not available",
                -1,
                "TypeError: localeCompare with numeric needs Intl.Collator, which is not available",
                "TypeError: localeCompare with sensitivity: 'base' needs Intl.Collator, which is not available",
                "TypeError: localeCompare with ignorePunctuation needs Intl.Collator, which is not available",
                "TypeError: localeCompare with caseFirst: 'upper' needs Intl.Collator, which is not available",
                "TypeError: localeCompare with numeric needs Intl.Collator, which is not available",
                "TypeError: localeCompare with caseFirst: 'upper' needs Intl.Collator, which is not available",
                "TypeError: localeCompare with usage: 'search' needs Intl.Collator, which is not available",
                "RangeError: x is not a language tag",
                "TypeError: locales must be text or a list of it",
                "RangeError: sensitivity cannot be x",
                -1
            ])
        ),
        (
            "return [throws(() => String.prototype.localeCompare.call(null, 'a')), throws(() => String.prototype.localeCompare.call(undefined, 'a', 'ru')), String.prototype.localeCompare.call(1, 2, 'ru'), 'undefined'.localeCompare(), String.prototype.localeCompare.length, String.prototype.toLocaleUpperCase.length, Object.keys(String.prototype)];",
            json!(["TypeError", "TypeError", -1, 0, 1, 0, []])
        ),
    ];
}

#[tokio::test]
async fn upper_and_lower_case_in_a_language() {
    cases![
        (
            "return ['iß'.toLocaleUpperCase(), 'ЁI'.toLocaleLowerCase(), 'iß'.toLocaleUpperCase('de'), 'I'.toLocaleLowerCase(['en', 'tr']), 'қ'.toLocaleUpperCase('kk'), 'i'.toLocaleUpperCase([])];",
            json!(["ISS", "ёi", "ISS", "i", "Қ", "I"])
        ),
        (
            "const out = []; for (const [name, locales] of [['toLocaleUpperCase', 'tr'], ['toLocaleLowerCase', 'az-Latn-AZ'], ['toLocaleUpperCase', ['LT', 'en']], ['toLocaleUpperCase', '_']]) try { out.push('i'[name](locales)) } catch (error) { out.push(`${error.name}: ${error.message}`) } return out;",
            json!([
                "TypeError: toLocaleUpperCase for the language tr is not available",
                "TypeError: toLocaleLowerCase for the language az is not available",
                "TypeError: toLocaleUpperCase for the language lt is not available",
                "RangeError: _ is not a language tag"
            ])
        ),
    ];
}
