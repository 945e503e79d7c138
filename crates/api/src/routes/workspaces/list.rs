//! Listing a person's workspaces.

use application::Problem;
use axum::{Json, extract::State};
use kernel::{Caller, authority::Role, id::WorkspaceId, page::Page};
use serde::Serialize;
use utoipa::ToSchema;
use workspace::workspaces::Profile;

use crate::{
    auth::{Console, Ctx},
    http::{error::ApiResult, extract::Params, paging::PageParams, schemas, views::UserView},
    state::Api,
};

/// You and your workspaces.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkspaceList {
    user: UserView,
    /// Oldest first.
    items: Vec<WorkspaceItem>,
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
    /// Workspace that is open in this session.
    #[schema(required)]
    current_id: Option<WorkspaceId>,
}

/// One of your workspaces.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkspaceItem {
    id: WorkspaceId,
    name: String,
    slug: String,
    #[schema(value_type = schemas::workspace::Profile)]
    profile: Profile,
    role: Role,
    member_count: u64,
}

/// List your workspaces
#[utoipa::path(get, path = "/v1/workspaces", tag = "workspaces", params(PageParams), responses((status = 200, body = WorkspaceList)))]
pub(crate) async fn list_workspaces(
    State(api): State<Api>,
    ctx: Ctx<Console>,
    Params(input): Params<PageParams>,
) -> ApiResult<Json<WorkspaceList>> {
    let Caller::Session(session) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let user = api.store().user(session.user).await?.ok_or_else(Problem::unauthorized)?;
    let page = input.request()?;
    let found = api.store().workspace_page(session.user, ctx.now, page).await?;
    let current = match session.workspace {
        Some(current) => api.store().membership(current, session.user).await?,
        None => None,
    };
    let current = current.filter(|fact| fact.access_ends_at.is_none_or(|end| ctx.now < end));
    let current_id = current.map(|fact| fact.workspace);
    let page = Page::from_limit_plus_one(found, page.limit, |item| item.id);
    let items = page.items.into_iter().map(|item| WorkspaceItem {
        id: item.id,
        name: item.name,
        slug: item.slug,
        profile: item.profile,
        role: session.view_as.map_or(item.role, |view| item.role.viewed_as(view)),
        member_count: item.member_count,
    });
    let (user, items) = ((&user).into(), items.collect());
    Ok(Json(WorkspaceList { user, items, next_cursor: page.next_cursor, current_id }))
}
