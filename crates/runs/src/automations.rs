//! Automations, which people call roads: what starts an app, and when.

mod create;
mod delete;
pub mod events;
pub mod occurrences;
pub mod schedule;
mod start;
mod update;

use std::{fmt, str::FromStr};

use kernel::{
    Problem, Timestamp,
    id::{AppId, AutomationId, UserId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

pub use create::{CreateAutomation, create_automation};
pub use delete::delete_automation;
pub use start::{MAX_INPUT, StartRun, start_run};
pub use update::{UpdateAutomation, update_automation};

/// What kind of thing starts a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum TriggerKind {
    /// A moment of a schedule.
    Schedule,
    /// A call of the webhook.
    Webhook,
    /// A public form.
    Form,
    /// A person or agent.
    Manual,
    /// Something that happened in the workspace.
    Event,
}

impl TriggerKind {
    /// The name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::Webhook => "webhook",
            Self::Form => "form",
            Self::Manual => "manual",
            Self::Event => "event",
        }
    }
}

impl fmt::Display for TriggerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TriggerKind {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        [Self::Schedule, Self::Webhook, Self::Form, Self::Manual, Self::Event]
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| {
                Problem::invalid_field("trigger", "must be schedule, webhook, form, manual or event")
            })
    }
}

/// What starts an automation, with what that kind needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// A schedule.
    Schedule(schedule::Schedule),
    /// A call of the webhook.
    Webhook,
    /// A public form.
    Form,
    /// A person or agent.
    Manual,
    /// Something that happened in the workspace, by name.
    Event(String),
}

impl Trigger {
    /// Which kind it is.
    #[must_use]
    pub fn kind(&self) -> TriggerKind {
        match self {
            Self::Schedule(_) => TriggerKind::Schedule,
            Self::Webhook => TriggerKind::Webhook,
            Self::Form => TriggerKind::Form,
            Self::Manual => TriggerKind::Manual,
            Self::Event(_) => TriggerKind::Event,
        }
    }
}

/// Whether an automation starts anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum AutomationStatus {
    /// It does.
    Active,
    /// Somebody switched it off.
    Paused,
    /// It is not finished.
    Draft,
}

impl AutomationStatus {
    /// The name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Draft => "draft",
        }
    }
}

impl FromStr for AutomationStatus {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        [Self::Active, Self::Paused, Self::Draft]
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or_else(|| Problem::invalid_field("status", "must be active, paused or draft"))
    }
}

/// What starts an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Automation {
    /// The automation's id.
    pub id: AutomationId,
    /// The workspace it stands in.
    pub workspace: WorkspaceId,
    /// The app it starts.
    pub app: AppId,
    /// Its name, 1 to 60 characters.
    pub name: String,
    /// What starts it.
    pub trigger: Trigger,
    /// Whether it starts anything.
    pub status: AutomationStatus,
    /// At most so many of its runs at once; none for no limit.
    pub max_concurrency: Option<u16>,
    /// How often a failed run is tried again, 0 to 5.
    pub retries: u8,
    /// When its schedule starts it next; only while it is active.
    pub next_run_at: Option<Timestamp>,
    /// Who made it.
    pub created_by: UserId,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Automation {
    /// The next moment its schedule starts it after `now`; none while it is not active.
    fn next_after(&self, now: Timestamp) -> Option<Timestamp> {
        match (&self.trigger, self.status) {
            (Trigger::Schedule(schedule), AutomationStatus::Active) => schedule.next_after(now),
            _ => None,
        }
    }

    /// Checks the bounds of its fields.
    fn check_limits(&self) -> Result<(), crate::RunsError> {
        use crate::RunsError;
        let length = self.name.trim().chars().count();
        if !(1..=60).contains(&length) || self.name.chars().any(char::is_control) {
            return Err(RunsError::invalid("name", "must have 1 to 60 printable characters"));
        }
        if self.max_concurrency.is_some_and(|max| !(1..=1000).contains(&max)) {
            return Err(RunsError::invalid("maxConcurrency", "must be from 1 to 1000, or null"));
        }
        if self.retries > 5 {
            return Err(RunsError::invalid("retries", "must be from 0 to 5"));
        }
        Ok(())
    }
}
