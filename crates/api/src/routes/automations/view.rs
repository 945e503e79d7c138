//! Automations on the wire.

use application::{Problem, Tx};
use chrono::{DateTime, Utc};
use kernel::{
    authority::AppAccess,
    id::{AppId, AutomationId, UserId, WorkspaceId},
};
use runs::{
    Automation, AutomationStatus, Trigger, TriggerKind,
    automations::{
        events::EVENTS,
        occurrences::{CatchUp, Overlap, SchedulePolicy},
        schedule::Schedule,
    },
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::{conditional::Representation, schemas};

/// Trigger of an automation.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Trigger)]
#[schema(example = json!({"type": "webhook"}))]
pub(crate) struct TriggerView {
    #[serde(rename = "type")]
    #[schema(value_type = schemas::runs::TriggerKind)]
    kind: TriggerKind,
    /// Schedules only: cron expression with five fields, as in crontab(5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 128, example = "0 9 * * 1")]
    cron: Option<String>,
    /// Schedules only: IANA time zone. Default: UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 64, example = "Asia/Almaty")]
    timezone: Option<String>,
    /// Schedules only: treatment of missed occurrences.
    #[serde(default, rename = "catchUp", skip_serializing_if = "Option::is_none")]
    #[schema(default = "last", value_type = Option<schemas::runs::CatchUp>)]
    catch_up: Option<CatchUp>,
    /// Schedules only: maximum age in minutes of a missed occurrence that is caught up.
    #[serde(default, rename = "catchUpMinutes", skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 43200, default = 10080)]
    catch_up_minutes: Option<u32>,
    /// Schedules only: treatment of an occurrence while an earlier run is not finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(default = "allow", value_type = Option<schemas::runs::Overlap>)]
    overlap: Option<Overlap>,
    /// Events only: name of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 128)]
    event: Option<String>,
}

impl TriggerView {
    /// Converts the request's trigger.
    ///
    /// # Errors
    /// 400 `invalid_request` if a field does not belong to the type, or a value is not valid.
    pub(super) fn into_trigger(self) -> Result<Trigger, Problem> {
        let misplaced = |field: &str| {
            Err(Problem::invalid_field(
                field,
                format_args!("does not belong to a trigger of the type {}", self.kind),
            ))
        };
        if self.kind != TriggerKind::Schedule && self.cron.is_some() {
            return misplaced("trigger.cron");
        }
        if self.kind != TriggerKind::Schedule && self.timezone.is_some() {
            return misplaced("trigger.timezone");
        }
        if self.kind != TriggerKind::Schedule && self.catch_up.is_some() {
            return misplaced("trigger.catchUp");
        }
        if self.kind != TriggerKind::Schedule && self.catch_up_minutes.is_some() {
            return misplaced("trigger.catchUpMinutes");
        }
        if self.kind != TriggerKind::Schedule && self.overlap.is_some() {
            return misplaced("trigger.overlap");
        }
        if self.kind != TriggerKind::Event && self.event.is_some() {
            return misplaced("trigger.event");
        }
        match self.kind {
            TriggerKind::Webhook => Ok(Trigger::Webhook),
            TriggerKind::Form => Ok(Trigger::Form),
            TriggerKind::Manual => Ok(Trigger::Manual),
            TriggerKind::Schedule => {
                let missing = || Problem::invalid_field("trigger.cron", "is required for a schedule");
                let cron = self.cron.as_deref().ok_or_else(missing)?;
                let defaults = SchedulePolicy::default();
                let policy = SchedulePolicy {
                    catch_up: self.catch_up.unwrap_or(defaults.catch_up),
                    window_minutes: self.catch_up_minutes.unwrap_or(defaults.window_minutes),
                    overlap: self.overlap.unwrap_or(defaults.overlap),
                };
                let schedule = Schedule::parse(cron, self.timezone.as_deref())?.with_policy(policy)?;
                Ok(Trigger::Schedule(schedule))
            }
            TriggerKind::Event => {
                // Without this check, an automation with a mistyped name would never start.
                let event = self.event.filter(|name| EVENTS.contains(&name.as_str()));
                let event = event.ok_or_else(|| {
                    Problem::invalid_field("trigger.event", "must be run_finished or run_failed")
                })?;
                Ok(Trigger::Event(event))
            }
        }
    }
}

impl From<&Trigger> for TriggerView {
    fn from(trigger: &Trigger) -> Self {
        let plain = Self {
            kind: trigger.kind(),
            cron: None,
            timezone: None,
            catch_up: None,
            catch_up_minutes: None,
            overlap: None,
            event: None,
        };
        match trigger {
            Trigger::Schedule(schedule) => Self {
                cron: Some(schedule.cron().to_owned()),
                timezone: Some(schedule.timezone().to_owned()),
                catch_up: Some(schedule.policy().catch_up),
                catch_up_minutes: Some(schedule.policy().window_minutes),
                overlap: Some(schedule.policy().overlap),
                ..plain
            },
            Trigger::Event(event) => Self { event: Some(event.clone()), ..plain },
            Trigger::Webhook | Trigger::Form | Trigger::Manual => plain,
        }
    }
}

/// An automation of an app.
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
    #[schema(value_type = schemas::runs::AutomationStatus)]
    status: AutomationStatus,
    /// Maximum number of concurrent runs; null for no limit.
    #[schema(required, minimum = 1, maximum = 1000)]
    max_concurrency: Option<u16>,
    /// Number of retries of a failed run.
    #[schema(maximum = 5)]
    retries: u8,
    /// Time of the next occurrence of its schedule.
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    next_run_at: Option<DateTime<Utc>>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    created_by: UserId,
}

impl Representation for AutomationView {
    const COMPUTED: &'static [&'static str] = &["nextRunAt"];
}

impl AutomationView {
    /// Returns an automation of the app, locked until the transaction ends.
    ///
    /// # Errors
    /// 404 `automation_not_found` if it was deleted; a [`Problem`] if the store fails.
    pub(super) async fn locked(
        tx: &mut dyn Tx,
        access: &AppAccess,
        id: AutomationId,
    ) -> Result<Option<Self>, Problem> {
        let found = tx.automation_for_update(access.member().workspace(), id).await?;
        let found = found.filter(|found| found.app == access.app());
        Ok(Some(found.ok_or_else(|| Problem::not_found("automation"))?.into()))
    }
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
