//! Numbers, percentages and amounts of money (ECMA-402, section 15).

use fixed_decimal::{Decimal, Sign};
use icu_decimal::{
    DecimalFormatter,
    options::{DecimalFormatterOptions, GroupingStrategy},
};
use icu_experimental::dimension::{
    currency::{
        CurrencyType,
        formatter::CurrencyFormatter,
        options::{CurrencyFormatterOptions, CurrencyUsage},
    },
    percent::{formatter::PercentFormatter, options::PercentFormatterOptions},
};
use icu_locale_core::{Locale, extensions::unicode::Value};

use super::{Part, digits::Digits, parse_locale, parse_number};

/// Text around the digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Style {
    Decimal,
    Percent,
    Currency { code: String, display: CurrencyDisplay, is_accounting: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CurrencyDisplay {
    Code,
    Symbol,
    NarrowSymbol,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignDisplay {
    Auto,
    Never,
    Always,
    ExceptZero,
    Negative,
}

/// Settings of a number format.
#[derive(Debug, Clone)]
pub(crate) struct NumberStyle {
    pub(crate) digits: Digits,
    pub(crate) style: Style,
    pub(crate) grouping: GroupingStrategy,
    pub(crate) sign: SignDisplay,
}

impl NumberStyle {
    /// Parses the settings of a formatter of `js/numbers/10_number_format.js`.
    pub(crate) fn parse(settings: &[String]) -> Option<Self> {
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

/// Parses a grouping of ECMA-402.
fn grouping_strategy(name: &str) -> Option<GroupingStrategy> {
    Some(match name {
        "auto" => GroupingStrategy::Auto,
        "always" => GroupingStrategy::Always,
        "min2" => GroupingStrategy::Min2,
        "false" => GroupingStrategy::Never,
        _ => return None,
    })
}

/// Writes a number, given as JavaScript does: `1e+21`, `NaN`, `-Infinity`. Returns `None` if the tag or the number is none.
pub(crate) fn number_parts(tag: &str, style: &NumberStyle, text: &str) -> Option<Vec<Part>> {
    let locale = parse_locale(tag)?;
    let mut options = DecimalFormatterOptions::default();
    options.grouping_strategy = Some(style.grouping);
    let formatter = DecimalFormatter::try_new((&locale).into(), options).ok()?;
    let (is_negative, mut core) = match text {
        "NaN" => (false, vec![("nan", not_a_number(&locale).to_owned())]),
        "Infinity" | "-Infinity" => (text.starts_with('-'), vec![("infinity", "∞".to_owned())]),
        _ => {
            let mut number = parse_number(text)?;
            if style.style == Style::Percent {
                number.multiply_pow10(2);
            }
            let number = style.digits.apply(number);
            let is_negative = number.sign() == Sign::Negative;
            (is_negative, digit_parts(&formatter, &number)?)
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
fn digit_parts(formatter: &DecimalFormatter, number: &Decimal) -> Option<Vec<Part>> {
    let mut number = number.clone();
    number.set_sign(Sign::None);
    let text = formatter.format(&number).to_string();
    let fraction_length =
        usize::try_from(-number.absolute.magnitude_range().start().min(&0)).unwrap_or_default();
    // Digits are ASCII.
    let (whole, fraction) = text.split_at_checked(text.len().checked_sub(fraction_length)?)?;
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
    Some(parts)
}

/// Returns the parts before and after the digits.
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
pub(crate) fn currency_digits(code: &str) -> i16 {
    let amount = parse_locale("en").and_then(|locale| {
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

/// Returns the text for what is no number. CLDR has it, ICU4X does not.
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
