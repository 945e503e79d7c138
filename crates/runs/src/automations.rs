//! Automations (`road` on the wire): triggers of apps, with their settings.

mod create;
mod delete;
mod due_occurrences;
pub mod events;
pub mod occurrences;
pub mod schedule;
mod start;
mod update;

use kernel::{
    Timestamp,
    id::{AppId, AutomationId, UserId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

use crate::InvalidInput;

pub use create::{CreateAutomation, create_automation};
pub use delete::delete_automation;
pub use start::{MAX_INPUT, StartRun, StartedRun, start_run};
pub use update::{UpdateAutomation, update_automation};

/// Kind of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TriggerKind {
    /// An occurrence of a schedule.
    Schedule,
    /// A call of the webhook.
    Webhook,
    /// A submission of a public form.
    Form,
    /// A start by a person or an agent.
    Manual,
    /// An event in the workspace.
    Event,
}

kernel::names! {
    TriggerKind {
        Schedule = "schedule",
        Webhook = "webhook",
        Form = "form",
        Manual = "manual",
        Event = "event",
    }
}

/// Trigger of an automation, with the settings of its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// A cron expression, its time zone and policy.
    Schedule(schedule::Schedule),
    /// A call of the webhook.
    Webhook,
    /// A submission of a public form.
    Form,
    /// A start by a person or an agent.
    Manual,
    /// An event in the workspace, by its name in [`events::EVENTS`].
    Event(String),
}

impl Trigger {
    /// Returns the kind.
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

/// Status of an automation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AutomationStatus {
    /// Its trigger starts runs.
    Active,
    /// It was paused; it can be started by hand.
    Paused,
    /// It is not finished; it can be started by hand.
    Draft,
}

kernel::names! {
    AutomationStatus {
        Active = "active",
        Paused = "paused",
        Draft = "draft",
    }
}

/// A trigger of an app, with its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Automation {
    /// Id of the automation.
    pub id: AutomationId,
    /// Workspace of the app.
    pub workspace: WorkspaceId,
    /// App that it runs.
    pub app: AppId,
    /// Display name; 1 to 60 characters.
    pub name: String,
    /// Kind and settings of the trigger.
    pub trigger: Trigger,
    /// Current status.
    pub status: AutomationStatus,
    /// Most runs that execute at once, 1 to 1,000; `None` for no limit.
    pub max_concurrency: Option<u16>,
    /// Most retries of a failed run, 0 to 5.
    pub retries: u8,
    /// Next occurrence of its schedule; only while it is active.
    pub next_run_at: Option<Timestamp>,
    /// Person who created it.
    pub created_by: UserId,
    /// Time of its creation.
    pub created_at: Timestamp,
}

impl Automation {
    /// Returns the next occurrence of its schedule after `now`; `None` while it is not active.
    fn next_after(&self, now: Timestamp) -> Option<Timestamp> {
        match (&self.trigger, self.status) {
            (Trigger::Schedule(schedule), AutomationStatus::Active) => schedule.next_after(now),
            _ => None,
        }
    }

    /// Checks the bounds of its fields.
    fn check_limits(&self) -> Result<(), InvalidInput> {
        let length = self.name.trim().chars().count();
        if !(1..=60).contains(&length) || !kernel::text::is_visible_line(&self.name) {
            return Err(InvalidInput::AutomationName);
        }
        if self.max_concurrency.is_some_and(|max| !(1..=1000).contains(&max)) {
            return Err(InvalidInput::MaxConcurrency);
        }
        if self.retries > 5 {
            return Err(InvalidInput::Retries);
        }
        Ok(())
    }
}
