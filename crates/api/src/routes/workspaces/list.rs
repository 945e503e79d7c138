//! Listing a person's workspaces.

use application::Problem;
use axum::{Json, extract::State};
use kernel::{Caller, authority::Role, id::WorkspaceId};
use serde::Serialize;
use utoipa::ToSchema;
use workspace::workspaces::Profile;

use crate::{
    auth::{Console, Ctx},
    http::{error::ApiResult, schemas, views::UserView},
    state::Api,
};

/// You and your workspaces.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkspaceList {
    user: UserView,
    items: Vec<WorkspaceItem>,
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
#[utoipa::path(get, path = "/v1/workspaces", tag = "workspaces", responses((status = 200, body = WorkspaceList)))]
pub(crate) async fn list_workspaces(
    State(api): State<Api>,
    ctx: Ctx<Console>,
) -> ApiResult<Json<WorkspaceList>> {
    let Caller::Session(session) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let user = api.store().user(session.user).await?.ok_or_else(Problem::unauthorized)?;
    let found = api.store().workspaces_of(session.user, ctx.now).await?;
    let current_id = session.workspace.filter(|current| found.iter().any(|item| item.id == *current));
    let items = found.into_iter().map(|item| WorkspaceItem {
        id: item.id,
        name: item.name,
        slug: item.slug,
        profile: item.profile,
        role: item.role,
        member_count: item.member_count,
    });
    Ok(Json(WorkspaceList { user: (&user).into(), items: items.collect(), current_id }))
}
