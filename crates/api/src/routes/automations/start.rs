//! Starting an automation by hand.

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::{
    authority::{AppRight, CanRun},
    id::{AutomationId, RunId},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, WriteToken},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// The input of the run.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartAutomation {
    /// Any JSON up to 256 KiB. Default: null.
    #[serde(default)]
    #[schema(value_type = serde_json::Value)]
    input: Option<Box<RawValue>>,
    /// Time at which to start, at most 30 days ahead. Default: at once. Not supported for automations with
    /// `maxConcurrency`.
    #[serde(default, rename = "runAt")]
    run_at: Option<DateTime<Utc>>,
}

/// The new run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartedRun {
    run_id: RunId,
    /// `true` if the runs of the month are used up: the run waits for the next month or a larger plan, at most seven days.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    held: bool,
}

/// Start an automation by hand
///
/// Works with any trigger and status, so you can try out a draft.
#[utoipa::path(post, path = "/v1/automations/{id}/run", tag = "automations", params(("id" = kernel::id::AutomationId, Path, description = "The automation.")), request_body(content = StartAutomation, example = json!({"input": {"title": "A first order"}})), responses((status = 200, body = StartedRun)))]
pub(crate) async fn start_automation(
    State(api): State<Api>,
    Authorized(ctx, (automation, right)): Authorized<WriteToken, (AutomationId, AppRight<CanRun>)>,
    payload: Payload,
) -> ApiResult<Json<StartedRun>> {
    let input: StartAutomation = payload.json_or_empty()?;
    let data = input.input.unwrap_or_else(|| RawValue::NULL.to_owned());
    let started = api.start_automation(&ctx, &right, automation, data, input.run_at).await?;
    Ok(Json(StartedRun { run_id: started.run, held: started.is_on_hold }))
}
