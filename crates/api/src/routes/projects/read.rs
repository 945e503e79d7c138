//! One project.

use axum::{Json, extract::State};
use projects::ProjectAccess;

use super::{get_project, view::ProjectView};
use crate::{
    auth::{Authorized, ReadToken},
    http::error::ApiResult,
    state::Api,
};

/// Read a backend project
///
/// Every table's rows are counted for it, one by one, and it says how many bytes they take.
#[utoipa::path(get, path = "/v1/backend/projects/{projectId}", tag = "backend-console", params(("projectId" = kernel::id::ProjectId, Path, description = "The project.")), responses((status = 200, body = ProjectView)))]
pub(crate) async fn read_project(
    State(api): State<Api>,
    Authorized(_ctx, access): Authorized<ReadToken, ProjectAccess>,
) -> ApiResult<Json<ProjectView>> {
    let summary = get_project(&api, &access).await?;
    Ok(Json(ProjectView::with_counts(&api, summary, &access).await?))
}
