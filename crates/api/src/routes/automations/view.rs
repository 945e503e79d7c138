//! An automation as it stands on the wire.

use chrono::{DateTime, Utc};
use kernel::{
    Problem,
    id::{AppId, AutomationId, UserId, WorkspaceId},
};
use runs::{Automation, AutomationStatus, Trigger, TriggerKind, automations::schedule::Schedule};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What starts an automation.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Trigger)]
pub(crate) struct TriggerView {
    #[serde(rename = "type")]
    kind: TriggerKind,
    /// Of a schedule: five fields, as crontab(5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 128, example = "0 9 * * 1")]
    cron: Option<String>,
    /// Of a schedule: an IANA time zone; UTC when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 64, example = "Asia/Almaty")]
    timezone: Option<String>,
    /// Of an event: its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 128)]
    event: Option<String>,
}

impl TriggerView {
    /// The trigger this describes.
    pub(super) fn read(self) -> Result<Trigger, Problem> {
        let stray = |field: &str| {
            Err(Problem::invalid_field(
                field,
                format_args!("does not belong to a trigger of the type {}", self.kind),
            ))
        };
        if self.kind != TriggerKind::Schedule && self.cron.is_some() {
            return stray("trigger.cron");
        }
        if self.kind != TriggerKind::Schedule && self.timezone.is_some() {
            return stray("trigger.timezone");
        }
        if self.kind != TriggerKind::Event && self.event.is_some() {
            return stray("trigger.event");
        }
        match self.kind {
            TriggerKind::Webhook => Ok(Trigger::Webhook),
            TriggerKind::Form => Ok(Trigger::Form),
            TriggerKind::Manual => Ok(Trigger::Manual),
            TriggerKind::Schedule => {
                let missing = || Problem::invalid_field("trigger.cron", "is needed for a schedule");
                let cron = self.cron.as_deref().ok_or_else(missing)?;
                Ok(Trigger::Schedule(Schedule::parse(cron, self.timezone.as_deref())?))
            }
            TriggerKind::Event => {
                let named =
                    |name: &String| (1..=128).contains(&name.len()) && !name.contains(char::is_control);
                let event = self.event.filter(named);
                let event = event.ok_or_else(|| {
                    Problem::invalid_field(
                        "trigger.event",
                        "must name an event in 1 to 128 printable characters",
                    )
                })?;
                Ok(Trigger::Event(event))
            }
        }
    }
}

impl From<&Trigger> for TriggerView {
    fn from(trigger: &Trigger) -> Self {
        let plain = Self { kind: trigger.kind(), cron: None, timezone: None, event: None };
        match trigger {
            Trigger::Schedule(schedule) => Self {
                cron: Some(schedule.cron().to_owned()),
                timezone: Some(schedule.timezone().to_owned()),
                ..plain
            },
            Trigger::Event(event) => Self { event: Some(event.clone()), ..plain },
            Trigger::Webhook | Trigger::Form | Trigger::Manual => plain,
        }
    }
}

/// What starts an app.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Automation)]
pub(crate) struct AutomationView {
    id: AutomationId,
    workspace_id: WorkspaceId,
    app_id: AppId,
    #[schema(min_length = 1, max_length = 60)]
    name: String,
    trigger: TriggerView,
    status: AutomationStatus,
    /// At most so many of its runs at once; null for no limit.
    #[schema(required, minimum = 1, maximum = 1000)]
    max_concurrency: Option<u16>,
    /// How often a failed run is tried again.
    #[schema(maximum = 5)]
    retries: u8,
    /// When its schedule starts it next.
    #[schema(required)]
    next_run_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    created_by: UserId,
}

impl From<Automation> for AutomationView {
    fn from(automation: Automation) -> Self {
        Self {
            trigger: (&automation.trigger).into(),
            id: automation.id,
            workspace_id: automation.workspace,
            app_id: automation.app,
            name: automation.name,
            status: automation.status,
            max_concurrency: automation.max_concurrency,
            retries: automation.retries,
            next_run_at: automation.next_run_at,
            created_at: automation.created_at,
            created_by: automation.created_by,
        }
    }
}
