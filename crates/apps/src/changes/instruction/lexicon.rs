//! Words of the grammar, and their meanings.

mod english;
mod kazakh;
mod russian;

use std::{collections::HashMap, sync::LazyLock};

use kernel::Locale;

use super::tokens::Token;

/// A meaning that a rule knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Concept {
    // Verbs.
    Allow,
    Forbid,
    Call,
    Read,
    Write,
    Send,
    Use,
    Start,
    Rename,
    Describe,
    Set,
    Share,
    Retry,
    NeverRetry,
    Save,
    // Nouns.
    Host,
    Connection,
    Table,
    Project,
    Schedule,
    Zone,
    Name,
    Description,
    Private,
    Team,
    Workspace,
    Budget,
    Ai,
    Times,
    Dollar,
    // Time.
    Every,
    At,
    Morning,
    Evening,
    Minute,
    Hour,
    Day,
    Month,
    Weekdays,
    /// Words for all, some or none, which no rule reads.
    Quantity,
    /// Day of the week as in crontab(5); 0 is Sunday.
    Weekday(u8),
}

impl Concept {
    pub(super) fn is_verb(self) -> bool {
        matches!(
            self,
            Self::Allow
                | Self::Forbid
                | Self::Call
                | Self::Read
                | Self::Write
                | Self::Send
                | Self::Use
                | Self::Start
                | Self::Rename
                | Self::Describe
                | Self::Set
                | Self::Share
                | Self::Retry
                | Self::NeverRetry
                | Self::Save
        )
    }
}

/// Meaning of a word or phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// It adds nothing.
    Filler,
    /// It joins two clauses, as a comma does.
    And,
    Is(Concept),
    Every(Concept),
    Number(u32),
    /// So many of a unit of time.
    Amount(u32, Concept),
    /// A unit of time, and so many minutes.
    AndMinutes(Concept, u32),
    Ordinal(u32),
    Clock(u32),
    Zone(&'static str),
}

/// Words and phrases with one meaning, separated by `|`.
type Entry = (Meaning, &'static str);

/// Most words of a phrase.
const MAX_PHRASE_WORDS: usize = 5;

static LEXICON: LazyLock<HashMap<&'static str, (Meaning, Locale)>> = LazyLock::new(|| {
    let languages =
        [(Locale::En, english::ENTRIES), (Locale::Ru, russian::ENTRIES), (Locale::Kk, kazakh::ENTRIES)];
    let entries = languages.into_iter().flat_map(|(locale, entries)| {
        let of_entry = move |(meaning, phrases): &(Meaning, &'static str)| {
            let meaning = *meaning;
            phrases.split('|').map(move |phrase| (phrase, (meaning, locale)))
        };
        entries.iter().flat_map(of_entry)
    });
    entries.collect()
});

/// A piece of a sentence with its meaning.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    Concept(Concept),
    /// What is neither a word nor a quoted text.
    Token(Token),
    /// A quoted text, or a name of the workspace.
    Name(String),
    /// A word without a meaning.
    Unknown(String),
    Separator,
}

/// Names that are read without quotes, by their words in lower case.
pub(super) struct Names(HashMap<String, String>);

impl Names {
    pub(super) fn new(names: &[&str]) -> Self {
        Self(names.iter().map(|name| (fold(name), (*name).to_owned())).collect())
    }
}

/// Returns a name as words are compared.
pub(in crate::changes) fn fold(name: &str) -> String {
    name.to_lowercase().replace('ё', "е").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The number of words of each language.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct LanguageCount([usize; 3]);

impl LanguageCount {
    /// Counts by letters: those that only Kazakh has, and Cyrillic ones.
    pub(super) fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        if lower.contains(['ә', 'ғ', 'қ', 'ң', 'ө', 'ұ', 'ү', 'һ', 'і']) {
            Self([0, 0, 1])
        } else if lower.contains(|c| ('а'..='я').contains(&c)) {
            Self([0, 1, 0])
        } else {
            Self([1, 0, 0])
        }
    }

    /// Returns itself, or the count by letters if no word was counted.
    pub(super) fn or(self, text: &str) -> Self {
        if self.0 == [0; 3] { Self::of(text) } else { self }
    }

    pub(super) fn locale(self) -> Locale {
        let [english, russian, kazakh] = self.0;
        match () {
            () if kazakh > 0 && kazakh >= russian && kazakh >= english => Locale::Kk,
            () if russian > english => Locale::Ru,
            () => Locale::En,
        }
    }

    fn add(&mut self, locale: Locale) {
        self.0[locale as usize] += 1;
    }

    fn add_all(&mut self, other: Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }
}

/// Returns the items of a sentence, and counts the words of each language.
pub(super) fn read_words(tokens: &[Token], names: &Names, words: &mut LanguageCount) -> Vec<Item> {
    let mut items = Vec::new();
    let mut own = LanguageCount::default();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let (length, item) = match token {
            Token::Word { .. } => read_phrase(&tokens[at..], names, &mut own, &mut items),
            Token::Quoted(text) => (1, Some(Item::Name(text.clone()))),
            Token::Comma => (1, Some(Item::Separator)),
            other => (1, Some(Item::Token(other.clone()))),
        };
        items.extend(item);
        at += length;
    }
    words.add_all(own);
    let mut items = read_comma_pairs(&items, own.locale());
    add_minutes_to_hours(&mut items);
    items
}

