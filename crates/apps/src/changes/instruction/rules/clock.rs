//! Times of day that take more than one item.

use super::{
    super::tokens::{Token, to_24_hours},
    Concept, Item,
};

/// Joins a time of day into one item: "at 9", "9:30 in the evening". A word for "at" that no time follows is dropped.
pub(super) fn join_clocks(items: &[Item]) -> Vec<Item> {
    let mut joined = Vec::with_capacity(items.len());
    let mut at = 0;
    while let Some(item) = items.get(at) {
        match read_clock(&items[at..]) {
            Some((clock, length)) => {
                joined.push(clock);
                at += length;
            }
            None => {
                if *item != Item::Concept(Concept::At) {
                    joined.push(item.clone());
                }
                at += 1;
            }
        }
    }
    joined
}

/// Reads a time of day at the start; returns it and the number of its items.
fn read_clock(items: &[Item]) -> Option<(Item, usize)> {
    let is = |at: usize, concept: Concept| items.get(at) == Some(&Item::Concept(concept));
    let mut at = 0;
    let (mut has_mark, mut half) = (false, None);
    while at < 3 {
        match items.get(at) {
            Some(Item::Concept(Concept::At | Concept::Hour)) => has_mark = true,
            Some(Item::Concept(Concept::Morning)) => half = Some(false),
            Some(Item::Concept(Concept::Evening)) => half = Some(true),
            _ => break,
        }
        at += 1;
    }
    let (hour, minute) = match items.get(at)? {
        Item::Token(Token::Clock(hour, minute)) => (*hour, *minute),
        // A number alone may be anything.
        Item::Token(Token::Number(number))
            if number.fract() == 0.0
                && (0.0..24.0).contains(number)
                && (has_mark
                    || half.is_some()
                    || is(at + 1, Concept::Morning)
                    || is(at + 1, Concept::Evening))
                && !is(at + 1, Concept::Minute) =>
        {
            (*number as u32, 0)
        }
        _ => return None,
    };
    at += 1;
    // Russian: "в 9 часов утра".
    if has_mark && is(at, Concept::Hour) {
        at += 1;
    }
    if half.is_none() && (is(at, Concept::Morning) || is(at, Concept::Evening)) {
        half = Some(is(at, Concept::Evening));
        at += 1;
    }
    let hour = match half {
        None => hour,
        Some(after_noon) => to_24_hours(hour, after_noon)?,
    };
    Some((Item::Token(Token::Clock(hour, minute)), at))
}
