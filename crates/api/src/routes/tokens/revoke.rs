//! Revoking one of a person's tokens.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::authority::Member;

use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Path, views::Ack},
    state::Api,
};

/// Revoke one of your tokens
#[utoipa::path(delete, path = "/v1/workspaces/{ws}/tokens/{tokenId}", tag = "tokens", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ("tokenId" = kernel::id::TokenId, Path, description = "The token.")), responses((status = 200, body = Ack)))]
pub(crate) async fn revoke_token(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<Console, Member>,
    Path((_, token)): Path<(String, String)>,
) -> ApiResult<Json<Ack>> {
    let token = token.parse().map_err(|_| Problem::not_found("token"))?;
    api.transaction(unit!(|tx| identity::tokens::revoke_token(
        tx,
        &ctx,
        member.workspace(),
        member.user(),
        token
    )
    .await))
        .await?;
    Ok(Json(Ack::OK))
}
