//! The sentences of explanations. `{app}`, `{host}`, `{method}`, `{person}` and `{version}` are placeholders; one without a value
//! is removed from its sentence.

mod en;
mod gate;
mod kk;
mod ru;

use kernel::Locale;

use super::{Cause, Explanation, Fix, MAX_MESSAGE_CHARS, RunFacts};
use crate::RunStatus;

/// Sentences of one language.
struct Phrases {
    what: fn(RunStatus) -> &'static str,
    /// Result of a run that a person cancelled.
    cancelled: &'static str,
    /// Cause and recommended action.
    why_next: fn(Cause) -> (&'static str, &'static str),
    /// Addition to the recommended action, when a rollback is possible.
    rollback: &'static str,
    /// Recommended action when access is allowed by now.
    retry: &'static str,
    /// Introduction of the run's own message.
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
    let phrases = phrases(locale);
    let request = facts.find_failed_request();
    let message = facts.run.state.fault().map(|fault| fault.message.as_str());
    // The log may be unavailable, but the gate's own message names the host too.
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
        // Last: a name that looks like a placeholder stays as it is.
        ("{person}", facts.cancelled_by.as_deref()),
    ];
    let (why, next) = (phrases.why_next)(cause);
    let mut why = fill_template(why, &known);
    // A person cancelled it: that is all there is to say.
    if let Some(message) = message.filter(|_| cause != Cause::Cancelled) {
        let message = match gate::translate_message(message, cause, host.is_some(), locale) {
            gate::GateMessage::Redundant => None,
            gate::GateMessage::Translated(text) => Some(text),
            gate::GateMessage::Untranslated => Some(message.chars().take(MAX_MESSAGE_CHARS).collect()),
        };
        if let Some(message) = message {
            why = format!("{why} {}: {message}", phrases.message);
        }
    }
    let mut next = fill_template(next, &known);
    let addition = match (cause, fix) {
        (_, Some(Fix::Rollback { .. })) => Some(phrases.rollback),
        (Cause::HostUndeclared | Cause::GateClosed | Cause::MethodDenied, Some(Fix::Retry)) => {
            next.clear();
            Some(phrases.retry)
        }
        _ => None,
    };
    if let Some(addition) = addition {
        next = format!("{next} {}", fill_template(addition, &known)).trim().to_owned();
    }
    let what = match cause {
        Cause::Cancelled => phrases.cancelled,
        _ => (phrases.what)(facts.run.state.status()),
    };
    Explanation { what: fill_template(what, &known), why, next }
}

/// Fills a template, and capitalizes its first letter if it began with a placeholder.
fn fill_template(template: &str, known: &[(&str, Option<&str>)]) -> String {
    let mut text = template.to_owned();
    for (name, value) in known {
        if !text.contains(name) {
            continue;
        }
        text = match value {
            Some(value) => text.replace(name, value),
            None => text
                .replace(&format!(": {name}"), "")
                .replace(&format!(" {name}"), "")
                .replace(&format!("{name} "), ""),
        };
    }
    let mut characters = text.chars();
    match characters.next() {
        Some(first) if template.starts_with('{') => first.to_uppercase().chain(characters).collect(),
        _ => text,
    }
}
