//! Reading how long a workspace's data is kept.

use application::Problem;
use axum::{Json, extract::State};
use kernel::authority::Member;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, ReadToken},
    http::error::ApiResult,
    state::Api,
};

/// Days for which each kind of a workspace's data is kept, by its plan; null for ever.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Retention {
    /// Finished runs with their input.
    #[schema(required, minimum = 1, example = 90)]
    runs: Option<u32>,
}

/// Read how long a workspace's data is kept
#[utoipa::path(
    get,
    path = "/v1/workspaces/{ws}/retention",
    tag = "workspaces",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")),
    responses((status = 200, body = Retention))
)]
pub(crate) async fn read_retention(
    State(api): State<Api>,
    Authorized(_, member): Authorized<ReadToken, Member>,
) -> ApiResult<Json<Retention>> {
    let workspace = api.store().workspace(member.workspace()).await?;
    let limits = workspace.ok_or_else(|| Problem::not_found("workspace"))?.plan.limits();
    Ok(Json(Retention { runs: limits.run_retention_days }))
}
