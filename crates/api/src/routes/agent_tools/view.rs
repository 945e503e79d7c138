//! Tools of agents on the wire.

use application::{Problem, Tx};
use chrono::{DateTime, Utc};
use kernel::{
    Context,
    authority::{AppAccess, AppRightName, Member, authorize_app},
    id::{AgentToolId, AppId, AutomationId, UserId},
};
use runs::agent_tools::{AgentTool, AgentToolState, InputSchema, ListedTool};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{
    http::{
        conditional::{EntityTag, Representation},
        schemas,
    },
    state::Api,
};

/// Arguments of a tool, as a subset of JSON Schema 2020-12.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct InputSchemaView(Map<String, Value>);

impl From<&InputSchema> for InputSchemaView {
    fn from(schema: &InputSchema) -> Self {
        Self(schema.as_json().clone())
    }
}

/// Settings of a tool, which people change.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentToolSettings {
    id: AgentToolId,
    automation_id: AutomationId,
    app_id: AppId,
    /// Name; unique in the workspace. On the agent server `run_` stands before it.
    #[schema(min_length = 2, max_length = 48, pattern = "^[a-z][a-z0-9_]{1,47}$")]
    name: String,
    #[schema(min_length = 1, max_length = 60)]
    title: String,
    /// Description of the tool for agents.
    #[schema(min_length = 1, max_length = 400)]
    description: String,
    #[schema(value_type = schemas::runs::ToolInputSchema)]
    input_schema: InputSchemaView,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    reviewed_at: DateTime<Utc>,
    /// Person who read what the app may do.
    reviewed_by: UserId,
    /// Time at which the tool was first published.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    published_at: DateTime<Utc>,
    /// `false` if a person turned it off.
    enabled: bool,
}

impl Representation for AgentToolSettings {}

impl AgentToolSettings {
    fn of(tool: AgentTool) -> Self {
        Self {
            id: tool.id,
            automation_id: tool.automation,
            app_id: tool.app,
            name: tool.name.to_string(),
            title: tool.title,
            description: tool.description,
            input_schema: (&tool.input_schema).into(),
            reviewed_at: tool.reviewed_at,
            reviewed_by: tool.reviewed_by,
            published_at: tool.published_at,
            enabled: tool.is_enabled,
        }
    }
}

/// An automation as a tool, as far as people change it: published or not.
#[derive(Debug, Serialize)]
pub(super) struct ToolOfAutomation {
    automation: AutomationId,
    settings: Option<AgentToolSettings>,
}

impl Representation for ToolOfAutomation {
    fn entity_tag(&self) -> Result<EntityTag, Problem> {
        match &self.settings {
            Some(settings) => settings.entity_tag(),
            None => Ok(unpublished_tag(self.automation)),
        }
    }
}

/// Returns the tag of an automation that is not published.
pub(super) fn unpublished_tag(automation: AutomationId) -> EntityTag {
    EntityTag::of_bytes(automation.to_string().as_bytes())
}

impl ToolOfAutomation {
    /// Returns the tool of an automation, locked until the transaction ends.
    ///
    /// # Errors
    /// A [`Problem`] if the store fails.
    pub(super) async fn locked(
        tx: &mut dyn Tx,
        access: &AppAccess,
        automation: AutomationId,
    ) -> Result<Option<Self>, Problem> {
        let found = tx.agent_tool_for_update(access.member().workspace(), automation).await?;
        let settings = found.filter(|tool| tool.app == access.app()).map(AgentToolSettings::of);
        Ok(Some(Self { automation, settings }))
    }
}

/// An automation that agents start by name.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AgentTool)]
pub(crate) struct AgentToolView {
    #[serde(flatten)]
    settings: AgentToolSettings,
    automation_name: String,
    app_name: String,
    #[schema(value_type = schemas::runs::AgentToolState)]
    state: AgentToolState,
    /// `true` if you may start it.
    can_run: bool,
    /// `true` if you may change it.
    can_edit: bool,
    #[schema(required)]
    reviewed_by_name: Option<String>,
    /// Number of calls in the last seven days, today included.
    calls_week: u64,
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    last_called_at: Option<DateTime<Utc>>,
}

impl Representation for AgentToolView {
    /// Returns the tag of what people set: the rest is computed.
    fn entity_tag(&self) -> Result<EntityTag, Problem> {
        self.settings.entity_tag()
    }
}

impl AgentToolView {
    /// Returns a tool as the caller sees it; `None` if they may not view its app.
    pub(super) fn of(member: &Member, listed: ListedTool) -> Option<Self> {
        let access = authorize_app(member.clone(), Some(&listed.app_fact)).ok()?;
        let rights = access.rights();
        Some(Self {
            automation_name: listed.automation_name,
            app_name: listed.app_name,
            state: listed.state,
            can_run: rights.contains(AppRightName::CanRun),
            can_edit: rights.contains(AppRightName::CanEdit),
            reviewed_by_name: listed.reviewed_by_name,
            calls_week: listed.calls_week,
            last_called_at: listed.last_called_at,
            settings: AgentToolSettings::of(listed.tool),
        })
    }

    /// Reads the tool of an automation; `None` if it is not published.
    ///
    /// # Errors
    /// A [`Problem`] if the store fails.
    pub(super) async fn find(
        api: &Api,
        ctx: &Context,
        access: &AppAccess,
        automation: AutomationId,
    ) -> Result<Option<Self>, Problem> {
        let member = access.member();
        let found = api.store().agent_tool(member.workspace(), automation, member.user(), ctx.now).await?;
        Ok(found.and_then(|listed| Self::of(member, listed)))
    }
}
