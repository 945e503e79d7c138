//! Reading a run.

use application::Problem;
use axum::{extract::State, response::Response};
use kernel::{authority::AppAccess, id::RunId};

use super::view::RunWithSteps;
use crate::{
    auth::{Authorized, ReadToken},
    http::{conditional::IfNoneMatch, error::ApiResult},
    state::Api,
};

/// Read a run with its steps
#[utoipa::path(get, path = "/v1/runs/{id}", tag = "runs", params(("id" = kernel::id::RunId, Path, description = "The run."), IfNoneMatch), responses((status = 200, body = RunWithSteps)))]
pub(crate) async fn read_run(
    State(api): State<Api>,
    Authorized(_ctx, (id, access)): Authorized<ReadToken, (RunId, AppAccess)>,
    known: IfNoneMatch,
) -> ApiResult<Response> {
    let workspace = access.member().workspace();
    let run = api.store().run(workspace, id).await?.ok_or_else(|| Problem::not_found("run"))?;
    let result = api.result_of(&access, &run).await?;
    let explanation = api.explanation_of(&access, &run).await?;
    Ok(known.respond(RunWithSteps::of(run, explanation, result))?)
}
