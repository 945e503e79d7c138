//! Listing the approvals of a run.

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::{
    authority::AppAccess,
    id::{ApprovalId, RunId},
};
use runs::approvals::{Approval, ApprovalState};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, ReadToken},
    http::{error::ApiResult, schemas},
    state::Api,
};

/// The approvals of a run, oldest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalList {
    items: Vec<ApprovalView>,
}

/// An approval: a question that a run asks a person.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Approval)]
pub(crate) struct ApprovalView {
    id: ApprovalId,
    /// The question.
    title: String,
    /// Information for the decision.
    #[schema(required)]
    detail: Option<String>,
    #[schema(value_type = schemas::runs::ApprovalState)]
    state: ApprovalState,
    /// Time at which the run asked.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    asked_at: DateTime<Utc>,
    /// Time until which it can be decided.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    expires_at: DateTime<Utc>,
}

impl From<Approval> for ApprovalView {
    fn from(approval: Approval) -> Self {
        let asked_at = approval.asked_at();
        let Approval { id, question, state, expires_at, .. } = approval;
        Self { id, title: question.title, detail: question.detail, state, asked_at, expires_at }
    }
}

/// List the approvals of a run
#[utoipa::path(
    get, path = "/v1/runs/{id}/approvals", tag = "runs",
    params(("id" = kernel::id::RunId, Path, description = "The run.")),
    responses((status = 200, body = ApprovalList))
)]
pub(crate) async fn list_run_approvals(
    State(api): State<Api>,
    Authorized(_ctx, (id, access)): Authorized<ReadToken, (RunId, AppAccess)>,
) -> ApiResult<Json<ApprovalList>> {
    let found = api.store().approvals(access.member().workspace(), id).await?;
    Ok(Json(ApprovalList { items: found.into_iter().map(ApprovalView::from).collect() }))
}
