//! Transferring the ownership of a workspace.

use application::unit;
use axum::{Json, extract::State};
use kernel::authority::Owner;
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::parse_member_id;
use crate::{
    auth::{Authorized, Console},
    http::{
        error::ApiResult,
        extract::{Path, Payload},
        views::Ack,
    },
    state::Api,
};

/// Confirmation of the transfer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TransferOwnership {
    /// The workspace's name.
    #[schema(min_length = 1, max_length = 120, example = "Acme")]
    confirm_name: String,
}

/// Transfer ownership to another member
///
/// The member becomes an owner, and you become an admin.
///
/// If you have a passkey, you must have used it in the last ten minutes; otherwise 403 `step_up_required`.
#[utoipa::path(post, path = "/v1/workspaces/{ws}/members/{userId}/transfer-ownership", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ("userId" = kernel::id::UserId, Path, description = "The member who becomes the owner.")), request_body(content = TransferOwnership, example = json!({"confirmName": "Acme"})), responses((status = 200, body = Ack)))]
pub(crate) async fn transfer_ownership(
    State(api): State<Api>,
    Authorized(ctx, owner): Authorized<Console, Owner>,
    Path((_, user)): Path<(String, String)>,
    payload: Payload,
) -> ApiResult<Json<Ack>> {
    let user = parse_member_id(&user)?;
    let input: TransferOwnership = payload.json()?;
    api.require_step_up(&ctx).await?;
    api.transaction(unit!(|tx| workspace::members::transfer_ownership(
        tx,
        &ctx,
        &owner,
        user,
        &input.confirm_name
    )
    .await))
        .await?;
    Ok(Json(Ack::OK))
}
