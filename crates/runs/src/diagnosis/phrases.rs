//! The sentences. `{app}`, `{host}`, `{method}` and `{version}` stand for what is known; a word that is not known goes
//! out of its sentence.

mod en;
mod gate;
mod kk;
mod ru;

use kernel::Locale;

use super::{Cause, Explanation, Fix, MAX_MESSAGE_CHARS, RunFacts};
use crate::RunStatus;

/// The sentences of one language.
struct Phrases {
    what: fn(RunStatus) -> &'static str,
    /// Why, and what to do.
    why_next: fn(Cause) -> (&'static str, &'static str),
    /// What to do besides, when a version can be gone back to.
    rollback: &'static str,
    /// What to do besides, when the obstacle is gone.
    retry: &'static str,
    /// Before what the run itself says.
    message: &'static str,
}

fn phrases(locale: Locale) -> &'static Phrases {
    match locale {
        Locale::En => &en::PHRASES,
        Locale::Ru => &ru::PHRASES,
        Locale::Kk => &kk::PHRASES,
    }
}

pub(super) fn explain(facts: &RunFacts, cause: Cause, fix: Option<&Fix>, locale: Locale) -> Explanation {
    let words = phrases(locale);
    let request = facts.find_failed_request();
    let message = facts.run.state.fault().map(|fault| fault.message.as_str());
    // The log may not be at hand; the gate's own message names the host as well.
    let host =
        request.and_then(|request| request.host.as_deref()).or_else(|| message.and_then(gate::find_host));
    let version = match fix {
        Some(Fix::Rollback { number, .. }) => number.map(|number| number.to_string()),
        _ => None,
    };
    let known = [
        ("{app}", Some(facts.run.app_name.as_str())),
        ("{host}", host),
        ("{method}", request.map(|request| request.method.as_str())),
        ("{version}", version.as_deref()),
    ];
    let (why, next) = (words.why_next)(cause);
    let mut why = fill_template(why, &known);
    if let Some(message) = message {
        let message = match gate::translate_message(message, cause, host.is_some(), locale) {
            gate::GateMessage::Redundant => None,
            gate::GateMessage::Translated(words) => Some(words),
            gate::GateMessage::Untranslated => Some(message.chars().take(MAX_MESSAGE_CHARS).collect()),
        };
        if let Some(message) = message {
            why = format!("{why} {}: {message}", words.message);
        }
    }
    let mut next = fill_template(next, &known);
    let addition = match (cause, fix) {
        (_, Some(Fix::Rollback { .. })) => Some(words.rollback),
        (Cause::HostUndeclared | Cause::GateClosed | Cause::MethodDenied, Some(Fix::Retry)) => {
            next.clear();
            Some(words.retry)
        }
        _ => None,
    };
    if let Some(besides) = addition {
        next = format!("{next} {}", fill_template(besides, &known)).trim().to_owned();
    }
    Explanation { what: fill_template((words.what)(facts.run.state.status()), &known), why, next }
}

/// Puts what is known into a sentence.
fn fill_template(template: &str, known: &[(&str, Option<&str>)]) -> String {
    let mut text = template.to_owned();
    for (name, value) in known {
        if !text.contains(name) {
            continue;
        }
        text = match value {
            Some(value) => text.replace(name, value),
            None => text.replace(&format!(" {name}"), "").replace(&format!("{name} "), ""),
        };
    }
    let mut characters = text.chars();
    match characters.next() {
        Some(first) if template.starts_with('{') => first.to_uppercase().chain(characters).collect(),
        _ => text,
    }
}
