//! What happens in a workspace that can start an automation.

use kernel::{
    Timestamp,
    id::{AppId, AutomationId, RunId},
};
use serde::Serialize;

use super::TriggerKind;
use crate::RunStatus;

/// A run of another automation came to its end, whichever.
pub const RUN_FINISHED: &str = "run_finished";
/// A run of another automation failed or was blocked.
pub const RUN_FAILED: &str = "run_failed";
/// Every event that can start an automation.
pub const EVENTS: [&str; 2] = [RUN_FINISHED, RUN_FAILED];
/// How many automations the end of one run starts at most.
pub const MAX_STARTED_AUTOMATIONS: u32 = 20;

/// What an app is given that the end of a run started: where to look, and nothing that the run was given or said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunFinishedInput {
    /// What its automation waits for.
    pub event: String,
    /// The run that ended.
    pub run_id: RunId,
    /// The app it ran.
    pub app_id: AppId,
    /// The automation that had started it.
    pub automation_id: Option<AutomationId>,
    /// What had started it.
    pub trigger: TriggerKind,
    /// How it ended.
    pub status: RunStatus,
    /// Why, when it did not succeed.
    pub error_code: Option<String>,
    /// When.
    pub finished_at: Timestamp,
}
