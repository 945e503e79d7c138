//! E-mails: their content, their layout, and the outbox in which they wait to be sent.
//!
//! A use case renders an [`EmailDraft`], seals the result into an [`OutboxEmail`] and adds that to its transaction, so
//! that the e-mail goes out only if the change it is about is committed. E-mails hold codes and links that grant access,
//! so the outbox keeps them sealed; a worker opens each for its delivery and then deletes it.

use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use maud::{DOCTYPE, html};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use crate::{
    Context, Locale, StoreError, Timestamp,
    id::MailId,
    text::to_visible_line,
    vault::{Vault, VaultError},
};

/// The content of an e-mail before layout.
#[derive(Debug)]
pub struct EmailDraft {
    /// The language.
    pub locale: Locale,
    /// The subject. Rendering makes it one line of visible characters, and cuts it to 200.
    pub subject: String,
    /// Paragraphs before the code or link. Rendering makes each one line of visible characters.
    pub before: Vec<String>,
    /// A code for the reader to type.
    pub code: Option<SecretString>,
    /// A link for the reader to follow.
    pub link: Option<EmailLink>,
    /// Paragraphs after the code or link, in smaller and lighter type; each one line, as those before.
    pub after: Vec<String>,
}

/// Returns a name as e-mails have it: on one line, and in a form that mail programs do not turn into a link. Whoever names a
/// workspace or an app would otherwise decide what an e-mail of Qala leads to, and invites go to any address.
#[must_use]
pub fn name_without_links(name: &str) -> String {
    let name = to_visible_line(name).replace("://", "[:]//");
    let mut shown = String::with_capacity(name.len());
    let mut rest = name.as_str();
    while let Some((before, after)) = rest.split_once('.') {
        shown.push_str(before);
        // Top-level domains have two letters or more, so numbers of versions stay as they are.
        let is_domain = before.ends_with(char::is_alphanumeric)
            && after.chars().take_while(|c| c.is_alphabetic() || *c == '-').count() >= 2;
        shown.push_str(if is_domain { "[.]" } else { "." });
        rest = after;
    }
    shown + rest
}

/// A link in an e-mail.
#[derive(Debug)]
pub struct EmailLink {
    /// The text of the button.
    pub label: String,
    /// The URL; secret, since it may grant access.
    pub url: SecretString,
}

/// An e-mail as it is sent. It may hold codes and links that grant access, so [`Debug`] shows none of it.
#[derive(Serialize, Deserialize)]
pub struct RenderedEmail {
    /// The recipient's address.
    pub to: String,
    /// The subject.
    pub subject: String,
    /// The body as plain text.
    pub text: String,
    /// The body as HTML, which loads no other resources.
    pub html: String,
}

impl std::fmt::Debug for RenderedEmail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RenderedEmail").finish_non_exhaustive()
    }
}

impl EmailDraft {
    /// Lays the e-mail out for its recipient.
    #[must_use]
    pub fn render(&self, to: impl Into<String>) -> RenderedEmail {
        let subject = to_visible_line(&self.subject).chars().take(200).collect();
        RenderedEmail { to: to.into(), subject, text: self.render_text(), html: self.render_html() }
    }

    fn render_text(&self) -> String {
        let mut parts: Vec<String> = self.before.iter().map(|text| to_visible_line(text)).collect();
        parts.extend(self.code.as_ref().map(|code| format!("    {}", code.expose_secret())));
        let link = |link: &EmailLink| format!("{}:\n{}", link.label, link.url.expose_secret());
        parts.extend(self.link.as_ref().map(link));
        parts.extend(self.after.iter().map(|text| to_visible_line(text)));
        parts.push("-- \nQala".to_owned());
        parts.join("\n\n") + "\n"
    }

    fn render_html(&self) -> String {
        html! {
            (DOCTYPE)
            html lang=(self.locale) {
                body style="margin:0;padding:24px;background:#f4f5f7;color:#1b1f27;font:16px/1.5 sans-serif" {
                    div style="max-width:480px;margin:0 auto;padding:32px;background:#fff;border-radius:12px" {
                        @for paragraph in &self.before { p { (to_visible_line(paragraph)) } }
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
                        @for paragraph in &self.after {
                            p style="color:#5c6470;font-size:14px" { (to_visible_line(paragraph)) }
                        }
                        p style="color:#5c6470;font-size:14px" { "Qala" }
                    }
                }
            }
        }
        .into_string()
    }
}

/// An e-mail to be put into the outbox.
#[derive(Debug, Clone)]
pub struct OutboxEmail {
    /// The id, which every delivery carries, so that a second delivery can be recognised.
    pub id: MailId,
    /// The purpose, as `noun.verb`, for the log.
    pub kind: &'static str,
    /// The [`RenderedEmail`], sealed.
    pub sealed: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time after which it is not delivered any more.
    pub expires_at: Timestamp,
}

/// Returns the context to which an e-mail is sealed (see [`Vault::seal`]).
#[must_use]
pub fn encryption_context(id: MailId) -> [String; 2] {
    ["mail".to_owned(), id.to_string()]
}

impl OutboxEmail {
    /// Seals an e-mail that is not delivered any more after `ttl`.
    #[must_use]
    pub fn seal(
        ctx: &Context,
        vault: &Vault,
        kind: &'static str,
        content: &RenderedEmail,
        ttl: TimeDelta,
    ) -> Self {
        let id: MailId = ctx.new_id();
        // Serializing four strings cannot fail.
        let json = SecretString::from(serde_json::to_string(content).unwrap_or_default());
        let context = encryption_context(id);
        let sealed = vault.seal(ctx.random(), &[&context[0], &context[1]], &json);
        Self { id, kind, sealed, created_at: ctx.now, expires_at: ctx.now + ttl }
    }
}

