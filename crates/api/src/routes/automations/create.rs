//! Creating an automation.

use application::{Problem, authorization::Deferred, unit};
use axum::{Json, extract::State};
use kernel::{
    authority::{AppRight, CanEdit, Member},
    id::AppId,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::{AutomationView, TriggerView};
use crate::{
    auth::{Authorized, WriteToken},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// A new automation.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewAutomation {
    #[schema(min_length = 1, max_length = 60, example = "New orders")]
    name: String,
    /// App that the automation starts; it must be in this workspace.
    app_id: AppId,
    trigger: TriggerView,
    /// Maximum number of concurrent runs. Default: no limit.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1000)]
    max_concurrency: Option<u16>,
    /// Number of retries of a failed run.
    #[serde(default)]
    #[schema(maximum = 5, default = 0)]
    retries: u8,
}

/// Create an automation
#[utoipa::path(post, path = "/v1/workspaces/{ws}/automations", tag = "automations", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), request_body(content = NewAutomation, examples(
    ("webhook" = (summary = "Started by a webhook", value = json!({"name": "New orders", "appId": "app_01h455vb4pex5vsknk084sn02q", "trigger": {"type": "webhook"}, "retries": 2}))),
    ("schedule" = (summary = "Started by a schedule", value = json!({"name": "Weekly orders", "appId": "app_01h455vb4pex5vsknk084sn02q", "trigger": {"type": "schedule", "cron": "0 9 * * 1", "timezone": "Asia/Almaty"}})))
)), responses((status = 200, body = AutomationView)))]
pub(crate) async fn create_automation(
    State(api): State<Api>,
    Authorized(ctx, (member, app_right)): Authorized<WriteToken, (Member, Deferred<AppRight<CanEdit>>)>,
    payload: Payload,
) -> ApiResult<Json<AutomationView>> {
    let input: NewAutomation = payload.json()?;
    let access = api.app_by_id(&ctx, input.app_id).await?;
    if access.member().workspace() != member.workspace() {
        return Err(Problem::not_found("app").into());
    }
    let right = app_right.require(access)?;
    let input = runs::automations::CreateAutomation {
        name: input.name,
        trigger: input.trigger.into_trigger()?,
        max_concurrency: input.max_concurrency,
        retries: input.retries,
    };
    let automation = api
        .transaction(unit!(|tx| runs::automations::create_automation(tx, &ctx, &right, input.clone()).await))
        .await?;
    Ok(Json(automation.into()))
}
