//! Listing gates.

use axum::{Json, extract::State};
use kernel::authority::Member;
use serde::Serialize;
use utoipa::ToSchema;

use super::view::GateItem;
use crate::{
    auth::{Authorized, Console},
    http::error::ApiResult,
    state::Api,
};

/// The gates of a workspace.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GateList {
    items: Vec<GateItem>,
}

/// List the gates of a workspace
///
/// An app can reach a host if its manifest names the host and a gate to it is open.
#[utoipa::path(get, path = "/v1/workspaces/{ws}/gates", tag = "gates", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), responses((status = 200, body = GateList)))]
pub(crate) async fn list_gates(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<Console, Member>,
) -> ApiResult<Json<GateList>> {
    let gates = connections::gates::list_gates(api.store(), &ctx, &member).await?;
    Ok(Json(GateList { items: gates.into_iter().map(GateItem::from).collect() }))
}