/// An e-mail of the outbox that a worker has claimed.
#[derive(Debug, Clone)]
pub struct ClaimedEmail {
    /// The id of the e-mail.
    pub id: MailId,
    /// The purpose, as `noun.verb`.
    pub kind: String,
    /// The [`RenderedEmail`], sealed.
    pub sealed: String,
    /// Number of earlier delivery attempts.
    pub attempts: u32,
    /// Time after which it is not delivered any more.
    pub expires_at: Timestamp,
}

impl ClaimedEmail {
    /// Opens the e-mail for its delivery.
    ///
    /// # Errors
    /// [`VaultError`] when it was changed, or sealed with a key that is not configured.
    pub fn open(&self, vault: &Vault) -> Result<RenderedEmail, VaultError> {
        let context = encryption_context(self.id);
        let json = vault.open(&[&context[0], &context[1]], &self.sealed)?;
        serde_json::from_str(json.expose_secret()).map_err(|_| VaultError::Malformed)
    }
}

/// The queue of e-mails to send.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Claims up to `limit` e-mails that are due at `now`. No other worker gets them for `lease`, after which they are due
    /// again.
    async fn claim_emails(
        &self,
        limit: u32,
        now: Timestamp,
        lease: TimeDelta,
    ) -> Result<Vec<ClaimedEmail>, StoreError>;

    /// Deletes an e-mail that was sent, or never will be.
    async fn delete_email(&self, email: MailId) -> Result<(), StoreError>;

    /// Makes an e-mail due again at a later time.
    async fn reschedule_email(&self, email: MailId, at: Timestamp) -> Result<(), StoreError>;

    /// Waits until this process puts an e-mail into the outbox, at most for `at_most`.
    async fn wait_for_emails(&self, at_most: Duration);
}

/// The destination of e-mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Delivery {
    /// A mail server.
    Email,
    /// The log of Qala, when no mail server is configured.
    DevLog,
}

/// Delivers e-mails.
#[async_trait]
pub trait MailTransport: Send + Sync {
    /// Hands an e-mail to the mail server.
    ///
    /// # Errors
    /// [`DeliveryError`], which says if another attempt makes sense. Its text goes into the log, so it must hold nothing of
    /// the e-mail.
    async fn deliver(&self, email: MailId, content: &RenderedEmail) -> Result<(), DeliveryError>;
}

/// The reason why an e-mail was not delivered.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    /// The server was unreachable or replied with a 4yz code (RFC 5321, section 4.2.1). Another attempt may succeed.
    #[error("temporary failure: {0}")]
    Transient(String),
    /// The e-mail cannot be delivered, for example because the server replied with a 5yz code.
    #[error("permanent failure: {0}")]
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
        assert_eq!(text("a\r\nBcc: b@example.com").render("x").subject, "a Bcc: b@example.com");
        assert_eq!(text("join A\u{202e}B\u{2028}txt.exe").render("x").subject, "join AB txt.exe");
        assert_eq!(text(&"é".repeat(999)).render("x").subject.chars().count(), 200);
    }

    #[test]
    fn a_name_gives_an_email_neither_paragraphs_nor_links() {
        let evil = "A\n\nGo to https://evil.test\u{2029}now";
        let draft = EmailDraft { before: vec![evil.to_owned()], after: vec![evil.to_owned()], ..text("x") };
        let content = draft.render("x");
        assert_eq!(content.text.matches("\n\nGo").count(), 0, "{}", content.text);
        assert_eq!(content.html.matches("<p>").count(), 2, "{}", content.html);
        for (name, shown) in [
            ("Acme", "Acme"),
            ("Acme & Co. Ltd.", "Acme & Co. Ltd."),
            ("v1.2.3", "v1.2.3"),
            ("https://evil.test/x", "https[:]//evil[.]test/x"),
            ("www.evil.test", "www[.]evil[.]test"),
            ("Kaspi.kz", "Kaspi[.]kz"),
            ("почта.рф", "почта[.]рф"),
            ("a@evil.test", "a@evil[.]test"),
            ("evil.xn--p1ai", "evil[.]xn--p1ai"),
            ("javascript://x", "javascript[:]//x"),
            ("A\nB", "A B"),
            ("...", "..."),
        ] {
            assert_eq!(name_without_links(name), shown);
        }
    }

    #[test]
    fn an_email_waits_sealed_and_opens_only_under_its_own_id() {
        let vault = Vault::new(&MasterKeys::new(vec![[7; 32]]).unwrap());
        let now = Timestamp::UNIX_EPOCH;
        let random = Arc::new(SeededRandomness::new(1));
        let ctx = Context::new(Caller::Anonymous, now, Id::generate(&*random, now), None, random);
        let email = OutboxEmail::seal(
            &ctx,
            &vault,
            "sign_in.code",
            &text("Hi").render("aru@example.com"),
            TimeDelta::hours(1),
        );
        assert!(!format!("{email:?}").contains("123456"));
        let waiting = |id| ClaimedEmail {
            id,
            kind: email.kind.to_owned(),
            sealed: email.sealed.clone(),
            attempts: 0,
            expires_at: email.expires_at,
        };
        assert_eq!(waiting(email.id).open(&vault).unwrap().to, "aru@example.com");
        assert!(waiting(ctx.new_id()).open(&vault).is_err());
    }
}
