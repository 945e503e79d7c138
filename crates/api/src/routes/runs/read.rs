//! Reading a run.

use application::Problem;
use axum::{Json, extract::State};
use kernel::{authority::AppAccess, id::RunId};

use super::view::RunWithSteps;
use crate::{
    auth::{Authorized, ReadToken},
    http::error::ApiResult,
    state::Api,
};

/// Read a run with its steps
#[utoipa::path(get, path = "/v1/runs/{id}", tag = "runs", params(("id" = kernel::id::RunId, Path, description = "The run.")), responses((status = 200, body = RunWithSteps)))]
pub(crate) async fn read_run(
    State(api): State<Api>,
    Authorized(_ctx, (id, access)): Authorized<ReadToken, (RunId, AppAccess)>,
) -> ApiResult<Json<RunWithSteps>> {
    let workspace = access.member().workspace();
    let run = api.store().run(workspace, id).await?.ok_or_else(|| Problem::not_found("run"))?;
    let explanation = api.explanation_of(&access, &run).await?;
    Ok(Json(RunWithSteps::of(run, explanation)))
}
