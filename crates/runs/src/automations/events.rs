//! Events in a workspace that can trigger an automation.

use kernel::{
    Timestamp,
    id::{AppId, AutomationId, RunId},
};
use serde::Serialize;

use super::TriggerKind;
use crate::RunStatus;

/// A run of another automation ended, successfully or not.
pub const RUN_FINISHED: &str = "run_finished";
/// A run of another automation failed or was blocked.
pub const RUN_FAILED: &str = "run_failed";
/// Events that can trigger an automation.
pub const EVENTS: [&str; 2] = [RUN_FINISHED, RUN_FAILED];
/// Most automations that the end of one run triggers.
pub const MAX_STARTED_AUTOMATIONS: u32 = 20;

/// Input of a run that the end of another triggered. It identifies the other run, and has neither its input nor its
/// log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunFinishedInput {
    /// Event that the automation is triggered by.
    pub event: String,
    /// Run that ended.
    pub run_id: RunId,
    /// App of that run.
    pub app_id: AppId,
    /// Automation of that run.
    pub automation_id: Option<AutomationId>,
    /// Trigger of that run.
    pub trigger: TriggerKind,
    /// Final status of that run.
    pub status: RunStatus,
    /// Code of its failure, if it did not succeed.
    pub error_code: Option<String>,
    /// Time of its end.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    pub finished_at: Timestamp,
}
