//! Restoring a deleted backend project.

use application::{authorization::Restorable, unit};
use axum::{Json, extract::State};
use projects::{ProjectRight, access::Own, projects::deletion};

use super::{get_project, view::ProjectView};
use crate::{
    auth::{Authorized, Console},
    http::error::ApiResult,
    state::Api,
};

/// Restore a deleted backend project
///
/// Its rows and keys are as they were. A project that is not deleted gets 409 `project_not_deleted`; seven days after the
/// deletion it is 404.
#[utoipa::path(
    post, path = "/v1/backend/projects/{projectId}/restore", tag = "backend-console",
    params(("projectId" = kernel::id::ProjectId, Path, description = "The project.")),
    responses((status = 200, body = ProjectView))
)]
pub(crate) async fn restore_project(
    State(api): State<Api>,
    Authorized(ctx, Restorable(right)): Authorized<Console, Restorable<ProjectRight<Own>>>,
) -> ApiResult<Json<ProjectView>> {
    api.transaction(unit!(|tx| deletion::undelete_project(tx, &ctx, &right).await)).await?;
    let summary = get_project(&api, &right).await?;
    Ok(Json(ProjectView::with_counts(&api, summary, &right).await?))
}
