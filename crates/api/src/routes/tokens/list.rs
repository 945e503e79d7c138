//! Listing a person's tokens.

use axum::extract::State;
use kernel::{authority::Member, page::Page};

use super::view::TokenRecord;
use crate::{
    auth::{Authorized, Console},
    http::{
        error::ApiResult,
        extract::Params,
        paging::{LinkedPage, LinkedPageParams, linked_page},
    },
    state::Api,
};

/// List your tokens in a workspace
///
/// Newest first, including revoked and expired tokens. If there are more, the header `Link` has the address of the next
/// page with `rel="next"`.
#[utoipa::path(
    get, path = "/v1/workspaces/{ws}/tokens", tag = "tokens",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), LinkedPageParams),
    responses((
        status = 200, body = Vec<TokenRecord>,
        headers(("Link" = String, description = "The address of the next page, with `rel=\"next\"`."))
    ))
)]
pub(crate) async fn list_tokens(
    State(api): State<Api>,
    Authorized(_ctx, member): Authorized<Console, Member>,
    Params(input): Params<LinkedPageParams>,
) -> ApiResult<LinkedPage<TokenRecord>> {
    let page = input.request()?;
    let found = api.store().tokens(member.workspace(), member.user(), page).await?;
    let tokens = Page::from_limit_plus_one(found, page.limit, |token| token.id).map(TokenRecord::from);
    Ok(linked_page(&format!("/v1/workspaces/{}/tokens", member.workspace()), page.limit, tokens)?)
}
