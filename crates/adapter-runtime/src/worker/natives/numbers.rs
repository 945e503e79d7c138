//! Numbers, plurals, lists and relative times in a language, as CLDR has them (ECMA-402, sections 13 and 15 to 17). Each function
//! returns `None` for a language tag or a number that is none.

mod digits;
mod format;
mod lists;
mod plurals;
mod relative_times;

use fixed_decimal::Decimal;
use icu_locale_core::Locale;

pub(super) use self::{
    digits::Digits,
    format::{NumberStyle, currency_digits, number_parts},
    lists::list_separators,
    plurals::{plural_categories, plural_category},
    relative_times::relative_time,
};

#[cfg(test)]
mod tests;

/// A part of a text, by its name in ECMA-402.
type Part = (&'static str, String);

/// Returns true if a language tag, without extensions, is one that the other functions take.
pub(super) fn is_language_tag(tag: &str) -> bool {
    parse_locale(tag).is_some()
}

/// Parses a language tag. Digits are Latin, whatever the language prefers.
fn parse_locale(tag: &str) -> Option<Locale> {
    format!("{tag}-u-nu-latn").parse().ok()
}

/// Parses a number as JavaScript writes it, such as `1e+21`; `None` if it is not finite.
fn parse_number(text: &str) -> Option<Decimal> {
    text.replace("e+", "e").parse().ok()
}
