//! Mail: what a letter says, and the form in which it waits to be sent.
//!
//! A use case writes a [`EmailDraft`], seals it into a [`OutboxEmail`] and hands it to its transaction, so that a mail goes out
//! exactly when what it tells of has happened. Letters hold codes and links that open something, so they wait
//! sealed; a worker opens each for the time of its delivery and then takes it away.

use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use maud::{DOCTYPE, html};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use crate::{
    Context, Locale, StoreError, Timestamp,
    id::MailId,
    vault::{Vault, VaultError},
};

/// What a letter says, before it is laid out.
#[derive(Debug)]
pub struct EmailDraft {
    /// The language.
    pub locale: Locale,
    /// The subject; control characters are taken out of it.
    pub subject: String,
    /// Paragraphs before the code or link.
    pub before: Vec<String>,
    /// A code to be typed.
    pub code: Option<SecretString>,
    /// A link to be followed.
    pub link: Option<EmailLink>,
    /// Paragraphs after them, in a quieter tone.
    pub after: Vec<String>,
}

/// A link in a letter.
#[derive(Debug)]
pub struct EmailLink {
    /// What its button says.
    pub label: String,
    /// Where it leads; it may open something.
    pub url: SecretString,
}

/// A letter as it is sent. It may hold what opens something, so it does not print.
#[derive(Serialize, Deserialize)]
pub struct RenderedEmail {
    /// The recipient's address.
    pub to: String,
    /// The subject.
    pub subject: String,
    /// The body as plain text.
    pub text: String,
    /// The body as HTML, which loads nothing.
    pub html: String,
}

impl std::fmt::Debug for RenderedEmail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Content").finish_non_exhaustive()
    }
}

impl EmailDraft {
    /// Lays the letter out for its recipient.
    #[must_use]
    pub fn render(&self, to: impl Into<String>) -> RenderedEmail {
        let subject = self.subject.chars().filter(|c| !c.is_control()).take(200).collect();
        RenderedEmail { to: to.into(), subject, text: self.render_text(), html: self.render_html() }
    }

    fn render_text(&self) -> String {
        let mut parts = self.before.clone();
        parts.extend(self.code.as_ref().map(|code| format!("    {}", code.expose_secret())));
        let link = |link: &EmailLink| format!("{}:\n{}", link.label, link.url.expose_secret());
        parts.extend(self.link.as_ref().map(link));
        parts.extend(self.after.iter().cloned());
        parts.push("-- \nQala".to_owned());
        parts.join("\n\n") + "\n"
    }

    fn render_html(&self) -> String {
        html! {
            (DOCTYPE)
            html lang=(self.locale) {
                body style="margin:0;padding:24px;background:#f4f5f7;color:#1b1f27;font:16px/1.5 sans-serif" {
                    div style="max-width:480px;margin:0 auto;padding:32px;background:#fff;border-radius:12px" {
                        @for paragraph in &self.before { p { (paragraph) } }
                        @if let Some(code) = &self.code {
                            p style="font:600 28px monospace;letter-spacing:4px" { (code.expose_secret()) }
                        }
                        @if let Some(link) = &self.link {
                            p {
                                a href=(link.url.expose_secret())
                                    style="display:inline-block;padding:10px 20px;border-radius:8px;background:#0b62c4;color:#fff;text-decoration:none" {
                                    (link.label)
                                }
                            }
                        }
                        @for paragraph in &self.after { p style="color:#5c6470;font-size:14px" { (paragraph) } }
                        p style="color:#5c6470;font-size:14px" { "Qala" }
                    }
                }
            }
        }
        .into_string()
    }
}

/// A letter on its way into the outbox.
#[derive(Debug, Clone)]
pub struct OutboxEmail {
    /// The letter. Its delivery carries the id, so that one sent twice is seen to be the same.
    pub id: MailId,
    /// What it is about, as `noun.verb`, for the log.
    pub kind: &'static str,
    /// The [`RenderedEmail`], sealed.
    pub sealed: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it is no longer worth delivering.
    pub expires_at: Timestamp,
}

/// What a letter is sealed for.
#[must_use]
pub fn encryption_context(id: MailId) -> [String; 2] {
    ["mail".to_owned(), id.to_string()]
}

impl OutboxEmail {
    /// Seals a letter that is worth delivering for `useful`.
    #[must_use]
    pub fn seal(
        ctx: &Context,
        vault: &Vault,
        kind: &'static str,
        content: &RenderedEmail,
        ttl: TimeDelta,
    ) -> Self {
        let id: MailId = ctx.new_id();
        // Four strings do not fail to be written.
        let json = SecretString::from(serde_json::to_string(content).unwrap_or_default());
        let owner = encryption_context(id);
        let sealed = vault.seal(ctx.random(), &[&owner[0], &owner[1]], &json);
        Self { id, kind, sealed, created_at: ctx.now, expires_at: ctx.now + ttl }
    }
}

