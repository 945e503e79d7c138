//! Sending an invite again.

use application::unit;
use axum::{Json, extract::State};
use kernel::{Locale, Problem, authority::Admin};
use serde::Deserialize;
use utoipa::ToSchema;
use workspace::WorkspaceError;

use super::view::{Deliver, SentInvites, invite_delivery};
use crate::{
    auth::{Authorized, Console},
    http::{
        error::ApiResult,
        extract::{Path, Payload},
    },
    state::Api,
};

/// How to send it.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResendInvite {
    /// `email` when not said.
    #[serde(default)]
    deliver: Deliver,
    /// The language of the mail; the workspace's when not said.
    #[serde(default)]
    locale: Option<Locale>,
}

/// Send an invite again
///
/// Its link is a fresh one, good for as many days as the first; the link before leads nowhere from now on. An invite
/// that has expired waits again.
#[utoipa::path(post, path = "/v1/workspaces/{ws}/invites/{inviteId}/resend", tag = "invites", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ("inviteId" = kernel::id::InviteId, Path, description = "The invite.")), request_body(content = ResendInvite, example = json!({"deliver": "link"})), responses((status = 200, body = SentInvites)))]
pub(crate) async fn resend_invite(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    Path((_, invite)): Path<(String, String)>,
    payload: Payload,
) -> ApiResult<Json<SentInvites>> {
    let invite = invite.parse().map_err(|_| Problem::not_found("invite"))?;
    let (_, inviter) = api.signed_in_user(&ctx).await?;
    let input: ResendInvite = payload.json_or_empty()?;
    let known = api.store().invite_address(admin.workspace(), invite).await?;
    let known = known.ok_or(WorkspaceError::InviteNotFound)?;
    let delivery = invite_delivery(&api, &inviter, input.deliver, input.locale, &[known])?;
    let peppers = api.peppers();
    let issued = api
        .transaction(unit!(|tx| workspace::invites::resend_invite(
            tx, &ctx, peppers, &admin, invite, &delivery
        )
        .await))
        .await?;
    Ok(Json(SentInvites::of(&api, &ctx, vec![issued], input.deliver).await?))
}
