//! Deleting a backend project.

use application::{Problem, unit};
use axum::{Json, extract::State};
use projects::{ProjectRight, access::Own, projects::deletion};
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::ProjectView;
use crate::{
    auth::{Authorized, Console},
    http::{conditional::IfMatch, error::ApiResult, extract::Payload, views::Ack},
    state::Api,
};

/// Confirmation of the deletion.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DeleteProject {
    /// The project's name.
    #[schema(min_length = 1, max_length = 120, example = "Shop")]
    confirm_name: String,
}

/// Delete a backend project
///
/// Its data API and keys stop at once, and apps no longer reach its rows. Its owners can restore it for seven days; then
/// its rows are deleted for good.
#[utoipa::path(
    delete, path = "/v1/backend/projects/{projectId}", tag = "backend-console",
    params(("projectId" = kernel::id::ProjectId, Path, description = "The project."), IfMatch),
    request_body(content = DeleteProject, example = json!({"confirmName": "Shop"})),
    responses((status = 200, body = Ack))
)]
pub(crate) async fn delete_project(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<Console, ProjectRight<Own>>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Json<Ack>> {
    let input: DeleteProject = payload.json()?;
    api.transaction(unit!(|tx| {
        if_match.check(ProjectView::locked(tx, &api, &right)).await?;
        Ok::<_, Problem>(deletion::delete_project(tx, &ctx, &right, &input.confirm_name).await?)
    }))
    .await?;
    api.invalidate_project(right.project());
    Ok(Json(Ack::OK))
}
