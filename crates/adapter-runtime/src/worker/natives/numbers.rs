//! Numbers, plurals, lists and relative times in a language, as CLDR has them (ECMA-402, sections 13 and 15 to 17).

use std::fmt;

use fixed_decimal::{Decimal, Sign, SignedRoundingMode, UnsignedRoundingMode};
use icu_decimal::{
    DecimalFormatter,
    options::{DecimalFormatterOptions, GroupingStrategy},
};
use icu_experimental::{
    dimension::{
        currency::{
            CurrencyType,
            formatter::CurrencyFormatter,
            options::{CurrencyFormatterOptions, CurrencyUsage},
        },
        percent::{formatter::PercentFormatter, options::PercentFormatterOptions},
    },
    relativetime::{RelativeTimeFormatter, RelativeTimeFormatterOptions, options::Numeric},
};
use icu_list::{
    ListFormatter,
    options::{ListFormatterOptions, ListLength},
};
use icu_locale_core::{Locale, extensions::unicode::Value};
use icu_plurals::{PluralCategory, PluralOperands, PluralRuleType, PluralRules};
use writeable::{PartsWrite, Writeable as _};

/// Digits of a number, as `SetNumberFormatDigitOptions` of ECMA-402 (section 15.1.3) resolves them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Digits {
    /// Digits before the separator, at least.
    pub(super) min_integer: i16,
    pub(super) limits: DigitLimits,
    pub(super) rounding: SignedRoundingMode,
    /// True if a fraction of zeros is left out.
    pub(super) strips_zeros: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum DigitLimits {
    Fraction { min: i16, max: i16 },
    Significant { min: i16, max: i16 },
}

