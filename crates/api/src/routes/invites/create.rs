//! Inviting people.

use application::{Problem, unit};
use axum::{Json, extract::State};
use chrono::{DateTime, SubsecRound as _, Utc};
use identity::Email;
use kernel::{Locale, authority::Admin};
use serde::Deserialize;
use utoipa::ToSchema;
use workspace::invites::{InviteRole, MAX_EMAILS};

use super::view::{Deliver, SentInvites, invite_delivery};
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Payload, schemas},
    state::Api,
};

/// The people to invite, and their role.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CreateInvites {
    /// E-mail addresses. Duplicates are ignored.
    #[schema(min_items = 1, max_items = 20, example = json!(["bek@example.com"]))]
    emails: Vec<String>,
    #[schema(value_type = schemas::workspace::InviteRole)]
    role: InviteRole,
    /// Days until the links expire. Default: 7.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 30, default = 7)]
    expires_in_days: Option<u16>,
    /// Time at which the new members' access ends.
    #[serde(default)]
    access_ends_at: Option<DateTime<Utc>>,
    /// Default: `email`.
    #[serde(default)]
    deliver: Deliver,
    /// Language of the e-mails. Default: the workspace's.
    #[serde(default)]
    locale: Option<Locale>,
}

/// Invite people
///
/// Either all invites are created or none. If somebody is a member already, the request fails with 409
/// `already_member`. An address with a pending invite gets a new invite that replaces it; the old link stops working.
/// E-mails count against the sender's hourly limit.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/invites", tag = "invites",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")),
    request_body(
        content = CreateInvites,
        example = json!({
            "emails": ["bek@example.com"],
            "role": "member",
            "deliver": "link",
            "expiresInDays": 7
        })
    ),
    responses((status = 200, body = SentInvites))
)]
pub(crate) async fn create_invites(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    payload: Payload,
) -> ApiResult<Json<SentInvites>> {
    let (_, inviter) = api.signed_in_user(&ctx).await?;
    let input: CreateInvites = payload.json()?;
    if input.emails.len() > MAX_EMAILS {
        return Err(Problem::invalid_field("emails", "must have 1 to 20 addresses").into());
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
