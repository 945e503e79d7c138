//! Revoking a grant to an agent client.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::authority::Member;

use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Path, views::Ack},
    state::Api,
};

/// Revoke your grant to an agent client
///
/// The client's tokens stop working at once.
#[utoipa::path(delete, path = "/v1/workspaces/{ws}/oauth/grants/{grantId}", tag = "oauth", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ("grantId" = kernel::id::GrantId, Path, description = "The grant.")), responses((status = 200, body = Ack)))]
pub(crate) async fn revoke_grant(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<Console, Member>,
    Path((_, grant)): Path<(String, String)>,
) -> ApiResult<Json<Ack>> {
    let grant = grant.parse().map_err(|_| Problem::not_found("grant"))?;
    let (workspace, user) = (member.workspace(), member.user());
    api.transaction(unit!(|tx| {
        identity::oauth::grants::revoke_grant(tx, &ctx, workspace, user, grant).await
    }))
    .await?;
    Ok(Json(Ack::OK))
}