/// What stands around the digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Style {
    Decimal,
    Percent,
    Currency { code: String, display: CurrencyDisplay, is_accounting: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CurrencyDisplay {
    Code,
    Symbol,
    NarrowSymbol,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignDisplay {
    Auto,
    Never,
    Always,
    ExceptZero,
    Negative,
}

/// How numbers are written.
#[derive(Debug, Clone)]
pub(super) struct NumberStyle {
    pub(super) digits: Digits,
    pub(super) style: Style,
    pub(super) grouping: GroupingStrategy,
    pub(super) sign: SignDisplay,
}

impl Digits {
    /// Parses what `spelled` of `js/numbers/00_options.js` gives.
    pub(super) fn parse(settings: &[String]) -> Option<Self> {
        let [min_integer, kind, min, max, rounding, strips_zeros] = settings else { return None };
        let (min, max) = (min.parse().ok()?, max.parse().ok()?);
        Some(Self {
            min_integer: min_integer.parse().ok()?,
            limits: match kind.as_str() {
                "significant" => DigitLimits::Significant { min, max },
                _ => DigitLimits::Fraction { min, max },
            },
            rounding: rounding_mode(rounding)?,
            strips_zeros: strips_zeros == "true",
        })
    }
}

impl NumberStyle {
    /// Parses the settings of a formatter of `js/numbers/10_number_format.js`.
    pub(super) fn parse(settings: &[String]) -> Option<Self> {
        let (format, digits) = settings.split_at_checked(6)?;
        let [style, code, display, currency_sign, grouping, sign] = format else { return None };
        Some(Self {
            digits: Digits::parse(digits)?,
            style: match style.as_str() {
                "percent" => Style::Percent,
                "currency" => Style::Currency {
                    code: code.clone(),
                    display: match display.as_str() {
                        "code" => CurrencyDisplay::Code,
                        "narrowSymbol" => CurrencyDisplay::NarrowSymbol,
                        _ => CurrencyDisplay::Symbol,
                    },
                    is_accounting: currency_sign == "accounting",
                },
                _ => Style::Decimal,
            },
            grouping: grouping_strategy(grouping)?,
            sign: match sign.as_str() {
                "never" => SignDisplay::Never,
                "always" => SignDisplay::Always,
                "exceptZero" => SignDisplay::ExceptZero,
                "negative" => SignDisplay::Negative,
                _ => SignDisplay::Auto,
            },
        })
    }
}

/// A part of a text, by its name in ECMA-402.
pub(super) type Part = (&'static str, String);

/// Parses a rounding mode of ECMA-402.
pub(super) fn rounding_mode(name: &str) -> Option<SignedRoundingMode> {
    Some(match name {
        "ceil" => SignedRoundingMode::Ceil,
        "floor" => SignedRoundingMode::Floor,
        "expand" => SignedRoundingMode::Unsigned(UnsignedRoundingMode::Expand),
        "trunc" => SignedRoundingMode::Unsigned(UnsignedRoundingMode::Trunc),
        "halfCeil" => SignedRoundingMode::HalfCeil,
        "halfFloor" => SignedRoundingMode::HalfFloor,
        "halfExpand" => SignedRoundingMode::Unsigned(UnsignedRoundingMode::HalfExpand),
        "halfTrunc" => SignedRoundingMode::Unsigned(UnsignedRoundingMode::HalfTrunc),
        "halfEven" => SignedRoundingMode::Unsigned(UnsignedRoundingMode::HalfEven),
        _ => return None,
    })
}

/// Parses a grouping of ECMA-402.
pub(super) fn grouping_strategy(name: &str) -> Option<GroupingStrategy> {
    Some(match name {
        "auto" => GroupingStrategy::Auto,
        "always" => GroupingStrategy::Always,
        "min2" => GroupingStrategy::Min2,
        "false" => GroupingStrategy::Never,
        _ => return None,
    })
}

/// Parses a language tag. Digits are Latin, whatever the language prefers.
fn locale(tag: &str) -> Option<Locale> {
    format!("{tag}-u-nu-latn").parse().ok()
}

impl Digits {
    /// Rounds a number and pads it with zeros.
    fn apply(&self, mut number: Decimal) -> Decimal {
        let end = match self.limits {
            DigitLimits::Fraction { min, max } => {
                number.round_with_mode(-max, self.rounding);
                number.absolute.trim_end();
                -min
            }
            DigitLimits::Significant { min, max } => {
                if !number.absolute.is_zero() {
                    number.round_with_mode(
                        number.absolute.nonzero_magnitude_start() - (max - 1),
                        self.rounding,
                    );
                }
                number.absolute.trim_end();
                let start =
                    if number.absolute.is_zero() { 0 } else { number.absolute.nonzero_magnitude_start() };
                start - (min - 1)
            }
        };
        let is_whole = number.absolute.nonzero_magnitude_end() >= 0;
        number.absolute.pad_end(if self.strips_zeros && is_whole { 0 } else { end.min(0) });
        number.absolute.trim_start();
        number.absolute.pad_start(self.min_integer);
        number
    }
}

/// Writes a number, given as JavaScript does: `1e+21`, `NaN`, `-Infinity`. Returns `None` if the tag or the number is none.
pub(super) fn number_parts(tag: &str, style: &NumberStyle, text: &str) -> Option<Vec<Part>> {
    let locale = locale(tag)?;
    let mut options = DecimalFormatterOptions::default();
    options.grouping_strategy = Some(style.grouping);
    let formatter = DecimalFormatter::try_new((&locale).into(), options).ok()?;
    let (is_negative, mut core) = match text {
        "NaN" => (false, vec![("nan", not_a_number(&locale).to_owned())]),
        "Infinity" | "-Infinity" => (text.starts_with('-'), vec![("infinity", "∞".to_owned())]),
        _ => {
            let mut number: Decimal = text.replace("e+", "e").parse().ok()?;
            if style.style == Style::Percent {
                number.multiply_pow10(2);
            }
            let number = style.digits.apply(number);
            let is_negative = number.sign() == Sign::Negative;
            (is_negative, digit_parts(&formatter, &number))
        }
    };
    let is_zero = core.iter().all(|(kind, text)| match *kind {
        "integer" | "fraction" => text.bytes().all(|digit| digit == b'0'),
        "nan" => true,
        kind => kind != "infinity",
    });
    let sign = shown_sign(style.sign, is_negative, is_zero);
    let (mut prefix, mut suffix) = affixes(&locale, &formatter, &style.style, sign)?;
    let is_digits = core.iter().any(|(kind, _)| *kind == "integer");
    if !is_digits && let Style::Currency { .. } = style.style {
        remove_inserted_space(&locale, &formatter, &mut prefix, &mut suffix);
    }
    let mut parts = prefix;
    parts.append(&mut core);
    parts.extend(suffix);
    Some(parts)
}

/// The sign that is written (`GetNumberFormatPattern`).
fn shown_sign(display: SignDisplay, is_negative: bool, is_zero: bool) -> Sign {
    let by_value = if is_negative { Sign::Negative } else { Sign::Positive };
    match display {
        SignDisplay::Auto if is_negative => Sign::Negative,
        SignDisplay::Negative if is_negative && !is_zero => Sign::Negative,
        SignDisplay::Always => by_value,
        SignDisplay::ExceptZero if !is_zero => by_value,
        SignDisplay::Auto | SignDisplay::Negative | SignDisplay::ExceptZero | SignDisplay::Never => {
            Sign::None
        }
    }
}

/// Splits the digits of a number, without its sign.
fn digit_parts(formatter: &DecimalFormatter, number: &Decimal) -> Vec<Part> {
    let mut number = number.clone();
    number.set_sign(Sign::None);
    let text = formatter.format(&number).to_string();
    let fraction_length =
        usize::try_from(-number.absolute.magnitude_range().start().min(&0)).unwrap_or_default();
    // Digits are ASCII.
    let (whole, fraction) = text.split_at(text.len() - fraction_length);
    let integer = whole.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let separator = if fraction.is_empty() { "" } else { &whole[integer.len()..] };
    let mut parts = Vec::new();
    let mut rest = integer;
    while !rest.is_empty() {
        let is_digit = rest.starts_with(|letter: char| letter.is_ascii_digit());
        let length = rest.find(|letter: char| letter.is_ascii_digit() != is_digit).unwrap_or(rest.len());
        parts.push((if is_digit { "integer" } else { "group" }, rest[..length].to_owned()));
        rest = &rest[length..];
    }
    if !fraction.is_empty() {
        parts.push(("decimal", separator.to_owned()));
        parts.push(("fraction", fraction.to_owned()));
    }
    parts
}

/// Returns what stands before and after the digits.
fn affixes(
    locale: &Locale,
    formatter: &DecimalFormatter,
    style: &Style,
    sign: Sign,
) -> Option<(Vec<Part>, Vec<Part>)> {
    let minus = sign_text(formatter, Sign::Negative);
    let plus = sign_text(formatter, Sign::Positive);
    let mut probe = Decimal::from(1);
    // A pattern for positive numbers with a sign is the one for negative numbers, with another sign.
    if sign != Sign::None {
        probe.set_sign(Sign::Negative);
    }
    let usage = |is_accounting: bool| {
        let is_accounting = is_accounting && sign != Sign::Positive;
        CurrencyFormatterOptions::from(if is_accounting {
            CurrencyUsage::Accounting
        } else {
            CurrencyUsage::Standard
        })
    };
    let whole = match style {
        Style::Decimal => formatter.format(&probe).to_string(),
        Style::Percent => {
            let options = PercentFormatterOptions::default();
            PercentFormatter::try_new(locale.into(), options).ok()?.format(&probe).to_string()
        }
        Style::Currency { code, display, is_accounting } => {
            currency_formatter(locale, code, *display, usage(*is_accounting))?
                .format_fixed_decimal(&probe)
                .to_string()
        }
    };
    let whole = if sign == Sign::Positive { whole.replacen(&minus, &plus, 1) } else { whole };
    let is_digit = |letter: char| letter.is_ascii_digit();
    let (start, end) = (whole.find(is_digit)?, whole.rfind(is_digit)? + 1);
    let split = |text: &str| split_affix(text, &minus, &plus, style);
    Some((split(&whole[..start]), split(&whole[end..])))
}

/// Removes the space between a code and digits where there are no digits, unless the pattern of the language has one.
fn remove_inserted_space(
    locale: &Locale,
    formatter: &DecimalFormatter,
    prefix: &mut Vec<Part>,
    suffix: &mut Vec<Part>,
) {
    let euro =
        Style::Currency { code: "EUR".to_owned(), display: CurrencyDisplay::Symbol, is_accounting: false };
    let Some((before, after)) = affixes(locale, formatter, &euro, Sign::None) else { return };
    let is_space = |part: &Part| part.0 == "literal" && part.1 == "\u{a0}";
    if prefix.last().is_some_and(is_space) && !before.last().is_some_and(is_space) {
        prefix.pop();
    }
    if suffix.first().is_some_and(is_space) && !after.first().is_some_and(is_space) {
        suffix.remove(0);
    }
}

fn currency_formatter(
    locale: &Locale,
    code: &str,
    display: CurrencyDisplay,
    options: CurrencyFormatterOptions,
) -> Option<CurrencyFormatter<DecimalFormatter>> {
    let currency = CurrencyType::try_from(&Value::try_from_str(&code.to_ascii_lowercase()).ok()?).ok()?;
    let make = match display {
        CurrencyDisplay::Code => CurrencyFormatter::try_new_code,
        CurrencyDisplay::Symbol => CurrencyFormatter::try_new_symbol,
        CurrencyDisplay::NarrowSymbol => CurrencyFormatter::try_new_symbol_narrow,
    };
    make(locale.into(), currency, options).ok()
}

/// Returns the digits after the separator that amounts of a currency have by default; 2 for codes that nobody uses.
pub(super) fn currency_digits(code: &str) -> i16 {
    let amount = locale("en").and_then(|locale| {
        let formatter =
            currency_formatter(&locale, code, CurrencyDisplay::Code, CurrencyFormatterOptions::default())?;
        Some(formatter.format_fixed_decimal(&Decimal::from(1)).to_string())
    });
    let Some(amount) = amount else { return 2 };
    amount.split_once('.').map_or(0, |(_, fraction)| i16::try_from(fraction.len()).unwrap_or(2))
}

fn sign_text(formatter: &DecimalFormatter, sign: Sign) -> String {
    let mut one = Decimal::from(1);
    one.set_sign(sign);
    formatter.format(&one).to_string().replace('1', "")
}

/// Splits what stands before or after the digits.
fn split_affix(affix: &str, minus: &str, plus: &str, style: &Style) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut rest = affix;
    while let Some(letter) = rest.chars().next() {
        let signs = [("minusSign", minus), ("plusSign", plus)];
        let sign = signs.into_iter().find(|(_, sign)| !sign.is_empty() && rest.starts_with(sign));
        let (kind, length) = match sign {
            Some((kind, sign)) => (kind, sign.len()),
            None => {
                let is_literal = letter.is_whitespace() || "()\u{200e}\u{200f}\u{61c}".contains(letter);
                let kind = match style {
                    _ if is_literal => "literal",
                    Style::Percent => "percentSign",
                    Style::Currency { .. } => "currency",
                    Style::Decimal => "literal",
                };
                (kind, letter.len_utf8())
            }
        };
        let (text, after) = rest.split_at(length);
        match parts.last_mut() {
            Some((last, joined)) if *last == kind => joined.push_str(text),
            _ => parts.push((kind, text.to_owned())),
        }
        rest = after;
    }
    parts
}

/// How a language writes that something is no number. CLDR has it, ICU4X does not.
fn not_a_number(locale: &Locale) -> &'static str {
    match locale.id.language.as_str() {
        "am" => "በቁጥር\u{a0}ሊገለጽ\u{a0}የማይችል",
        "ast" => "ND",
        "fi" => "epäluku",
        "ga" => "Nuimh",
        "hy" => "ՈչԹ",
        "ka" => "არ\u{a0}არის\u{a0}რიცხვი",
        "kk" => "сан\u{a0}емес",
        "ky" => "сан\u{a0}эмес",
        "lo" => "ບໍ່\u{200b}ແມ່ນ\u{200b}ໂຕ\u{200b}ເລກ",
        "lv" => "NS",
        "ru" => "не\u{a0}число",
        "so" => "MaL",
        "tk" => "san\u{a0}däl",
        "to" => "TF",
        "uz" => "son\u{a0}emas",
        "yue" => "非數值",
        "zh" if locale.id.region.is_some_and(|region| matches!(region.as_str(), "HK" | "MO" | "TW")) => {
            "非數值"
        }
        _ => "NaN",
    }
}

/// Returns the plural category of a number as it would be written.
pub(super) fn plural_category(
    tag: &str,
    is_ordinal: bool,
    digits: &Digits,
    text: &str,
) -> Option<&'static str> {
    let rules = plural_rules(tag, is_ordinal)?;
    // What is not finite has no operands.
    let Ok(number) = text.replace("e+", "e").parse::<Decimal>() else { return Some("other") };
    let mut number = digits.apply(number);
    number.set_sign(Sign::None);
    Some(category_name(rules.category_for(PluralOperands::from(&number))))
}

