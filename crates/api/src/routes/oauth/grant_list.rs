//! Listing a person's grants to agent clients.

use axum::extract::State;
use kernel::{authority::Member, page::Page};

use super::view::GrantView;
use crate::{
    auth::{Authorized, Console},
    http::{
        error::ApiResult,
        extract::Params,
        paging::{LinkedPage, LinkedPageParams, linked_page},
    },
    state::Api,
};

/// List your grants to agent clients in a workspace
///
/// Newest first, including revoked and expired grants. If there are more, the header `Link` has the address of the next
/// page with `rel="next"`.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/oauth/grants", tag = "oauth",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), LinkedPageParams),
    responses((
        status = 200, body = Vec<GrantView>,
        headers(("Link" = String, description = "The address of the next page, with `rel=\"next\"`."))
    ))
)]
pub(crate) async fn list_grants(
    State(api): State<Api>,
    Authorized(_ctx, member): Authorized<Console, Member>,
    Params(input): Params<LinkedPageParams>,
) -> ApiResult<LinkedPage<GrantView>> {
    let page = input.request()?;
    let found = api.store().oauth_grants(member.workspace(), member.user(), page).await?;
    let grants = Page::from_limit_plus_one(found, page.limit, |grant| grant.id).map(GrantView::from);
    Ok(linked_page(&format!("/v1/workspaces/{}/oauth/grants", member.workspace()), page.limit, grants)?)
}