/// A letter that waits in the outbox.
#[derive(Debug, Clone)]
pub struct ClaimedEmail {
    /// The letter.
    pub id: MailId,
    /// What it is about.
    pub kind: String,
    /// The [`RenderedEmail`], sealed.
    pub sealed: String,
    /// How often its delivery was begun before, this time not counted.
    pub attempts: u32,
    /// When it is no longer worth delivering.
    pub expires_at: Timestamp,
}

impl ClaimedEmail {
    /// Opens the letter for its delivery.
    ///
    /// # Errors
    /// When it was changed, or sealed with a key that is not configured.
    pub fn open(&self, vault: &Vault) -> Result<RenderedEmail, VaultError> {
        let owner = encryption_context(self.id);
        let json = vault.open(&[&owner[0], &owner[1]], &self.sealed)?;
        serde_json::from_str(json.expose_secret()).map_err(|_| VaultError::Malformed)
    }
}

/// The letters that wait to be sent.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Takes letters that are due; nobody else gets them for `lease`, after which they are due again.
    async fn claim_emails(
        &self,
        limit: u32,
        now: Timestamp,
        lease: TimeDelta,
    ) -> Result<Vec<ClaimedEmail>, StoreError>;

    /// Takes a letter away: it was sent, or will never be.
    async fn delete_email(&self, letter: MailId) -> Result<(), StoreError>;

    /// Makes a letter due again at a later moment.
    async fn reschedule_email(&self, letter: MailId, at: Timestamp) -> Result<(), StoreError>;

    /// Waits until this process puts a letter into the outbox, or for `at_most`.
    async fn wait_for_emails(&self, at_most: Duration);
}

/// Where letters go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Delivery {
    /// To a mail server.
    Email,
    /// To the log of the server, where no mail server is configured.
    DevLog,
}

/// What carries letters.
#[async_trait]
pub trait MailTransport: Send + Sync {
    /// Hands a letter to the next server on its way.
    ///
    /// # Errors
    /// Whether it is worth another try. The text may go into the log: it holds nothing of the letter.
    async fn deliver(&self, letter: MailId, content: &RenderedEmail) -> Result<(), DeliveryError>;
}

/// Why a letter was not taken.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    /// The server could not be reached or asked to be asked again (RFC 5321 §4.2.1, 4yz).
    #[error("not now: {0}")]
    Transient(String),
    /// It will never be taken (5yz).
    #[error("never: {0}")]
    Permanent(String),
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Caller, Id, SeededRandomness, vault::MasterKeys};

    fn text(subject: &str) -> EmailDraft {
        EmailDraft {
            locale: Locale::Ru,
            subject: subject.to_owned(),
            before: vec!["<b>Команда & Co</b>".to_owned()],
            code: Some("123456".into()),
            link: Some(EmailLink { label: "Open".into(), url: "https://q.example/x?a=1&b=\"2".into() }),
            after: vec!["Bye.".to_owned()],
        }
    }

    #[test]
    fn both_bodies_say_the_same_and_markup_stays_text() {
        let content = text("Hello").render("aru@example.com");
        for part in ["123456", "Bye."] {
            assert!(content.text.contains(part) && content.html.contains(part), "{part}");
        }
        assert!(
            content.text.contains("<b>Команда & Co</b>")
                && content.html.contains("&lt;b&gt;Команда &amp; Co")
        );
        assert!(content.html.contains("href=\"https://q.example/x?a=1&amp;b=&quot;2\""), "{}", content.html);
        assert!(content.html.contains("lang=\"ru\"") && !content.html.contains("src="));
    }

    #[test]
    fn a_subject_cannot_end_its_header() {
        assert_eq!(text("a\r\nBcc: b@example.com").render("x").subject, "aBcc: b@example.com");
        assert_eq!(text(&"é".repeat(999)).render("x").subject.chars().count(), 200);
    }

    #[test]
    fn a_letter_waits_sealed_and_opens_as_itself_only() {
        let vault = Vault::new(&MasterKeys::new(vec![[7; 32]]).unwrap());
        let now = Timestamp::UNIX_EPOCH;
        let random = Arc::new(SeededRandomness::new(1));
        let ctx = Context::new(Caller::Anonymous, now, Id::generate(&*random, now), None, random);
        let letter = OutboxEmail::seal(
            &ctx,
            &vault,
            "sign_in.code",
            &text("Hi").render("aru@example.com"),
            TimeDelta::hours(1),
        );
        assert!(!format!("{letter:?}").contains("123456"));
        let waiting = |id| ClaimedEmail {
            id,
            kind: letter.kind.to_owned(),
            sealed: letter.sealed.clone(),
            attempts: 0,
            expires_at: letter.expires_at,
        };
        assert_eq!(waiting(letter.id).open(&vault).unwrap().to, "aru@example.com");
        assert!(waiting(ctx.new_id()).open(&vault).is_err());
    }
}