/// Returns the categories that a language has, in the order of ECMA-402.
pub(super) fn plural_categories(tag: &str, is_ordinal: bool) -> Option<Vec<&'static str>> {
    let rules = plural_rules(tag, is_ordinal)?;
    let has: Vec<_> = rules.categories().map(category_name).collect();
    Some(
        ["zero", "one", "two", "few", "many", "other"]
            .into_iter()
            .filter(|name| has.contains(name))
            .collect(),
    )
}

fn plural_rules(tag: &str, is_ordinal: bool) -> Option<PluralRules> {
    let kind = if is_ordinal { PluralRuleType::Ordinal } else { PluralRuleType::Cardinal };
    PluralRules::try_new((&locale(tag)?).into(), kind.into()).ok()
}

fn category_name(category: PluralCategory) -> &'static str {
    match category {
        PluralCategory::Zero => "zero",
        PluralCategory::One => "one",
        PluralCategory::Two => "two",
        PluralCategory::Few => "few",
        PluralCategory::Many => "many",
        PluralCategory::Other => "other",
    }
}

/// Returns what stands before the first of the items, between each two and after the last one.
pub(super) fn list_separators(tag: &str, kind: &str, style: &str, items: &[String]) -> Option<Vec<String>> {
    let options = ListFormatterOptions::default().with_length(match style {
        "long" => ListLength::Wide,
        "short" => ListLength::Short,
        _ => ListLength::Narrow,
    });
    let locale = locale(tag)?;
    let formatter = match kind {
        "conjunction" => ListFormatter::try_new_and((&locale).into(), options),
        "disjunction" => ListFormatter::try_new_or((&locale).into(), options),
        _ => ListFormatter::try_new_unit((&locale).into(), options),
    };
    let mut separators = Separators { texts: vec![String::new()], is_in_item: false };
    formatter.ok()?.format(items.iter()).write_to_parts(&mut separators).ok()?;
    Some(separators.texts)
}

