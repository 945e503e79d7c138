//! Requirements of tools on a store.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    authority::Visibility,
    id::{AgentToolId, AppId, AutomationId, UserId, WorkspaceId},
};

use super::{AgentTool, ListedTool, ToolApp, ToolName};
use crate::RunsTx;

/// Reads of tools that need no transaction.
#[async_trait]
pub trait AgentToolsRead: Send + Sync {
    /// Returns the tool of an automation, with the rights of `user`. Calls are counted up to `now`.
    async fn agent_tool(
        &self,
        workspace: WorkspaceId,
        automation: AutomationId,
        user: UserId,
        now: Timestamp,
    ) -> Result<Option<ListedTool>, StoreError>;

    /// Returns the tools of a workspace whose app a person can view, the one that was called last first.
    async fn agent_tools(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        visible: Visibility,
        now: Timestamp,
    ) -> Result<Vec<ListedTool>, StoreError>;

    /// Returns the automation of the tool with a name.
    async fn automation_of_tool(
        &self,
        workspace: WorkspaceId,
        name: &ToolName,
    ) -> Result<Option<AutomationId>, StoreError>;

    /// Returns what of an app decides whether its tools are live.
    async fn tool_app(&self, workspace: WorkspaceId, app: AppId) -> Result<Option<ToolApp>, StoreError>;
}

/// Writes of tools, and the reads that they depend on. A call starts a run, hence [`RunsTx`].
#[async_trait]
pub trait AgentToolsTx: RunsTx {
    /// Returns and locks the tool of an automation.
    async fn agent_tool_for_update(
        &mut self,
        workspace: WorkspaceId,
        automation: AutomationId,
    ) -> Result<Option<AgentTool>, StoreError>;

    /// Returns what of an app decides whether its tools are live, as of this transaction.
    async fn tool_app(&mut self, workspace: WorkspaceId, app: AppId) -> Result<Option<ToolApp>, StoreError>;

    /// Returns the number of tools of a workspace.
    async fn count_agent_tools(&mut self, workspace: WorkspaceId) -> Result<u64, StoreError>;

    /// Inserts the tool of an automation, or replaces it; [`StoreError::Duplicate`] when another tool of the workspace has the
    /// name.
    async fn upsert_agent_tool(&mut self, tool: &AgentTool) -> Result<(), StoreError>;

    /// Deletes a tool.
    async fn delete_agent_tool(
        &mut self,
        workspace: WorkspaceId,
        tool: AgentToolId,
    ) -> Result<(), StoreError>;

    /// Counts a call of a tool.
    async fn record_tool_call(&mut self, tool: AgentToolId, at: Timestamp) -> Result<(), StoreError>;
}
