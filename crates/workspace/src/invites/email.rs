//! The e-mail that carries the link of an invite.

use kernel::{
    Context, Locale, UnitOfWork,
    authority::Role,
    mail::{EmailDraft, EmailLink, OutboxEmail, name_without_links},
    vault::Vault,
};

use super::{IssuedInvite, link::link_lifetime};
use crate::members::WorkspaceInfo;

/// The way in which a link reaches the invited person.
pub enum InviteDelivery<'a> {
    /// By e-mail.
    Email {
        /// Seals the e-mail until it is sent.
        vault: &'a Vault,
        /// The public URL of Qala, without a trailing slash.
        public_url: &'a str,
        /// The display name of the sender.
        inviter: &'a str,
        /// The language of the e-mail; that of the workspace by default.
        locale: Option<Locale>,
    },
    /// By the caller, who gets the link in the response.
    Link {
        /// The public URL of Qala, without a trailing slash.
        public_url: &'a str,
    },
}

impl InviteDelivery<'_> {
    pub(super) fn public_url(&self) -> &str {
        match self {
            Self::Email { public_url, .. } | Self::Link { public_url } => public_url,
        }
    }

    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Email { .. } => "email",
            Self::Link { .. } => "link",
        }
    }

    /// Puts the e-mail into the outbox; does nothing when the caller gets the link.
    pub(super) fn enqueue(
        &self,
        tx: &mut dyn UnitOfWork,
        ctx: &Context,
        workspace_info: &WorkspaceInfo,
        issued: &IssuedInvite,
    ) {
        let Self::Email { vault, inviter, locale, .. } = self else { return };
        let text = compose(locale.unwrap_or(workspace_info.locale), &workspace_info.name, inviter, issued);
        let content = text.render(&issued.invite.email);
        tx.enqueue_email(OutboxEmail::seal(
            ctx,
            vault,
            "invite.create",
            &content,
            link_lifetime(issued.invite.lifetime_days),
        ));
    }
}

fn localized_role(locale: Locale, role: Role) -> &'static str {
    match (locale, role) {
        (Locale::En, role) => role.as_str(),
        (Locale::Ru, Role::Owner) => "владелец",
        (Locale::Ru, Role::Admin) => "администратор",
        (Locale::Ru, Role::Builder) => "разработчик",
        (Locale::Ru, Role::Member) => "участник",
        (Locale::Ru, Role::Viewer) => "наблюдатель",
        (Locale::Kk, Role::Owner) => "иесі",
        (Locale::Kk, Role::Admin) => "әкімші",
        (Locale::Kk, Role::Builder) => "құрастырушы",
        (Locale::Kk, Role::Member) => "мүше",
        (Locale::Kk, Role::Viewer) => "бақылаушы",
    }
}

/// Formats the expiry as people of the locale write it.
fn format_expiry(locale: Locale, at: kernel::Timestamp) -> String {
    let form = match locale {
        Locale::En => "%-d %B %Y, %H:%M UTC",
        Locale::Ru | Locale::Kk => "%d.%m.%Y %H:%M (UTC)",
    };
    at.format(form).to_string()
}

