//! Resending an invite.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::{Locale, authority::Admin};
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

/// Options for resending.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResendInvite {
    /// Default: `email`.
    #[serde(default)]
    deliver: Deliver,
    /// Language of the e-mail. Default: the workspace's.
    #[serde(default)]
    locale: Option<Locale>,
}

/// Resend an invite
///
/// Creates a new link, which expires after as many days as the first one; the old link stops working. An expired invite
/// becomes pending again.
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
