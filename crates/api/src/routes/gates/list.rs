//! Listing gates.

use axum::{Json, extract::State};
use kernel::{authority::Member, page::Page};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::{GateItem, hide_apps};
use crate::{
    auth::{Authorized, Console},
    http::{conditional::TaggedItem as _, error::ApiResult, extract::Params, paging::PageParams},
    state::Api,
};

/// The gates of a workspace.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GateList {
    items: Vec<GateItem>,
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// List the gates of a workspace
///
/// Oldest first. An app can reach a host if its manifest names the host and a gate to it is open.
#[utoipa::path(get, path = "/v1/workspaces/{ws}/gates", tag = "gates", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), PageParams), responses((status = 200, body = GateList)))]
pub(crate) async fn list_gates(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<Console, Member>,
    Params(input): Params<PageParams>,
) -> ApiResult<Json<GateList>> {
    let page = input.request()?;
    let mut found = connections::gates::list_gates(api.store(), &ctx, &member, page).await?;
    hide_apps(&api, &ctx, &member, &mut found).await?;
    let gates = Page::from_limit_plus_one(found, page.limit, |view| view.gate.id).map(GateItem::from);
    let items = gates.items.into_iter().map(GateItem::tagged).collect::<Result<_, _>>()?;
    Ok(Json(GateList { items, next_cursor: gates.next_cursor }))
}