fn compose(locale: Locale, workspace: &str, inviter: &str, issued: &IssuedInvite) -> EmailDraft {
    let (workspace, inviter) = (name_without_links(workspace), name_without_links(inviter));
    let role = localized_role(locale, issued.invite.role.role());
    let until = format_expiry(locale, issued.invite.expires_at);
    let email = &issued.invite.email;
    let (subject, invitation, label, terms, stranger) = match locale {
        Locale::En => (
            format!("You're invited to join {workspace}"),
            format!("{inviter} has invited you to the workspace “{workspace}” in Qala. Your role: {role}."),
            "Accept invite",
            format!("The link works once, until {until}, and only for {email}. Sign in with that address."),
            "If you weren't expecting this, you can ignore it. Nobody joins without using the link.",
        ),
        Locale::Ru => (
            format!("Вас приглашают в «{workspace}»"),
            format!(
                "{inviter} приглашает вас в рабочее пространство «{workspace}» в Qala. Ваша роль: {role}."
            ),
            "Принять приглашение",
            format!(
                "Ссылка одноразовая, действует до {until} и только для {email}; войдите под этим адресом."
            ),
            "Если вы не знаете, о чём речь, ничего не делайте: без перехода по ссылке никто не присоединится.",
        ),
        Locale::Kk => (
            format!("Сізді «{workspace}» жұмыс кеңістігіне шақырды"),
            format!(
                "{inviter} сізді Qala жүйесіндегі «{workspace}» жұмыс кеңістігіне шақырады. Рөліңіз: {role}."
            ),
            "Шақыруды қабылдау",
            format!(
                "Сілтеме бір рет, {until} дейін және тек {email} үшін жарамды; осы электрондық пошта арқылы кіріңіз."
            ),
            "Бұл не екенін білмесеңіз, ештеңе істемеңіз: сілтемесіз ешкім қосылмайды.",
        ),
    };
    EmailDraft {
        locale,
        subject,
        before: vec![invitation],
        code: None,
        link: Some(EmailLink { label: label.to_owned(), url: issued.link.clone() }),
        after: vec![terms, stranger.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use kernel::{Id, Timestamp};
    use uuid::Uuid;

    use super::*;
    use crate::invites::{Invite, InviteRole, InviteState};

    fn issued() -> IssuedInvite {
        IssuedInvite {
            invite: Invite {
                id: Id::from_uuid(Uuid::nil()),
                workspace: Id::from_uuid(Uuid::nil()),
                email: "bek@example.com".to_owned(),
                role: InviteRole::Builder,
                invited_by: Id::from_uuid(Uuid::nil()),
                created_at: Timestamp::UNIX_EPOCH,
                lifetime_days: 7,
                expires_at: Timestamp::UNIX_EPOCH + link_lifetime(7),
                access_ends_at: None,
                state: InviteState::Pending,
            },
            link: "https://q.example/invite/qiv_x".into(),
        }
    }

    #[test]
    fn the_texts_are_those_that_were_reviewed() {
        let mut texts = String::new();
        for locale in [Locale::En, Locale::Ru, Locale::Kk] {
            let email = compose(locale, "Acme", "Aru", &issued()).render("bek@example.com");
            texts.push_str(&format!("{locale} {}\n\n{}\n", email.subject, email.text));
        }
        kernel::testing::compare_snapshot(env!("CARGO_MANIFEST_DIR"), "invite_email.txt", &texts).unwrap();
    }

    #[test]
    fn names_become_neither_links_nor_paragraphs() {
        for locale in [Locale::En, Locale::Ru, Locale::Kk] {
            let email = compose(locale, "Win at www.evil.test", "A\n\nhttps://evil.test", &issued());
            let content = email.render("bek@example.com");
            for part in [&content.subject, &content.text, &content.html] {
                assert!(!part.contains("evil.test") && !part.contains("\n\nhttps"), "{locale}: {part}");
            }
        }
    }

    #[test]
    fn every_language_names_the_workspace_the_inviter_the_address_and_the_link() {
        let issued = issued();
        for locale in [Locale::En, Locale::Ru, Locale::Kk] {
            let content = compose(locale, "Acme <&>", "Aru", &issued).render("bek@example.com");
            assert!(content.subject.contains("Acme <&>"), "{locale}");
            let role = localized_role(locale, Role::Builder);
            let day =
                if locale == Locale::En { "8 January 1970, 00:00 UTC" } else { "08.01.1970 00:00 (UTC)" };
            for part in ["Acme <&>", "Aru", "bek@example.com", "https://q.example/invite/qiv_x", day, role] {
                assert!(content.text.contains(part), "{locale}: {part}");
            }
            assert!(content.html.contains("Acme &lt;&amp;&gt;") && !content.html.contains("Acme <"));
        }
    }
}
