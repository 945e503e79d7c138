//! Listing imports.

use axum::{Json, extract::State};
use kernel::{
    authority::{Member, Role},
    page::Page,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::ImportSummary;
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Params, paging::PageParams},
    state::Api,
};

/// The imports of a workspace.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Imports {
    items: Vec<ImportSummary>,
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// List imports
///
/// Your own, newest first; an admin sees all. A discarded import stays in the list for 30 days.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/imports", tag = "imports",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), PageParams),
    responses((status = 200, body = Imports))
)]
pub(crate) async fn list_imports(
    State(api): State<Api>,
    Authorized(_, member): Authorized<Console, Member>,
    Params(input): Params<PageParams>,
) -> ApiResult<Json<Imports>> {
    let page = input.request()?;
    let maker = match (member.role().at_least(Role::Admin), member.beneficiary()) {
        (true, _) => None,
        (false, Some(person)) => Some(person),
        // A view as a role has made nothing.
        (false, None) => return Ok(Json(Imports { items: Vec::new(), next_cursor: None })),
    };
    let found = api.store().imports(member.workspace(), maker, page).await?;
    let page = Page::from_limit_plus_one(found, page.limit, |import| import.id);
    let items = page.items.iter().map(ImportSummary::from).collect();
    Ok(Json(Imports { items, next_cursor: page.next_cursor }))
}