/// Collects what stands between the items of a list.
struct Separators {
    texts: Vec<String>,
    is_in_item: bool,
}

impl fmt::Write for Separators {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if !self.is_in_item
            && let Some(last) = self.texts.last_mut()
        {
            last.push_str(text);
        }
        Ok(())
    }
}

impl PartsWrite for Separators {
    type SubPartsWrite = Self;

    fn with_part(
        &mut self,
        part: writeable::Part,
        mut write: impl FnMut(&mut Self::SubPartsWrite) -> fmt::Result,
    ) -> fmt::Result {
        if part != icu_list::parts::ELEMENT {
            return write(self);
        }
        self.is_in_item = true;
        write(self)?;
        self.is_in_item = false;
        self.texts.push(String::new());
        Ok(())
    }
}

/// Writes a time relative to now.
pub(super) fn relative_time(tag: &str, style: &str, is_auto: bool, unit: &str, text: &str) -> Option<String> {
    let locale = locale(tag)?;
    let numeric = if is_auto { Numeric::Auto } else { Numeric::Always };
    let options = RelativeTimeFormatterOptions::default().with_numeric(numeric);
    macro_rules! formatter {
        ($($style:literal $unit:literal $make:ident,)+) => {
            match (style, unit) {
                $(($style, $unit) => RelativeTimeFormatter::$make((&locale).into(), options),)+
                _ => return None,
            }
        };
    }
    let formatter = formatter! {
        "long" "second" try_new_long_second, "long" "minute" try_new_long_minute, "long" "hour" try_new_long_hour,
        "long" "day" try_new_long_day, "long" "week" try_new_long_week, "long" "month" try_new_long_month,
        "long" "quarter" try_new_long_quarter, "long" "year" try_new_long_year,
        "short" "second" try_new_short_second, "short" "minute" try_new_short_minute, "short" "hour" try_new_short_hour,
        "short" "day" try_new_short_day, "short" "week" try_new_short_week, "short" "month" try_new_short_month,
        "short" "quarter" try_new_short_quarter, "short" "year" try_new_short_year,
        "narrow" "second" try_new_narrow_second, "narrow" "minute" try_new_narrow_minute,
        "narrow" "hour" try_new_narrow_hour, "narrow" "day" try_new_narrow_day, "narrow" "week" try_new_narrow_week,
        "narrow" "month" try_new_narrow_month, "narrow" "quarter" try_new_narrow_quarter,
        "narrow" "year" try_new_narrow_year,
    };
    let mut number: Decimal = text.replace("e+", "e").parse().ok()?;
    // Nothing is neither before nor after now, but in numbers it may have been.
    if is_auto && number.absolute.is_zero() {
        number.set_sign(Sign::None);
    }
    number.round_with_mode(-3, SignedRoundingMode::Unsigned(UnsignedRoundingMode::HalfExpand));
    number.absolute.trim_end();
    Some(formatter.ok()?.format(number).to_string())
}
