//! One project.

use axum::{Json, extract::State};

use super::{get_project, view::ProjectView};
use crate::{
    auth::Ctx,
    http::{error::ApiResult, extract::Path},
    state::Api,
};

/// Read a backend project
///
/// Every table's rows are counted for it, one by one, and it says how many bytes they take.
#[utoipa::path(get, path = "/v1/backend/projects/{projectId}", tag = "backend-console", params(("projectId" = kernel::id::ProjectId, Path, description = "The project.")), responses((status = 200, body = ProjectView)))]
pub(crate) async fn read_project(
    State(api): State<Api>,
    ctx: Ctx,
    Path(project): Path<String>,
) -> ApiResult<Json<ProjectView>> {
    let access = api.project(&ctx, &project).await?;
    let summary = get_project(&api, &access).await?;
    Ok(Json(ProjectView::with_counts(&api, summary, &access).await?))
}
