//! Texts of the pages, in English, Russian and Kazakh. `{0}`, `{1}` and `{2}` are placeholders.

mod en;
mod kk;
mod ru;

use application::Problem;
use kernel::{Locale, authority::Role};
use maud::{Markup, PreEscaped, html};

/// Message of a refusal, and a hint.
pub(super) type ErrorText = (&'static str, &'static str);

/// Texts of one language.
pub(crate) struct Translations {
    pub(crate) name: &'static str,
    pub(crate) roles: fn(Role) -> &'static str,
    /// Texts of refusals, by error code or by the name of a case of one. `{0}` is the value of the case.
    pub(super) errors: fn(&str) -> Option<ErrorText>,

    pub(crate) did_not_work: &'static str,
    pub(crate) does_not_work: &'static str,
    pub(crate) proceed: &'static str,
    pub(crate) to_sign_in: &'static str,
    pub(crate) other_account: &'static str,

    pub(crate) console: &'static str,
    pub(crate) console_needs_javascript: &'static str,
    pub(crate) console_missing_title: &'static str,
    pub(crate) console_missing: &'static str,
    pub(crate) console_missing_next: &'static str,

    pub(crate) sign_in: &'static str,
    pub(crate) sign_in_question: &'static str,
    pub(crate) email: &'static str,
    pub(crate) send_code: &'static str,
    pub(crate) sign_in_with: &'static str,
    pub(crate) dev_note: &'static str,
    pub(crate) dev_button: &'static str,
    pub(crate) code_sent: &'static str,
    pub(crate) code: &'static str,
    pub(crate) resend: &'static str,
    pub(crate) other_address: &'static str,
    pub(crate) signed_in: &'static str,
    pub(crate) signed_in_as: &'static str,
    pub(crate) workspaces: &'static str,
    pub(crate) no_workspaces: &'static str,
    pub(crate) reference: &'static str,
    pub(crate) sign_out: &'static str,

    pub(crate) device: &'static str,
    pub(crate) device_code: &'static str,
    pub(crate) device_question: &'static str,
    pub(crate) device_intro: &'static str,
    pub(crate) program: &'static str,
    pub(crate) machine: &'static str,
    pub(crate) not_said: &'static str,
    pub(crate) asked_from: &'static str,
    pub(crate) unknown: &'static str,
    pub(crate) asked: &'static str,
    pub(crate) just_now: &'static str,
    pub(crate) minutes_ago: &'static str,
    pub(crate) may: &'static str,
    pub(crate) read_and_change: &'static str,
    pub(crate) read: &'static str,
    pub(crate) token: &'static str,
    pub(crate) for_days: &'static str,
    pub(crate) nowhere: &'static str,
    pub(crate) workspace: &'static str,
    pub(crate) access: &'static str,
    pub(crate) access_asked: &'static str,
    pub(crate) access_read: &'static str,
    pub(crate) allow: &'static str,
    pub(crate) refuse: &'static str,
    pub(crate) done: &'static str,
    pub(crate) let_in: &'static str,
    pub(crate) was_refused: &'static str,

    pub(crate) consent_question: &'static str,
    pub(crate) consent_asks: &'static str,
    pub(crate) who: &'static str,
    pub(crate) owner_proved: &'static str,
    pub(crate) proved: &'static str,
    pub(crate) not_proved: &'static str,
    pub(crate) says_it_is_of: &'static str,
    pub(crate) answered_at: &'static str,
    pub(crate) you: &'static str,
    pub(crate) local_warning: &'static str,
    pub(crate) name_warning: &'static str,
    pub(crate) what_it_may: &'static str,
    pub(crate) look: &'static str,
    pub(crate) look_and_change: &'static str,
    pub(crate) revoke_any_time: &'static str,
    pub(crate) over: &'static str,
    pub(crate) over_why: &'static str,
    pub(crate) over_next: &'static str,
    pub(crate) nothing_allowed: &'static str,
    pub(crate) too_long: &'static str,
    pub(crate) unknown_client: &'static str,
    pub(crate) unreadable_client: &'static str,
    pub(crate) foreign_redirect: &'static str,

