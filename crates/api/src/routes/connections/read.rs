//! Reading a connection.

use application::Problem;
use axum::extract::State;
use kernel::{authority::Member, id::ConnectionId};

use super::view::{ConnectionItem, hide_apps};
use crate::{
    auth::{Authorized, ReadToken},
    http::{conditional::Tagged, error::ApiResult, extract::Path},
    state::Api,
};

/// Read a connection
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/connections/{id}", tag = "connections",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ("id" = kernel::id::ConnectionId, Path, description = "The connection.")),
    responses((status = 200, body = ConnectionItem, headers(("ETag" = String))))
)]
pub(crate) async fn read_connection(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<ReadToken, Member>,
    Path((_, id)): Path<(String, String)>,
) -> ApiResult<Tagged<ConnectionItem>> {
    let id = parse_connection_id(&id)?;
    let found = connections::connections::view_connection(api.store(), &ctx, &member, id).await?;
    let mut view = found.ok_or_else(|| Problem::not_found("connection"))?;
    hide_apps(&api, &ctx, &member, std::slice::from_mut(&mut view)).await?;
    Ok(Tagged(ConnectionItem::of(&api, &ctx, &member, view).await?))
}

/// Parses the id of a connection in a path.
///
/// # Errors
/// 404 `connection_not_found` if the text is no such id.
pub(super) fn parse_connection_id(text: &str) -> Result<ConnectionId, Problem> {
    text.parse().map_err(|_| Problem::not_found("connection"))
}
