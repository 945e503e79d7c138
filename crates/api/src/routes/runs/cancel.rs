//! Cancelling a run.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::{
    authority::{AppAccess, AppRight, CanRun},
    id::RunId,
};

use super::view::RunWithSteps;
use crate::{
    auth::{Authorized, WriteToken},
    http::error::ApiResult,
    state::Api,
};

/// Cancel a run
///
/// The run fails with the code `cancelled`, whether it is queued, executes or waits for an approval; its code is stopped
/// within about a second. It is not retried, becomes no dead letter and starts no automation. A run that has ended, such
/// as one that was cancelled before, gets 409 `run_ended`.
#[utoipa::path(
    post, path = "/v1/runs/{id}/cancel", tag = "runs",
    params(("id" = kernel::id::RunId, Path, description = "The run.")),
    responses((status = 200, body = RunWithSteps))
)]
pub(crate) async fn cancel_run(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<WriteToken, (RunId, AppRight<CanRun>)>,
) -> ApiResult<Json<RunWithSteps>> {
    api.transaction(unit!(|tx| runs::runs::cancel_run(tx, &ctx, &right, id).await)).await?;
    let access: &AppAccess = &right;
    let run = api.store().run(access.member().workspace(), id).await?;
    let run = run.ok_or_else(|| Problem::not_found("run"))?;
    let explanation = api.explanation_of(access, &run).await?;
    Ok(Json(RunWithSteps::of(run, explanation, None)))
}