    pub(crate) join: &'static str,
    pub(crate) invites_you: &'static str,
    pub(crate) you_are_invited: &'static str,
    pub(crate) access_ends: &'static str,
    pub(crate) accept: &'static str,
    pub(crate) with_that_address: &'static str,
    pub(crate) you_are_in: &'static str,
    pub(crate) accepted: &'static str,
    pub(crate) is_open: &'static str,
    pub(crate) invite_gone: &'static str,
    pub(crate) invite_gone_why: &'static str,
    pub(crate) invite_gone_next: &'static str,
    pub(crate) invite_refused: &'static str,

    pub(crate) form_received: &'static str,
    pub(crate) form_received_text: &'static str,
}

/// Returns the texts of a language.
pub(crate) fn translations(locale: Locale) -> &'static Translations {
    match locale {
        Locale::En => &en::TRANSLATIONS,
        Locale::Ru => &ru::TRANSLATIONS,
        Locale::Kk => &kk::TRANSLATIONS,
    }
}

impl Translations {
    /// Returns a refusal in this language; in the API's words if there is no translation.
    pub(crate) fn error_markup(&self, problem: &Problem) -> Markup {
        let (name, values) = match &problem.case {
            Some(case) => (case.name, vec![html! { (case.value) }]),
            None => (&*problem.code, Vec::new()),
        };
        let fill = |text: &str| format_markup(text, &values);
        match (self.errors)(name) {
            Some((message, "")) => html! { p { (fill(message)) } },
            Some((message, hint)) => html! { p { (fill(message)) } p { (fill(hint)) } },
            None => html! {
                p { (problem.message) }
                @if let Some(hint) = &problem.hint { p { (hint) } }
            },
        }
    }
}

/// Replaces the placeholders of a text by markup.
pub(crate) fn format_markup(sentence: &str, known: &[Markup]) -> Markup {
    let mut text = html! { (sentence) }.into_string();
    for (index, value) in known.iter().enumerate() {
        text = text.replace(&format!("{{{index}}}"), &value.0);
    }
    PreEscaped(text)
}

/// Replaces the placeholders of a text by plain text.
pub(crate) fn format_text(sentence: &str, known: &[&str]) -> String {
    let mut text = sentence.to_owned();
    for (index, value) in known.iter().enumerate() {
        text = text.replace(&format!("{{{index}}}"), value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_and_replace_their_placeholders() {
        let name = html! { strong { ("<&>") } };
        assert_eq!(
            format_markup("{1} & {0}.", &[name, html! { "x" }]).into_string(),
            "x &amp; <strong>&lt;&amp;&gt;</strong>."
        );
        assert_eq!(format_text("{0} {1}", &["a", "b"]), "a b");
    }

    #[test]
    fn every_language_has_every_refusal() {
        for code in REFUSALS {
            let english = (en::TRANSLATIONS.errors)(code);
            for locale in [Locale::Ru, Locale::Kk] {
                let other = (translations(locale).errors)(code);
                assert!(other.is_some() && other != english, "{code} in {locale}");
            }
        }
        assert_eq!((ru::TRANSLATIONS.errors)("something_new"), None);
    }

    #[test]
    fn a_case_of_a_code_has_a_text_of_its_own() {
        let problem = Problem::unavailable("provider_unavailable", "It cannot be used: <a> is missing.");
        let other = problem.case("provider_misconfigured", "<a> is missing");
        let plain = Problem::unavailable("provider_unavailable", "It does not respond.");
        for locale in [Locale::En, Locale::Ru, Locale::Kk] {
            let page = translations(locale).error_markup(&other).into_string();
            assert!(page.contains("&lt;a&gt; is missing") && !page.contains("{0}"), "{page}");
            assert_ne!(page, translations(locale).error_markup(&plain).into_string());
        }
    }

    /// Codes of the refusals on pages, and the names of their cases.
    const REFUSALS: [&str; 25] = [
        "invalid_code",
        "invalid_email",
        "rate_limited",
        "device_login_not_found",
        "device_login_over",
        "wrong_address",
        "invite_expired",
        "invite_accepted",
        "invite_withdrawn",
        "email_not_verified",
        "sign_in_over",
        "provider_refused",
        "provider_cancelled",
        "provider_denied",
        "provider_error",
        "provider_unavailable",
        "provider_misconfigured",
        "workspace_not_found",
        "too_many_tokens",
        "insufficient_scope",
        "forbidden",
        "authorization_not_found",
        "authorization_decided",
        "unavailable",
        "internal",
    ];
}
