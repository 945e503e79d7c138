//! Tools of agents: automations that agents find by name and start with arguments (specification part B, "Agent tools").
//!
//! A person publishes an automation as a tool after they have read what its app may do. The tool keeps a digest of these
//! permissions: when a version with others becomes current, the tool is not live until somebody has read them.

mod call;
mod delete;
pub mod input_schema;
mod ports;
mod publish;
mod set_enabled;
mod suggest;

use std::fmt;

use kernel::{
    Timestamp,
    authority::{AppFact, AppRightName, Member, authorize_app},
    id::{AgentToolId, AppId, AutomationId, UserId, VersionId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

use crate::{AutomationStatus, InvalidInput, TriggerKind};

pub use call::{CallTool, CalledTool, call_tool};
pub use delete::delete_tool;
pub use input_schema::{InputSchema, InvalidSchema, InvalidToolInput};
pub use ports::{AgentToolsRead, AgentToolsTx};
pub use publish::{PublishTool, publish_tool};
pub use set_enabled::set_tool_enabled;
pub use suggest::{SuggestedTool, suggest_tool};

/// Most tools of a workspace.
pub const MAX_TOOLS: u64 = 200;
/// Most characters of a title.
pub const MAX_TITLE_CHARS: usize = 60;
/// Fewest and most characters of a description.
pub const DESCRIPTION_CHARS: std::ops::RangeInclusive<usize> = 8..=400;
/// Days that the number of calls is about, today included.
pub const CALL_DAYS: i64 = 7;

/// Name of a tool: a lower-case letter, then 1 to 47 lower-case letters, digits and underscores. Unique in the workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToolName(String);

impl ToolName {
    /// Parses a name.
    ///
    /// # Errors
    /// [`InvalidInput::ToolName`] for a text of another form.
    pub fn parse(text: &str) -> Result<Self, InvalidInput> {
        let is_body = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let is_valid = (2..=48).contains(&text.len())
            && text.starts_with(|first: char| first.is_ascii_lowercase())
            && text.bytes().all(is_body);
        if is_valid { Ok(Self(text.to_owned())) } else { Err(InvalidInput::ToolName) }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Digest of what an app may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PermissionsHash(pub String);

/// An automation that agents can start by name.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentTool {
    /// Id of the tool.
    pub id: AgentToolId,
    /// Workspace of the automation.
    pub workspace: WorkspaceId,
    /// App that the automation runs.
    pub app: AppId,
    /// Automation that a call starts.
    pub automation: AutomationId,
    /// Name, without the prefix that the agent server puts before it.
    pub name: ToolName,
    /// Title for people; 1 to 60 characters.
    pub title: String,
    /// Description for agents; 8 to 400 characters.
    pub description: String,
    /// Arguments of a call.
    pub input_schema: InputSchema,
    /// False if a person turned it off.
    pub is_enabled: bool,
    /// Permissions that a person has read.
    pub reviewed_hash: PermissionsHash,
    /// Time at which they did.
    pub reviewed_at: Timestamp,
    /// Person who did.
    pub reviewed_by: UserId,
    /// Time at which it was first published.
    pub published_at: Timestamp,
}

/// State of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentToolState {
    /// Agents can call it.
    Live,
    /// A person turned it off.
    Off,
    /// The app may do something else than when a person reviewed it.
    NeedsReview,
    /// The automation or its app is paused.
    Paused,
}

kernel::names! {
    AgentToolState {
        Live = "live",
        Off = "off",
        NeedsReview = "needs_review",
        Paused = "paused",
    }
}

/// Reason for which an automation cannot be published as a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolBlock {
    /// The automation runs no app.
    NoApp,
    /// The app has no version.
    NotDeployed,
    /// Events start the automation, and what it is given describes an event.
    NoInputPath,
    /// The app is paused, or the automation is paused or a draft.
    NotRunnable,
}

kernel::names! {
    ToolBlock {
        NoApp = "no_app",
        NotDeployed = "not_deployed",
        NoInputPath = "no_input_path",
        NotRunnable = "not_runnable",
    }
}

/// State of an app that decides whether its tools are live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolApp {
    /// Current version, with the digest of what it may do.
    pub current: Option<(VersionId, PermissionsHash)>,
    /// True if the app is paused.
    pub is_paused: bool,
}

