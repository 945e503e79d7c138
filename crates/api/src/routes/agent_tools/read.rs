//! Reading what to know before an automation is published as a tool.

use application::Problem;
use apps::Manifest;
use axum::extract::State;
use kernel::{
    authority::AppAccess,
    id::{AppId, AutomationId},
};
use runs::{
    TriggerKind,
    agent_tools::{SuggestedTool, ToolBlock, suggest_tool},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::{AgentToolView, InputSchemaView, unpublished_tag};
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::{EntityTag, Representation, Tagged},
        error::ApiResult,
        schemas,
    },
    state::Api,
};

/// An automation as a tool, published or not.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentToolReview {
    automation_id: AutomationId,
    automation_name: String,
    #[schema(required)]
    app_id: Option<AppId>,
    #[schema(required)]
    app_name: Option<String>,
    /// Reason for which the automation cannot be published now.
    #[schema(required, value_type = Option<schemas::runs::ToolBlock>)]
    blocked: Option<ToolBlock>,
    /// Manifest of the app's current version. Read its permissions before you publish.
    #[schema(required, value_type = Option<schemas::apps::Manifest>)]
    manifest: Option<Manifest>,
    /// Digest of these permissions, to be sent as `reviewedHash`.
    #[schema(required)]
    hash: Option<String>,
    suggested: SuggestedToolView,
    /// Trigger whose runs look like those of a call; null if events start the automation.
    #[schema(required, value_type = Option<schemas::runs::TriggerKind>)]
    starts_as: Option<TriggerKind>,
    /// The tool, if the automation is published.
    #[schema(required)]
    published: Option<AgentToolView>,
}

impl Representation for AgentToolReview {
    /// Returns the tag of the published tool, which is what PUT, PATCH and DELETE change.
    fn entity_tag(&self) -> Result<EntityTag, Problem> {
        match &self.published {
            Some(published) => published.entity_tag(),
            None => Ok(unpublished_tag(self.automation_id)),
        }
    }
}

/// Fields of a tool to start from.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SuggestedTool)]
pub(crate) struct SuggestedToolView {
    #[schema(min_length = 2, max_length = 48)]
    name: String,
    #[schema(min_length = 1, max_length = 60)]
    title: String,
    #[schema(min_length = 1, max_length = 400)]
    description: String,
    #[schema(value_type = schemas::runs::ToolInputSchema)]
    input_schema: InputSchemaView,
}

impl From<SuggestedTool> for SuggestedToolView {
    fn from(suggested: SuggestedTool) -> Self {
        Self {
            name: suggested.name.to_string(),
            title: suggested.title,
            description: suggested.description,
            input_schema: (&suggested.input_schema).into(),
        }
    }
}

/// Read an automation as a tool of agents
///
/// Returns what to know before you publish it: what its app may do, whether it can be published, and fields to start from. Send
/// `hash` as `reviewedHash` to say which permissions you have read.
#[utoipa::path(
    get, path = "/v1/automations/{id}/agent-tool", tag = "agent-tools",
    params(("id" = kernel::id::AutomationId, Path, description = "The automation.")),
    responses((status = 200, body = AgentToolReview, headers(("ETag" = String))))
)]
pub(crate) async fn read_agent_tool(
    State(api): State<Api>,
    Authorized(ctx, (id, access)): Authorized<Console, (AutomationId, AppAccess)>,
) -> ApiResult<Tagged<AgentToolReview>> {
    let workspace = access.member().workspace();
    let missing = || Problem::not_found("automation");
    let automation = api.store().automation(workspace, id).await?.ok_or_else(missing)?;
    let app = api.store().app(workspace, access.app()).await?.ok_or_else(missing)?;
    let tool_app = api.store().tool_app(workspace, app.id).await?.ok_or_else(missing)?;
    let manifest = match &tool_app.current {
        Some((version, _)) => api.store().version(workspace, app.id, *version).await?,
        None => None,
    };
    let manifest = manifest.map(|(_, content)| content.manifest);
    let of_manifest = manifest.as_ref().map_or("", |manifest| &manifest.description);
    let description = if app.description.is_empty() { of_manifest } else { &app.description };
    let trigger = automation.trigger.kind();
    Ok(Tagged(AgentToolReview {
        automation_id: automation.id,
        suggested: suggest_tool(&automation, description).into(),
        automation_name: automation.name,
        app_id: Some(app.id),
        app_name: Some(app.name),
        blocked: tool_app.block(trigger, automation.status),
        manifest,
        hash: tool_app.current.map(|(_, hash)| hash.0),
        starts_as: Some(trigger).filter(|trigger| *trigger != TriggerKind::Event),
        published: AgentToolView::find(&api, &ctx, &access, id).await?,
    }))
}