/// Reads `1,5` as one number in Russian and Kazakh, and as two in English, where the comma may group thousands. Two hours of
/// one half of the day are a list: "at 8,9 in the morning".
fn read_comma_pairs(items: &[Item], locale: Locale) -> Vec<Item> {
    let is_half_day =
        |item: Option<&Item>| matches!(item, Some(Item::Concept(Concept::Morning | Concept::Evening)));
    let mut read = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let Item::Token(Token::CommaPair { decimal, pair }) = item else {
            read.push(item.clone());
            continue;
        };
        let is_list =
            is_half_day(items.get(at + 1)) || is_half_day(at.checked_sub(1).and_then(|at| items.get(at)));
        if locale == Locale::En || is_list {
            let [first, second] = &**pair;
            read.extend([Item::Token(first.clone()), Item::Separator, Item::Token(second.clone())]);
        } else {
            read.push(Item::Token((**decimal).clone()));
        }
    }
    read
}

/// Writes "an hour and 20 minutes" as 80 minutes, so that no rule reads one half of it.
fn add_minutes_to_hours(items: &mut Vec<Item>) {
    use Item::{Concept as Is, Separator};
    let mut at = 0;
    while at < items.len() {
        let (length, sum) = match &items[at..] {
            [
                Item::Token(Token::Number(hours)),
                Is(Concept::Hour),
                Separator,
                Item::Token(Token::Number(minutes)),
                Is(Concept::Minute),
                ..,
            ] => (5, hours * 60.0 + minutes),
            [
                Item::Token(Token::Number(hours)),
                Is(Concept::Hour),
                Item::Token(Token::Number(minutes)),
                Is(Concept::Minute),
                ..,
            ] => (4, hours * 60.0 + minutes),
            _ => {
                at += 1;
                continue;
            }
        };
        drop(items.splice(at..at + length, [Item::Token(Token::Number(sum)), Is(Concept::Minute)]));
        at += 2;
    }
}

/// Reads the longest phrase at the start; returns its length and, unless it was added already or adds nothing, its item.
fn read_phrase(
    tokens: &[Token],
    names: &Names,
    words: &mut LanguageCount,
    items: &mut Vec<Item>,
) -> (usize, Option<Item>) {
    let following: Vec<&str> = tokens
        .iter()
        .take(MAX_PHRASE_WORDS)
        .map_while(|token| match token {
            Token::Word { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    for length in (1..=following.len()).rev() {
        let phrase = following[..length].join(" ");
        // A name of several words is read before its words; one of a single word only if it has no other meaning.
        if let Some(name) = names.0.get(&phrase).filter(|_| length > 1) {
            return (length, Some(Item::Name(name.clone())));
        }
        if let Some((meaning, locale)) = LEXICON.get(phrase.as_str()) {
            words.add(*locale);
            return (length, meaning.item(items));
        }
    }
    let word = following.first().copied().unwrap_or_default();
    match names.0.get(word) {
        Some(name) => (1, Some(Item::Name(name.clone()))),
        None => (1, Some(Item::Unknown(word.to_owned()))),
    }
}

fn number_item(number: u32) -> Item {
    Item::Token(Token::Number(f64::from(number)))
}

impl Meaning {
    fn item(self, items: &mut Vec<Item>) -> Option<Item> {
        match self {
            Self::Filler => None,
            Self::And => Some(Item::Separator),
            Self::Is(concept) => Some(Item::Concept(concept)),
            Self::Every(concept) => {
                items.push(Item::Concept(Concept::Every));
                Some(Item::Concept(concept))
            }
            Self::Number(number) => Some(number_item(number)),
            Self::Amount(number, unit) => {
                items.push(number_item(number));
                Some(Item::Concept(unit))
            }
            Self::AndMinutes(unit, minutes) => {
                items.extend([Item::Concept(unit), number_item(minutes)]);
                Some(Item::Concept(Concept::Minute))
            }
            Self::Ordinal(number) => Some(Item::Token(Token::Ordinal(number))),
            Self::Clock(hour) => Some(Item::Token(Token::Clock(hour, 0))),
            Self::Zone(zone) => Some(Item::Token(Token::Zone(zone))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_has_one_meaning_in_all_languages() {
        let mut seen = HashMap::new();
        for (meaning, phrases) in [english::ENTRIES, russian::ENTRIES, kazakh::ENTRIES].concat() {
            for phrase in phrases.split('|') {
                assert_eq!(phrase, fold(phrase), "a phrase is in lower case, without `ё`");
                assert!(phrase.split(' ').count() <= MAX_PHRASE_WORDS, "{phrase}");
                if let Some(other) = seen.insert(phrase, meaning) {
                    assert_eq!(other, meaning, "{phrase}");
                }
            }
        }
    }
}
