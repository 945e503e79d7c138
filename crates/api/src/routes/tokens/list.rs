//! Listing a person's tokens.

use application::Problem;
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
};
use kernel::{
    authority::Member,
    page::{MAX_LIMIT, Page, PageRequest},
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::TokenRecord;
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Params},
    state::Api,
};

/// Page of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListTokens {
    /// Cursor from the `Link` header of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200, default = 200)]
    limit: Option<u32>,
}

/// List your tokens in a workspace
///
/// Newest first, including revoked and expired tokens. If there are more, the header `Link` has the URL of the next
/// page with `rel="next"`.
#[utoipa::path(get, path = "/v1/workspaces/{ws}/tokens", tag = "tokens", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ListTokens), responses((status = 200, body = Vec<TokenRecord>)))]
pub(crate) async fn list_tokens(
    State(api): State<Api>,
    Authorized(_ctx, member): Authorized<Console, Member>,
    Params(input): Params<ListTokens>,
) -> ApiResult<(HeaderMap, Json<Vec<TokenRecord>>)> {
    let page = PageRequest::parse(input.limit.or(Some(MAX_LIMIT)), input.cursor.as_deref())?;
    let found = api.store().tokens(member.workspace(), member.user(), page).await?;
    let limit = page.limit;
    let page = Page::from_limit_plus_one(found, limit, |token| token.id).map(TokenRecord::from);
    let mut headers = HeaderMap::new();
    if let Some(cursor) = page.next_cursor {
        let workspace = member.workspace();
        let next = format!("</v1/workspaces/{workspace}/tokens?limit={limit}&cursor={cursor}>; rel=\"next\"");
        headers.insert(header::LINK, HeaderValue::try_from(next).map_err(Problem::internal)?);
    }
    Ok((headers, Json(page.items)))
}
