//! Listing a person's workspaces.

use application::Problem;
use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::{
    Caller,
    authority::Role,
    deletion::RESTORE_PERIOD,
    id::WorkspaceId,
    page::{Page, PageRequest},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use workspace::workspaces::{Profile, WorkspaceSummary};

use crate::{
    auth::{Console, Ctx},
    http::{error::ApiResult, extract::Params, schemas, views::UserView},
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
    /// Workspace that is open in this session; null in the list of deleted ones.
    #[schema(required)]
    current_id: Option<WorkspaceId>,
}

/// Filter, and the page of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListWorkspaces {
    /// `true` lists the deleted workspaces that you own and can restore. Default: those that are not deleted.
    deleted: Option<bool>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
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
    /// Time of the deletion; null for a workspace that is not deleted.
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    deleted_at: Option<DateTime<Utc>>,
    /// Time from which a deleted workspace can no longer be restored.
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    restorable_until: Option<DateTime<Utc>>,
}

impl WorkspaceItem {
    fn of(item: WorkspaceSummary, deleted_at: Option<DateTime<Utc>>) -> Self {
        Self {
            id: item.id,
            name: item.name,
            slug: item.slug,
            profile: item.profile,
            role: item.role,
            member_count: item.member_count,
            deleted_at,
            restorable_until: deleted_at.map(|at| at + RESTORE_PERIOD),
        }
    }
}

/// List your workspaces
#[utoipa::path(
    get, path = "/v1/workspaces", tag = "workspaces", params(ListWorkspaces),
    responses((status = 200, body = WorkspaceList))
)]
pub(crate) async fn list_workspaces(
    State(api): State<Api>,
    ctx: Ctx<Console>,
    Params(input): Params<ListWorkspaces>,
) -> ApiResult<Json<WorkspaceList>> {
    let Caller::Session(session) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let user = api.store().user(session.user).await?.ok_or_else(Problem::unauthorized)?;
    let page = <PageRequest>::parse(input.limit, input.cursor.as_deref())?;
    let found: Vec<WorkspaceItem> = if input.deleted == Some(true) {
        let since = ctx.now - RESTORE_PERIOD;
        let deleted = api.store().deleted_workspaces_of(session.user, since, ctx.now, page).await?;
        deleted.into_iter().map(|item| WorkspaceItem::of(item.summary, Some(item.deleted_at))).collect()
    } else {
        let live = api.store().workspace_page(session.user, ctx.now, page).await?;
        live.into_iter().map(|item| WorkspaceItem::of(item, None)).collect()
    };
    let mut page = Page::from_limit_plus_one(found, page.limit, |item| item.id);
    for item in &mut page.items {
        item.role = session.view_as.map_or(item.role, |view| item.role.viewed_as(view));
    }
    let current_id = match session.workspace {
        Some(current) if input.deleted != Some(true) => {
            let fact = api.store().membership(current, session.user).await?;
            let fact = fact.filter(|fact| fact.access_ends_at.is_none_or(|end| ctx.now < end));
            fact.map(|fact| fact.workspace)
        }
        _ => None,
    };
    let Page { items, next_cursor } = page;
    Ok(Json(WorkspaceList { user: (&user).into(), items, next_cursor, current_id }))
}
