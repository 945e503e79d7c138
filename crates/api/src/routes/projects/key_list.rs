//! Listing the keys of a project.

use axum::extract::State;
use kernel::page::Page;
use projects::{ProjectRight, access::Own};

use super::key_view::KeyRecord;
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::TaggedItem as _,
        error::ApiResult,
        extract::Params,
        paging::{LinkedPage, LinkedPageParams, linked_page},
    },
    state::Api,
};

/// List the keys of a backend project
///
/// Newest first, including revoked keys. The values of keys are never returned. If there are more, the header `Link` has
/// the address of the next page with `rel="next"`.
#[utoipa::path(
    get, path = "/v1/backend/projects/{projectId}/keys", tag = "backend-console",
    params(("projectId" = kernel::id::ProjectId, Path, description = "The project."), LinkedPageParams),
    responses((
        status = 200, body = Vec<KeyRecord>,
        headers(("Link" = String, description = "The address of the next page, with `rel=\"next\"`."))
    ))
)]
pub(crate) async fn list_project_keys(
    State(api): State<Api>,
    Authorized(_ctx, right): Authorized<Console, ProjectRight<Own>>,
    Params(input): Params<LinkedPageParams>,
) -> ApiResult<LinkedPage<KeyRecord>> {
    let page = input.request()?;
    let found = api.store().project_key_page(right.member().workspace(), right.project(), page).await?;
    let keys = Page::from_limit_plus_one(found, page.limit, |key| key.id).map(KeyRecord::from);
    let items = keys.items.into_iter().map(KeyRecord::tagged).collect::<Result<_, _>>()?;
    let keys = Page { items, ..keys };
    Ok(linked_page(&format!("/v1/backend/projects/{}/keys", right.project()), page.limit, keys)?)
}
