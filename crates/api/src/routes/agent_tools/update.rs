//! Turning a tool on and off.

use application::{Problem, unit};
use axum::extract::State;
use kernel::{
    authority::{AppRight, CanEdit},
    id::AutomationId,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::{AgentToolView, ToolOfAutomation};
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::{IfMatch, Tagged},
        error::ApiResult,
        extract::Payload,
    },
    state::Api,
};

/// A change of a tool.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateAgentTool {
    /// `false` turns the tool off.
    enabled: bool,
}

/// Turn a tool of agents on or off
///
/// A tool whose app may do something else than you have reviewed cannot be turned on (409 `permissions_changed`): publish
/// it again.
#[utoipa::path(
    patch, path = "/v1/automations/{id}/agent-tool", tag = "agent-tools",
    params(("id" = kernel::id::AutomationId, Path, description = "The automation."), IfMatch),
    request_body(content = UpdateAgentTool, example = json!({"enabled": false})),
    responses((status = 200, body = AgentToolView, headers(("ETag" = String))))
)]
pub(crate) async fn update_agent_tool(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<Console, (AutomationId, AppRight<CanEdit>)>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Tagged<AgentToolView>> {
    let input: UpdateAgentTool = payload.json()?;
    let is_enabled = input.enabled;
    api.transaction(unit!(|tx| {
        if_match.check(ToolOfAutomation::locked(tx, &right, id)).await?;
        Ok::<_, Problem>(runs::agent_tools::set_tool_enabled(tx, &ctx, &right, id, is_enabled).await?)
    }))
    .await?;
    let changed = AgentToolView::find(&api, &ctx, &right, id).await?;
    Ok(Tagged(changed.ok_or_else(|| Problem::not_found("agent tool"))?))
}
