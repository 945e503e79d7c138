//! Clauses: the parts of a sentence that have a verb each.

use kernel::Locale;

use super::lexicon::{Concept, Item};

/// The items of a clause, without separators.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Clause(pub(super) Vec<Item>);

/// Splits a sentence at commas and words for "and", so that each clause has one verb. What has none belongs to the verb before
/// it or, in Kazakh, where the verb comes last, to the one after it.
pub(super) fn split_clauses(items: &[Item], locale: Locale) -> Vec<Clause> {
    let mut clauses: Vec<Vec<Item>> = Vec::new();
    let mut is_open = false;
    for segment in items.split(|item| *item == Item::Separator).filter(|segment| !segment.is_empty()) {
        let has_verb = segment.iter().any(|item| matches!(item, Item::Concept(concept) if concept.is_verb()));
        let joins = match locale {
            Locale::Kk => is_open,
            Locale::En | Locale::Ru => is_open && !has_verb,
        };
        match clauses.last_mut().filter(|_| joins) {
            Some(clause) => clause.extend_from_slice(segment),
            None => clauses.push(segment.to_vec()),
        }
        is_open = match locale {
            Locale::Kk => !has_verb,
            Locale::En | Locale::Ru => is_open || has_verb || starts_schedule(segment),
        };
    }
    clauses.into_iter().map(Clause).collect()
}

/// A schedule may stand without a verb: "every Monday and Friday at 9".
fn starts_schedule(segment: &[Item]) -> bool {
    segment.contains(&Item::Concept(Concept::Every))
        || segment.iter().any(|item| matches!(item, Item::Concept(Concept::Weekday(_))))
}
