//! Answering what a run asks.

use application::unit;
use axum::{Json, extract::State};
use kernel::{
    Problem,
    authority::{AppRight, CanEdit},
    id::{ApprovalId, RunId},
};
use runs::approvals::decide_approval;
use serde::Deserialize;
use utoipa::ToSchema;

use super::approvals::ApprovalView;
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// A person's answer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DecideApproval {
    /// The question.
    approval_id: ApprovalId,
    /// Whether it is a yes.
    approved: bool,
}

/// Answer what a run asks
///
/// The run is begun again with the answer. A question is answered once: 409 `approval_settled` after that, and once it
/// has expired. Only in the console: what waits for a person is not answered by a program.
#[utoipa::path(post, path = "/v1/runs/{id}/approvals", tag = "runs", params(("id" = kernel::id::RunId, Path, description = "The run.")), request_body(content = DecideApproval, example = json!({"approvalId": "apv_01h455vb4pex5vsknk084sn02q", "approved": true})), responses((status = 200, body = ApprovalView)))]
pub(crate) async fn decide_run_approval(
    State(api): State<Api>,
    Authorized(ctx, (run, right)): Authorized<Console, (RunId, AppRight<CanEdit>)>,
    payload: Payload,
) -> ApiResult<Json<ApprovalView>> {
    let DecideApproval { approval_id, approved } = payload.json()?;
    let decided = api
        .transaction(unit!(|tx| decide_approval(tx, &ctx, &right, run, approval_id, approved)
            .await
            .map_err(Problem::from)))
        .await?;
    Ok(Json(decided.into()))
}
