//! One run.

use axum::{Json, extract::State};
use kernel::Problem;

use super::view::RunWithSteps;
use crate::{
    auth::Ctx,
    http::{error::ApiResult, extract::Path},
    state::Api,
};

/// Read a run with its steps
#[utoipa::path(get, path = "/v1/runs/{id}", tag = "runs", params(("id" = kernel::id::RunId, Path, description = "The run.")), responses((status = 200, body = RunWithSteps)))]
pub(crate) async fn read_run(
    State(api): State<Api>,
    ctx: Ctx,
    Path(id): Path<String>,
) -> ApiResult<Json<RunWithSteps>> {
    let (id, access) = api.run(&ctx, &id).await?;
    let workspace = access.member().workspace();
    let run = api.store().run(workspace, id).await?.ok_or_else(|| Problem::not_found("run"))?;
    let explanation = api.explanation_of(&access, &run).await?;
    Ok(Json(RunWithSteps::of(run, explanation)))
}
