//! What a run asks people.

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
    http::error::ApiResult,
    state::Api,
};

/// The questions of a run, the first first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalList {
    items: Vec<ApprovalView>,
}

/// A question of a run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Approval)]
pub(crate) struct ApprovalView {
    id: ApprovalId,
    /// What is asked.
    title: String,
    /// What a person should know before they answer.
    #[schema(required)]
    detail: Option<String>,
    state: ApprovalState,
    /// Until when it may be answered.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    expires_at: DateTime<Utc>,
}

impl From<Approval> for ApprovalView {
    fn from(approval: Approval) -> Self {
        let Approval { id, question, state, expires_at, .. } = approval;
        Self { id, title: question.title, detail: question.detail, state, expires_at }
    }
}

/// List what a run asks people
#[utoipa::path(get, path = "/v1/runs/{id}/approvals", tag = "runs", params(("id" = kernel::id::RunId, Path, description = "The run.")), responses((status = 200, body = ApprovalList)))]
pub(crate) async fn list_run_approvals(
    State(api): State<Api>,
    Authorized(_ctx, (id, access)): Authorized<ReadToken, (RunId, AppAccess)>,
) -> ApiResult<Json<ApprovalList>> {
    let found = api.store().approvals(access.member().workspace(), id).await?;
    Ok(Json(ApprovalList { items: found.into_iter().map(ApprovalView::from).collect() }))
}
