//! One planned change.

use apps::changes::ChangeState;
use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::{
    Problem,
    authority::AppAccess,
    id::{AppId, ChangeId, VersionId},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::ChangePlanView;
use crate::{
    auth::{Authorized, ReadToken},
    http::error::ApiResult,
    state::Api,
};

/// How a change stands.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Change)]
pub(crate) struct ChangeView {
    change_id: ChangeId,
    app_id: AppId,
    state: ChangeState,
    /// Why it failed.
    #[schema(required)]
    message: Option<String>,
    /// The version it became.
    #[schema(required)]
    version_id: Option<VersionId>,
    #[schema(required, maximum = 100)]
    trust_score: Option<u8>,
    /// What is being done.
    #[schema(required)]
    stage: Option<String>,
    plan: OpenPlan,
}

/// The plan, and until when it may be approved.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenPlan {
    #[serde(flatten)]
    plan: ChangePlanView,
    /// What only an admin in the console can do for it.
    needs_console: Vec<String>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    expires_at: DateTime<Utc>,
}

/// Read a planned change
///
/// Only whoever planned it sees it.
#[utoipa::path(get, path = "/v1/changes/{changeId}", tag = "apps", params(("changeId" = kernel::id::ChangeId, Path, description = "The change.")), responses((status = 200, body = ChangeView)))]
pub(crate) async fn read_change(
    State(api): State<Api>,
    Authorized(ctx, (id, access)): Authorized<ReadToken, (ChangeId, AppAccess)>,
) -> ApiResult<Json<ChangeView>> {
    let missing = || Problem::not_found("change");
    let member = access.member();
    let found = api.store().change(member.workspace(), member.user(), id).await?;
    let change = found.ok_or_else(missing)?;
    let app = api.store().app(member.workspace(), change.app).await?.ok_or_else(missing)?;
    let needs_console = change.plan.needs_console.clone();
    Ok(Json(ChangeView {
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
    }))
}
