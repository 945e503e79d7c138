//! Deleting a join domain.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::authority::Admin;

use super::view::JoinDomainView;
use crate::{
    auth::{Authorized, Console},
    http::{conditional::IfMatch, error::ApiResult, views::Ack},
    state::Api,
};

/// Delete a workspace's join domain
///
/// Nobody can join with it any more. People who joined with it stay members.
#[utoipa::path(delete, path = "/v1/workspaces/{ws}/join-domain", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), IfMatch), responses((status = 200, body = Ack)))]
pub(crate) async fn delete_join_domain(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    if_match: IfMatch,
) -> ApiResult<Json<Ack>> {
    let (_, caller) = api.signed_in_user(&ctx).await?;
    api.transaction(unit!(|tx| {
        if_match.check(JoinDomainView::locked(tx, admin.workspace(), &caller)).await?;
        Ok::<_, Problem>(workspace::join_domains::delete_join_domain(tx, &ctx, &admin).await?)
    }))
    .await?;
    Ok(Json(Ack::OK))
}
