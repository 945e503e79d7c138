//! Reading a planned change.

use application::Problem;
use apps::changes::ChangeState;
use axum::{extract::State, response::Response};
use chrono::{DateTime, Utc};
use kernel::{
    authority::AppAccess,
    id::{AppId, ChangeId, VersionId},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::ChangePlanView;
use crate::{
    auth::{Authorized, ReadToken},
    http::{
        conditional::{IfNoneMatch, Representation},
        error::ApiResult,
        schemas,
    },
    state::Api,
};

/// A planned change and its state.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Change)]
pub(crate) struct ChangeView {
    change_id: ChangeId,
    app_id: AppId,
    #[schema(value_type = schemas::apps::ChangeState)]
    state: ChangeState,
    /// Reason of the failure.
    #[schema(required)]
    message: Option<String>,
    /// Version that the change became.
    #[schema(required)]
    version_id: Option<VersionId>,
    #[schema(required, maximum = 100)]
    trust_score: Option<u8>,
    /// Current step of the work on the change.
    #[schema(required)]
    stage: Option<String>,
    plan: OpenPlan,
}

/// The plan, and the time until which it can be approved.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenPlan {
    #[serde(flatten)]
    plan: ChangePlanView,
    /// Steps that an admin has to take in the console for the plan.
    needs_console: Vec<String>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    expires_at: DateTime<Utc>,
}

impl Representation for ChangeView {}

/// Read a planned change
///
/// You can read only changes that you planned.
#[utoipa::path(
    get, path = "/v1/changes/{changeId}", tag = "apps",
    params(("changeId" = kernel::id::ChangeId, Path, description = "The change."), IfNoneMatch),
    responses((status = 200, body = ChangeView))
)]
pub(crate) async fn read_change(
    State(api): State<Api>,
    Authorized(ctx, (id, access)): Authorized<ReadToken, (ChangeId, AppAccess)>,
    known: IfNoneMatch,
) -> ApiResult<Response> {
    let missing = || Problem::not_found("change");
    let member = access.member();
    let found = api.store().change(member.workspace(), member.user(), id).await?;
    let change = found.ok_or_else(missing)?;
    let app = api.store().app(member.workspace(), change.app).await?.ok_or_else(missing)?;
    let needs_console = change.plan.needs_console.clone();
    Ok(known.respond(ChangeView {
        change_id: change.id,
        app_id: change.app,
        state: change.state(ctx.now),
        message: None,
        version_id: None,
        trust_score: None,
        stage: None,
        plan: OpenPlan {
            expires_at: change.expires_at,
            plan: ChangePlanView::of(change, app.name, member.role()),
            needs_console,
        },
    })?)
}
