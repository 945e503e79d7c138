//! Calling a tool.

use axum::{Json, extract::State};
use kernel::{
    authority::{AppRight, CanRun},
    id::{AutomationId, RunId},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, WriteToken},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// A call of a tool.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunAgentTool {
    /// Arguments that the tool's `inputSchema` allows, up to 256 KiB. Default: none.
    #[serde(default)]
    input: Option<Map<String, Value>>,
}

/// The run that a call started.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentToolRun {
    run_id: RunId,
    tool_name: String,
    automation_id: AutomationId,
    /// `true` if the runs of the month are used up: the run waits for the next month or a larger plan, at most seven days.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    held: bool,
}

/// Call a tool of agents
///
/// Starts its automation as the person who asks, with the version whose permissions were reviewed. Read the run for its
/// result.
#[utoipa::path(
    post, path = "/v1/automations/{id}/agent-tool/runs", tag = "agent-tools",
    params(("id" = kernel::id::AutomationId, Path, description = "The automation.")),
    request_body(content = RunAgentTool, example = json!({"input": {"title": "A first order"}})),
    responses((status = 200, body = AgentToolRun))
)]
pub(crate) async fn start_agent_tool(
    State(api): State<Api>,
    Authorized(ctx, (automation, right)): Authorized<WriteToken, (AutomationId, AppRight<CanRun>)>,
    payload: Payload,
) -> ApiResult<Json<AgentToolRun>> {
    let input: RunAgentTool = payload.json_or_empty()?;
    let called = api.call_tool(&ctx, &right, automation, input.input.unwrap_or_default()).await?;
    Ok(Json(AgentToolRun {
        run_id: called.started.run,
        tool_name: called.name.to_string(),
        automation_id: automation,
        held: called.started.is_on_hold,
    }))
}
