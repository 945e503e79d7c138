//! Forms of words by number (ECMA-402, section 16).

use fixed_decimal::Sign;
use icu_plurals::{PluralCategory, PluralOperands, PluralRuleType, PluralRules};

use super::{digits::Digits, parse_locale, parse_number};

/// Returns the plural category of a number as it would be written.
pub(crate) fn plural_category(
    tag: &str,
    is_ordinal: bool,
    digits: &Digits,
    text: &str,
) -> Option<&'static str> {
    let rules = plural_rules(tag, is_ordinal)?;
    // What is not finite has no operands.
    let Some(number) = parse_number(text) else { return Some("other") };
    let mut number = digits.apply(number);
    number.set_sign(Sign::None);
    Some(category_name(rules.category_for(PluralOperands::from(&number))))
}

/// Returns the categories that a language has, in the order of ECMA-402.
pub(crate) fn plural_categories(tag: &str, is_ordinal: bool) -> Option<Vec<&'static str>> {
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
    PluralRules::try_new((&parse_locale(tag)?).into(), kind.into()).ok()
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
