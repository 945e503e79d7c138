//! Listing imports.

use axum::{Json, extract::State};
use imports::imports::MAX_LISTED;
use kernel::authority::{Member, Role};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::ImportSummary;
use crate::{
    auth::{Authorized, Console},
    http::error::ApiResult,
    state::Api,
};

/// The imports of a workspace.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Imports {
    /// At most 200, newest first.
    #[schema(max_items = 200)]
    items: Vec<ImportSummary>,
}

/// List imports
///
/// Your own, newest first; an admin sees all. A discarded import stays in the list for 30 days.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/imports", tag = "imports",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")),
    responses((status = 200, body = Imports))
)]
pub(crate) async fn list_imports(
    State(api): State<Api>,
    Authorized(_, member): Authorized<Console, Member>,
) -> ApiResult<Json<Imports>> {
    let maker = match (member.role().at_least(Role::Admin), member.beneficiary()) {
        (true, _) => None,
        (false, Some(person)) => Some(person),
        // A view as a role has made nothing.
        (false, None) => return Ok(Json(Imports { items: Vec::new() })),
    };
    let found = api.store().imports(member.workspace(), maker, MAX_LISTED).await?;
    Ok(Json(Imports { items: found.iter().map(ImportSummary::from).collect() }))
}
