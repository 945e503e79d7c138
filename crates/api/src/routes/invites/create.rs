//! Inviting people.

use application::unit;
use axum::{Json, extract::State};
use chrono::{DateTime, SubsecRound as _, Utc};
use identity::Email;
use kernel::{Locale, Problem, authority::Admin};
use serde::Deserialize;
use utoipa::ToSchema;
use workspace::invites::{InviteRole, MAX_EMAILS};

use super::view::{Deliver, SentInvites, invite_delivery};
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// Whom to invite, as what.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CreateInvites {
    /// One that stands there twice is invited once.
    #[schema(min_items = 1, max_items = 20, example = json!(["bek@example.com"]))]
    emails: Vec<String>,
    role: InviteRole,
    /// For how many days the links are good; 7 when not said.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 30, default = 7)]
    expires_in_days: Option<u16>,
    /// When the access that they get ends by itself.
    #[serde(default)]
    access_ends_at: Option<DateTime<Utc>>,
    /// `email` when not said.
    #[serde(default)]
    deliver: Deliver,
    /// The language of the mails; the workspace's when not said.
    #[serde(default)]
    locale: Option<Locale>,
}

/// Invite people
///
/// All or nobody. Somebody who is a member already is 409 `already_member`. An address that is invited already gets a
/// new invite in place of the old one, whose link then leads nowhere. Mails take from the sender's hour.
#[utoipa::path(post, path = "/v1/workspaces/{ws}/invites", tag = "invites", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), request_body(content = CreateInvites, example = json!({"emails": ["bek@example.com"], "role": "member", "deliver": "link", "expiresInDays": 7})), responses((status = 200, body = SentInvites)))]
pub(crate) async fn create_invites(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    payload: Payload,
) -> ApiResult<Json<SentInvites>> {
    let (_, inviter) = api.signed_in_user(&ctx).await?;
    let input: CreateInvites = payload.json()?;
    if input.emails.len() > MAX_EMAILS {
        return Err(Problem::invalid_field("emails", "must hold 1 to 20 addresses").into());
    }
    let email = |(index, text): (usize, &String)| {
        let invalid = |_| Problem::invalid_field(&format!("emails[{index}]"), "must be an e-mail address");
        text.parse::<Email>().map(|email| email.as_str().to_owned()).map_err(invalid)
    };
    let emails = input.emails.iter().enumerate().map(email).collect::<Result<Vec<_>, _>>()?;
    let delivery = invite_delivery(&api, &inviter, input.deliver, input.locale, &emails)?;
    let invites = workspace::invites::CreateInvites {
        emails,
        role: input.role,
        expires_in_days: input.expires_in_days,
        access_ends_at: input.access_ends_at.map(|end| end.trunc_subsecs(3)),
    };
    let peppers = api.peppers();
    let issued = api
        .transaction(unit!(|tx| workspace::invites::create_invites(
            tx,
            &ctx,
            peppers,
            &admin,
            invites.clone(),
            &delivery
        )
        .await))
        .await?;
    Ok(Json(SentInvites::of(&api, &ctx, issued, input.deliver).await?))
}
