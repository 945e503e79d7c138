//! Listing backend projects.

use axum::{Json, extract::State};
use kernel::{
    authority::Member,
    page::{Page, PageRequest},
};
use projects::{ProjectFact, authorize_project};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::view::ProjectView;
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Params},
    state::Api,
};

/// Page of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListProjects {
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// The backend projects of a workspace that you can view, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProjectList {
    items: Vec<ProjectView>,
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// List the backend projects of a workspace
///
/// Rows are not counted in this list, so every `rowCount` is null.
#[utoipa::path(get, path = "/v1/workspaces/{ws}/backend/projects", tag = "backend-console", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ListProjects), responses((status = 200, body = ProjectList)))]
pub(crate) async fn list_projects(
    State(api): State<Api>,
    Authorized(_ctx, member): Authorized<Console, Member>,
    Params(input): Params<ListProjects>,
) -> ApiResult<Json<ProjectList>> {
    let page = <PageRequest>::parse(input.limit, input.cursor.as_deref())?;
    let mut seen = Vec::new();
    for summary in api.store().projects(member.workspace()).await? {
        let project = &summary.project;
        let fact =
            ProjectFact { project: project.id, workspace: project.workspace, created_by: project.created_by };
        let follows = page.after.is_none_or(|after| project.id.uuid() < after);
        // A member who may view none of them gets an empty list.
        if follows && let Ok(access) = authorize_project(member.clone(), Some(&fact)) {
            seen.push((summary, access));
            if seen.len() > page.limit as usize {
                break;
            }
        }
    }
    let page = Page::from_limit_plus_one(seen, page.limit, |(summary, _)| summary.project.id);
    let mut items = Vec::with_capacity(page.items.len());
    for (summary, access) in page.items {
        items.push(ProjectView::without_counts(&api, summary, &access).await?);
    }
    Ok(Json(ProjectList { items, next_cursor: page.next_cursor }))
}
