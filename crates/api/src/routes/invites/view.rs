//! Invites on the wire.

use std::collections::BTreeMap;

use application::Problem;
use chrono::{DateTime, Utc};
use identity::User;
use kernel::{
    Context, Locale, Timestamp,
    id::{InviteId, UserId},
    mail::Delivery,
};
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use workspace::invites::{Invite, InviteDelivery, InviteRole, InviteStatus, IssuedInvite};

use crate::{http::schemas, state::Api};

/// An invite.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Invite)]
pub(crate) struct InviteView {
    id: InviteId,
    email: String,
    #[schema(value_type = schemas::workspace::InviteRole)]
    role: InviteRole,
    #[schema(value_type = schemas::workspace::InviteStatus)]
    status: InviteStatus,
    /// Person who sent it last.
    invited_by: UserId,
    /// Name of that person.
    #[schema(required)]
    invited_by_name: Option<String>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    /// Time at which the link expires.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    expires_at: DateTime<Utc>,
    /// Time at which the membership's access ends; null for never.
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    access_ends_at: Option<DateTime<Utc>>,
}

impl InviteView {
    fn of(invite: Invite, names: &BTreeMap<UserId, String>, now: Timestamp) -> Self {
        Self {
            id: invite.id,
            status: invite.status(now),
            email: invite.email,
            role: invite.role,
            invited_by: invite.invited_by,
            invited_by_name: names.get(&invite.invited_by).cloned(),
            created_at: invite.created_at,
            expires_at: invite.expires_at,
            access_ends_at: invite.access_ends_at,
        }
    }
}

/// Returns invites with the names of their senders.
pub(super) async fn invite_views(
    api: &Api,
    ctx: &Context,
    invites: Vec<Invite>,
) -> Result<Vec<InviteView>, Problem> {
    let mut senders: Vec<UserId> = invites.iter().map(|invite| invite.invited_by).collect();
    senders.sort_unstable();
    senders.dedup();
    let senders = api.store().users(&senders).await?;
    let names = senders.into_iter().map(|user| (user.id, user.name)).collect();
    Ok(invites.into_iter().map(|invite| InviteView::of(invite, &names, ctx.now)).collect())
}

/// Delivery of an invite's link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Deliver {
    /// By e-mail.
    #[default]
    Email,
    /// In the response, for you to pass on.
    Link,
}

/// Invites that were created or resent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SentInvites {
    items: Vec<InviteView>,
    /// Delivery of the e-mails; null if you requested links.
    #[schema(required, inline)]
    delivery: Option<Delivery>,
    /// Links, if you requested them. They are returned only here.
    links: Vec<InviteLink>,
}

/// An invite's link.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InviteLink {
    invite_id: InviteId,
    email: String,
    #[schema(min_length = 10)]
    link: String,
}

impl SentInvites {
    pub(super) async fn of(
        api: &Api,
        ctx: &Context,
        issued: Vec<IssuedInvite>,
        deliver: Deliver,
    ) -> Result<Self, Problem> {
        let link = |issued: &IssuedInvite| InviteLink {
            invite_id: issued.invite.id,
            email: issued.invite.email.clone(),
            link: issued.link.expose_secret().to_owned(),
        };
        let links = match deliver {
            Deliver::Link => issued.iter().map(link).collect(),
            Deliver::Email => Vec::new(),
        };
        let delivery = match deliver {
            Deliver::Link => None,
            Deliver::Email => Some(api.settings().delivery),
        };
        let items = invite_views(api, ctx, issued.into_iter().map(|issued| issued.invite).collect()).await?;
        Ok(Self { items, delivery, links })
    }
}

/// Returns how the links of invites are delivered. E-mails count against the limits of the sender and of each
/// recipient.
pub(super) fn invite_delivery<'a>(
    api: &'a Api,
    inviter: &'a User,
    deliver: Deliver,
    locale: Option<Locale>,
    emails: &[String],
) -> Result<InviteDelivery<'a>, Problem> {
    let public_url = api.settings().public_url.as_str();
    match deliver {
        Deliver::Link => Ok(InviteDelivery::Link { public_url }),
        Deliver::Email => {
            api.rate_limits().check_invites(inviter.id, emails.len())?;
            emails.iter().try_for_each(|email| api.rate_limits().check_recipient(email))?;
            Ok(InviteDelivery::Email { vault: api.vault(), public_url, inviter: &inviter.name, locale })
        }
    }
}
