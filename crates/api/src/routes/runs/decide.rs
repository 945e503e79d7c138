//! Deciding an approval.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::{
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

/// The decision about an approval.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DecideApproval {
    /// The approval.
    approval_id: ApprovalId,
    /// `true` to approve.
    approved: bool,
}

/// Decide an approval of a run
///
/// The run starts again with the decision. An approval can be decided once; afterwards, and once it has expired, you
/// get 409 `approval_settled`. Works only in the console, so that no program decides what waits for a person.
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
