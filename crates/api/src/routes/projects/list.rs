//! Listing backend projects.

use application::Problem;
use axum::{Json, extract::State};
use futures::{StreamExt as _, TryStreamExt as _};
use kernel::{
    authority::Member,
    deletion::RESTORE_PERIOD,
    page::{Page, PageRequest},
};
use projects::{
    Project, ProjectAccess, ProjectFact, authorize_project,
    projects::{ProjectSummary, deletion::DeletedProject},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::view::ProjectView;
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Params},
    state::Api,
};

/// Projects of a page that are read at the same time.
const CONCURRENT_VIEWS: usize = 8;

/// Filter, and the page of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListProjects {
    /// `true` lists the deleted projects that you can restore. Default: those that are not deleted.
    deleted: Option<bool>,
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
/// `rowCount` is the last number where counting the rows of a project takes more than 20 milliseconds; `rowCountAt` says of
/// when it is.
#[utoipa::path(get, path = "/v1/workspaces/{ws}/backend/projects", tag = "backend-console", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ListProjects), responses((status = 200, body = ProjectList)))]
pub(crate) async fn list_projects(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<Console, Member>,
    Params(input): Params<ListProjects>,
) -> ApiResult<Json<ProjectList>> {
    let page = <PageRequest>::parse(input.limit, input.cursor.as_deref())?;
    let listed = if input.deleted == Some(true) {
        let deleted = api.store().deleted_projects(member.workspace(), ctx.now - RESTORE_PERIOD).await?;
        deleted.into_iter().map(Listed::Deleted).collect()
    } else {
        api.store().projects(member.workspace()).await?.into_iter().map(Listed::Live).collect::<Vec<_>>()
    };
    let mut seen = Vec::new();
    for item in listed {
        let follows = page.after.is_none_or(|after| item.project().id.uuid() < after);
        // A member who may view none of them gets an empty list.
        if follows && let Some(access) = item.access(&member) {
            seen.push((item, access));
            if seen.len() > page.limit as usize {
                break;
            }
        }
    }
    let page = Page::from_limit_plus_one(seen, page.limit, |(item, _)| item.project().id);
    let views = page.items.into_iter().map(|(item, access)| view(&api, item, access));
    // Waiting for the counts of many projects one after the other would take long.
    let items = futures::stream::iter(views).buffered(CONCURRENT_VIEWS).try_collect().await?;
    Ok(Json(ProjectList { items, next_cursor: page.next_cursor }))
}

async fn view(api: &Api, item: Listed, access: ProjectAccess) -> Result<ProjectView, Problem> {
    match item {
        Listed::Live(summary) => ProjectView::listed(api, summary, &access).await,
        Listed::Deleted(deleted) => ProjectView::of_deleted(api, deleted, &access).await,
    }
}

/// A project of the list.
enum Listed {
    Live(ProjectSummary),
    Deleted(DeletedProject),
}

impl Listed {
    fn project(&self) -> &Project {
        match self {
            Self::Live(summary) => &summary.project,
            Self::Deleted(deleted) => &deleted.summary.project,
        }
    }

    /// Returns a member's access to the project, if they may see it in the list: a deleted one only if they may restore
    /// it.
    fn access(&self, member: &Member) -> Option<ProjectAccess> {
        let Project { id, workspace, created_by, .. } = *self.project();
        let fact = ProjectFact { project: id, workspace, created_by };
        let access = authorize_project(member.clone(), Some(&fact)).ok()?;
        (matches!(self, Self::Live(_)) || access.can_manage()).then_some(access)
    }
}
