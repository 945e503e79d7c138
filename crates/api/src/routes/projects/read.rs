//! Reading a backend project.

use axum::extract::State;
use projects::ProjectAccess;

use super::{get_project, view::ProjectView};
use crate::{
    auth::{Authorized, ReadToken},
    http::{conditional::Tagged, error::ApiResult},
    state::Api,
};

/// Read a backend project
///
/// Counts the rows of all tables one by one, and determines the bytes that they take.
#[utoipa::path(get, path = "/v1/backend/projects/{projectId}", tag = "backend-console", params(("projectId" = kernel::id::ProjectId, Path, description = "The project.")), responses((status = 200, body = ProjectView, headers(("ETag" = String)))))]
pub(crate) async fn read_project(
    State(api): State<Api>,
    Authorized(_ctx, access): Authorized<ReadToken, ProjectAccess>,
) -> ApiResult<Tagged<ProjectView>> {
    let summary = get_project(&api, &access).await?;
    Ok(Tagged(ProjectView::with_counts(&api, summary, &access).await?))
}
