//! Instructions: sentences in English, Russian or Kazakh that ask for a change of an app (docs/changes.md has the grammar).
//!
//! A sentence is understood as a whole or not at all. Each word must have a meaning in the rule that reads the sentence, so
//! that a condition, an exception or a negation that no rule knows makes the sentence one that is not understood.

mod clauses;
mod lexicon;
mod rules;
mod tokens;

use kernel::{Locale, authority::Sharing};

use crate::manifest::{DataAccess, EgressMethod};

pub(super) use lexicon::fold;

/// One change that an instruction asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Edit {
    /// Let the app call a host; with every method if there are none.
    AllowHost { host: String, methods: Vec<EgressMethod>, has_path: bool },
    /// Take a host away, or some of its methods.
    ForbidHost { host: String, methods: Vec<EgressMethod> },
    /// Let the app use a connection.
    AllowConnection(String),
    /// Take a connection away.
    ForbidConnection(String),
    /// Let the app use a table.
    AllowTable { table: String, project: Option<String>, access: DataAccess },
    /// Take a table away.
    ForbidTable { table: String, project: Option<String> },
    /// Let the app only read a table.
    ForbidWriting { table: String, project: Option<String> },
    /// Take a project away.
    ForbidProject(String),
    /// Run the app on a schedule.
    Schedule { cron: String, timezone: Option<&'static str> },
    /// Run the app on no schedule.
    Unschedule,
    /// Use another time zone for the schedule.
    TimeZone(&'static str),
    /// Rename the app.
    Rename(String),
    /// Describe the app.
    Describe(String),
    /// Share the app.
    Share(Sharing),
    /// Change the budget for AI models, in US dollars a month.
    AiBudget(f64),
    /// Take AI models away.
    ForbidAi,
    /// Change the minutes that a run saves.
    MinutesSaved(f64),
    /// Change the retries of failed runs.
    Retries(u32),
}

/// The reason why a sentence is not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// No rule reads every word of it.
    Words,
    /// It is a question.
    Question,
    /// A schedule has no time of day.
    NoTime,
    /// An interval does not divide an hour or a day.
    UnevenInterval,
    /// A day of the month that some months do not have.
    DayOfMonth,
    /// It does not say if the app may read or write.
    NoAccess,
}

/// A sentence that is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NotUnderstood {
    /// The sentence as it was written.
    pub(super) sentence: String,
    pub(super) reason: Reason,
}

/// What an instruction says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Instruction {
    /// Language of most of its words.
    pub(super) locale: Locale,
    pub(super) edits: Vec<Edit>,
    pub(super) not_understood: Vec<NotUnderstood>,
}

/// Returns `true` if an instruction has a word for a table.
pub(super) fn mentions_tables(text: &str) -> bool {
    let (names, mut words) = (lexicon::Names::new(&[]), lexicon::LanguageCount::default());
    tokens::split_sentences(text).iter().any(|sentence| {
        let items = lexicon::read_words(&sentence.tokens, &names, &mut words);
        items.contains(&lexicon::Item::Concept(lexicon::Concept::Table))
    })
}

/// Reads an instruction. `names` are those of connections, connectors and projects, which need no quotes.
pub(super) fn parse_instruction(text: &str, names: &[&str]) -> Instruction {
    let names = lexicon::Names::new(names);
    let (mut edits, mut not_understood) = (Vec::new(), Vec::new());
    let mut words = lexicon::LanguageCount::default();
    for sentence in tokens::split_sentences(text) {
        let items = lexicon::read_words(&sentence.tokens, &names, &mut words);
        let understood = if sentence.is_question {
            Err(Reason::Question)
        } else {
            let clauses = clauses::split_clauses(&items, lexicon::LanguageCount::of(&sentence.text).locale());
            clauses.iter().map(rules::read_clause).collect::<Result<Vec<_>, _>>()
        };
        match understood {
            Ok(found) => edits.extend(found.into_iter().flatten()),
            Err(reason) => not_understood.push(NotUnderstood { sentence: sentence.text, reason }),
        }
    }
    Instruction { locale: words.or(text).locale(), edits, not_understood }
}

#[cfg(test)]
mod tests;
