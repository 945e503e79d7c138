//! Sentences about planned changes.

mod english;
mod kazakh;
mod russian;

use kernel::Locale;

use super::draft::{Note, Step};
use crate::{manifest::EgressMethod, safe_band::OutsideBand};

/// Most characters of a sentence of the planner's that are repeated to them.
const MAX_QUOTED_CHARS: usize = 120;

impl Step {
    pub(super) fn describe(&self, locale: Locale) -> String {
        match locale {
            Locale::En => english::step(self),
            Locale::Ru => russian::step(self),
            Locale::Kk => kazakh::step(self),
        }
    }
}

impl Note {
    pub(super) fn describe(&self, locale: Locale) -> String {
        match locale {
            Locale::En => english::note(self),
            Locale::Ru => russian::note(self),
            Locale::Kk => kazakh::note(self),
        }
    }
}

impl OutsideBand {
    /// Describes the reason in a sentence.
    #[must_use]
    pub fn describe(&self, locale: Locale) -> String {
        match locale {
            Locale::En => english::outside_band(self),
            Locale::Ru => russian::outside_band(self),
            Locale::Kk => kazakh::outside_band(self),
        }
    }
}

/// Returns the step after which the app runs with the new manifest.
pub(super) fn new_version(locale: Locale) -> String {
    match locale {
        Locale::En => "Create a version with the same code and make it current.",
        Locale::Ru => "Создать версию с тем же кодом и сделать её текущей.",
        Locale::Kk => "Сол кодпен нұсқа жасап, оны ағымдағы ету.",
    }
    .to_owned()
}

/// Returns the step that only an admin can take.
pub(super) fn open_gate(host: &str, locale: Locale) -> String {
    match locale {
        Locale::En => format!("An admin opens the gate to {host}."),
        Locale::Ru => format!("Администратор открывает шлюз к {host}."),
        Locale::Kk => format!("Әкімші {host} шлюзін ашады."),
    }
}

/// Returns the summary of a plan without any change.
pub(super) fn nothing_planned(locale: Locale) -> String {
    match locale {
        Locale::En => "Nothing is planned.",
        Locale::Ru => "Ничего не запланировано.",
        Locale::Kk => "Ештеңе жоспарланбады.",
    }
    .to_owned()
}

/// Returns the names of methods; an empty text for all.
fn join_methods(methods: &[EgressMethod]) -> String {
    methods.iter().map(|method| method.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns the beginning of a sentence of the planner's.
fn quote(sentence: &str) -> String {
    let mut chars = sentence.chars();
    let start: String = chars.by_ref().take(MAX_QUOTED_CHARS).collect();
    if chars.next().is_some() { format!("{start}…") } else { start }
}