impl ToolApp {
    /// Returns the reason for which an automation of the app cannot be published.
    #[must_use]
    pub fn block(&self, trigger: TriggerKind, status: AutomationStatus) -> Option<ToolBlock> {
        if self.current.is_none() {
            Some(ToolBlock::NotDeployed)
        } else if trigger == TriggerKind::Event {
            Some(ToolBlock::NoInputPath)
        } else if self.is_paused || status != AutomationStatus::Active {
            Some(ToolBlock::NotRunnable)
        } else {
            None
        }
    }
}

impl AgentTool {
    /// Returns the state. What a person decided comes before what changed, and that before what is only for a while.
    #[must_use]
    pub fn state(&self, app: &ToolApp, trigger: TriggerKind, status: AutomationStatus) -> AgentToolState {
        if !self.is_enabled {
            return AgentToolState::Off;
        }
        let is_reviewed = app.current.as_ref().is_some_and(|(_, hash)| *hash == self.reviewed_hash);
        // Its trigger may have become an event since: then it has to be published anew, if it can be.
        if !is_reviewed || trigger == TriggerKind::Event {
            return AgentToolState::NeedsReview;
        }
        match app.block(trigger, status) {
            Some(_) => AgentToolState::Paused,
            None => AgentToolState::Live,
        }
    }
}

/// A tool with what lists show of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedTool {
    /// Tool.
    pub tool: AgentTool,
    /// State at the time of the read.
    pub state: AgentToolState,
    /// Name of the automation.
    pub automation_name: String,
    /// Name of the app.
    pub app_name: String,
    /// Facts that decide the rights of the person who asked.
    pub app_fact: AppFact,
    /// Name of the person who reviewed it, if they still have an account.
    pub reviewed_by_name: Option<String>,
    /// Calls in the last [`CALL_DAYS`] days.
    pub calls_week: u64,
    /// Time of the last call.
    pub last_called_at: Option<Timestamp>,
}

impl ListedTool {
    /// Returns true if agents of the member can call it now.
    #[must_use]
    pub fn is_callable_by(&self, member: &Member) -> bool {
        let access = authorize_app(member.clone(), Some(&self.app_fact));
        self.state == AgentToolState::Live
            && access.is_ok_and(|access| access.rights().contains(AppRightName::CanRun))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_an_identifier_of_lower_case_letters() {
        let longest = format!("a{}", "_".repeat(47));
        for name in ["ab", "run", "a1_", &longest] {
            assert_eq!(ToolName::parse(name).unwrap().as_str(), name);
        }
        let too_long = format!("{longest}_");
        for name in ["", "a", "1a", "_a", "aB", "a-b", "a b", "ab\n", "құрал", &too_long] {
            assert_eq!(ToolName::parse(name), Err(InvalidInput::ToolName), "{name}");
        }
    }

    #[test]
    fn only_what_runs_and_takes_an_input_can_be_published() {
        use AutomationStatus::{Active, Draft, Paused};
        use TriggerKind::{Event, Form, Manual, Schedule, Webhook};
        let app = |is_current: bool, is_paused| ToolApp {
            current: is_current.then(|| (kernel::testing::id(1), PermissionsHash("a".to_owned()))),
            is_paused,
        };
        for trigger in [Manual, Webhook, Form, Schedule] {
            assert_eq!(app(true, false).block(trigger, Active), None);
            assert_eq!(app(false, false).block(trigger, Active), Some(ToolBlock::NotDeployed));
            assert_eq!(app(true, true).block(trigger, Active), Some(ToolBlock::NotRunnable));
            assert_eq!(app(true, false).block(trigger, Paused), Some(ToolBlock::NotRunnable));
            assert_eq!(app(true, false).block(trigger, Draft), Some(ToolBlock::NotRunnable));
        }
        assert_eq!(app(true, false).block(Event, Active), Some(ToolBlock::NoInputPath));
    }
}
