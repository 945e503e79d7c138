//! Publishing an automation as a tool.

use application::{Problem, unit};
use axum::extract::State;
use kernel::{
    authority::{AppRight, CanEdit},
    id::AutomationId,
};
use runs::{
    InvalidInput,
    agent_tools::{InputSchema, PermissionsHash, ToolName},
};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::view::{AgentToolView, ToolOfAutomation};
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::{IfMatch, Tagged},
        error::ApiResult,
        extract::Payload,
        schemas,
    },
    state::Api,
};

/// A tool to publish.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PublishAgentTool {
    /// Name; unique in the workspace. On the agent server `run_` stands before it.
    #[schema(min_length = 2, max_length = 48, pattern = "^[a-z][a-z0-9_]{1,47}$")]
    name: String,
    #[schema(min_length = 1, max_length = 60)]
    title: String,
    /// Description for agents: what the tool does, and when to call it.
    #[schema(min_length = 8, max_length = 400)]
    description: String,
    #[schema(value_type = schemas::runs::ToolInputSchema)]
    input_schema: Value,
    /// The `hash` of the permissions that you have read.
    reviewed_hash: String,
    /// `false` publishes it turned off.
    #[serde(default = "default_enabled")]
    #[schema(default = true)]
    enabled: bool,
}

fn default_enabled() -> bool {
    true
}

/// Publish an automation as a tool of agents
///
/// Publishes it, or replaces what was published of it. Read the permissions of its app first: if a version with others
/// becomes current, the tool is `needs_review`, and no agent can call it until you publish it again.
#[utoipa::path(
    put, path = "/v1/automations/{id}/agent-tool", tag = "agent-tools",
    params(("id" = kernel::id::AutomationId, Path, description = "The automation."), IfMatch),
    request_body(content = PublishAgentTool, example = json!({"name": "new_order", "title": "New order", "description": "Adds an order and returns its number.", "inputSchema": {"type": "object", "properties": {"title": {"type": "string", "maxLength": 200}, "amount": {"type": "integer", "minimum": 1}}, "required": ["title"], "additionalProperties": false}, "reviewedHash": "5f3c9f0d6f4c4b6b8f0e4b0f2c1d3a597d5e6f708192a3b4c5d6e7f8091a2b3c"})),
    responses((status = 200, body = AgentToolView, headers(("ETag" = String))))
)]
pub(crate) async fn put_agent_tool(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<Console, (AutomationId, AppRight<CanEdit>)>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Tagged<AgentToolView>> {
    let input: PublishAgentTool = payload.json()?;
    let schema = InputSchema::parse(input.input_schema).map_err(InvalidInput::from)?;
    let input = runs::agent_tools::PublishTool {
        name: ToolName::parse(&input.name)?,
        title: input.title,
        description: input.description,
        input_schema: schema,
        reviewed_hash: PermissionsHash(input.reviewed_hash),
        is_enabled: input.enabled,
    };
    api.transaction(unit!(|tx| {
        if_match.check(ToolOfAutomation::locked(tx, &right, id)).await?;
        Ok::<_, Problem>(runs::agent_tools::publish_tool(tx, &ctx, &right, id, input.clone()).await?)
    }))
    .await?;
    let published = AgentToolView::find(&api, &ctx, &right, id).await?;
    Ok(Tagged(published.ok_or_else(|| Problem::not_found("agent tool"))?))
}
