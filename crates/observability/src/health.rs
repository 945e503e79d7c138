//! Health of apps: what happened to their runs and responses, from which their state follows.
//!
//! Nothing here is inferred from a deployment: an app of which nothing was observed has no time of observation.

use std::collections::HashMap;

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    StoreError, Timestamp,
    authority::Visibility,
    id::{AppId, WorkspaceId},
};

/// Time for which blocked runs count.
pub const BLOCKED_WINDOW: TimeDelta = TimeDelta::hours(24);

/// Time after which an observation says nothing about now.
pub const OBSERVATION_WINDOW: TimeDelta = TimeDelta::days(7);

/// Apps in an overview; at most.
pub const OVERVIEW_APPS: usize = 200;

/// Facts about an app.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppHealth {
    /// Runs that have failed or were blocked since one succeeded, if they are so many that people were told; else 0.
    pub failures_in_a_row: u64,
    /// Automations whose runs fail repeatedly.
    pub failing_automations: u64,
    /// Open dead letters.
    pub open_dead_letters: u64,
    /// Runs that were blocked within [`BLOCKED_WINDOW`], to the quarter of an hour.
    pub blocked_runs: u64,
    /// Questions of runs that nobody has answered yet.
    pub waiting_approvals: u64,
    /// Time of the last run or response that ended well, to the minute.
    pub observed_at: Option<Timestamp>,
}

impl AppHealth {
    /// Returns `true` if runs of the app or of one of its automations fail repeatedly.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        self.failures_in_a_row > 0 || self.failing_automations > 0
    }

    /// Returns `true` if somebody has to look at the app, though its runs do not fail repeatedly.
    #[must_use]
    pub fn has_warning(&self) -> bool {
        self.open_dead_letters > 0 || self.blocked_runs > 0
    }

    /// Returns `true` if the app was seen to work within [`OBSERVATION_WINDOW`].
    #[must_use]
    pub fn is_observed(&self, now: Timestamp) -> bool {
        self.observed_at.is_some_and(|at| at > now - OBSERVATION_WINDOW)
    }

    /// Returns the reasons for which the app is not healthy, the gravest first.
    #[must_use]
    pub fn reasons(&self) -> Vec<HealthReason> {
        [
            (HealthReasonCode::AutomationFailing, self.failing_automations),
            (HealthReasonCode::AppFailing, self.failures_in_a_row),
            (HealthReasonCode::DeadLetters, self.open_dead_letters),
            (HealthReasonCode::BlockedRuns, self.blocked_runs),
        ]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(code, count)| HealthReason { code, count })
        .collect()
    }
}

/// A reason for which an app is not healthy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HealthReason {
    /// Kind of the reason.
    pub code: HealthReasonCode,
    /// Number of what the kind counts.
    pub count: u64,
}

/// Kinds of reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HealthReasonCode {
    /// Automations of the app fail repeatedly; their number.
    AutomationFailing,
    /// Runs of the app fail repeatedly; how many have failed since one succeeded.
    AppFailing,
    /// Dead letters are open; their number.
    DeadLetters,
    /// Runs were blocked in the last 24 hours; their number.
    BlockedRuns,
}

kernel::names! {
    HealthReasonCode {
        AutomationFailing = "automation_failing",
        AppFailing = "app_failing",
        DeadLetters = "dead_letters",
        BlockedRuns = "blocked_runs",
    }
}

/// Number of a workspace's apps that have these properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppCount {
    /// True for paused apps.
    pub is_paused: bool,
    /// True for apps without a version.
    pub is_draft: bool,
    /// True for apps that were observed within [`OBSERVATION_WINDOW`].
    pub is_observed: bool,
    /// Number of apps.
    pub count: u64,
}

/// An app that something was found about, and what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotedApp {
    /// Id of the app.
    pub app: AppId,
    /// True if it is paused.
    pub is_paused: bool,
    /// True if it has no version.
    pub is_draft: bool,
    /// Number of its runs that are executing.
    pub running: u64,
    /// Facts about it.
    pub health: AppHealth,
}

/// Health of the apps of a workspace that a person can view.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceHealth {
    /// All apps, by their properties.
    pub counts: Vec<AppCount>,
    /// Apps about which there is more to say than when they were observed.
    pub noted: Vec<NotedApp>,
}

/// Reads of the health of apps.
#[async_trait]
pub trait HealthRead {
    /// Returns the facts about apps of a workspace, for each of those asked for.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails.
    async fn app_health(
        &self,
        workspace: WorkspaceId,
        apps: &[AppId],
        now: Timestamp,
    ) -> Result<HashMap<AppId, AppHealth>, StoreError>;

    /// Returns the health of the apps that a person can view, in a number of queries that does not depend on how many apps
    /// or runs there are.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails.
    async fn workspace_health(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        now: Timestamp,
    ) -> Result<WorkspaceHealth, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-11-28T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn an_app_of_which_nothing_is_known_has_neither_faults_nor_an_observation() {
        let unknown = AppHealth::default();
        assert!(!unknown.is_failing() && !unknown.has_warning() && !unknown.is_observed(now()));
        assert_eq!(unknown.reasons(), []);
    }

    #[test]
    fn an_observation_counts_for_seven_days() {
        let observed = |ago| AppHealth { observed_at: Some(now() - ago), ..AppHealth::default() };
        assert!(observed(TimeDelta::days(7) - TimeDelta::milliseconds(1)).is_observed(now()));
        assert!(!observed(TimeDelta::days(7)).is_observed(now()));
    }

    #[test]
    fn the_gravest_reason_comes_first() {
        let health = AppHealth { blocked_runs: 14, failing_automations: 1, ..AppHealth::default() };
        let codes: Vec<_> = health.reasons().into_iter().map(|reason| (reason.code, reason.count)).collect();
        let expected = [(HealthReasonCode::AutomationFailing, 1), (HealthReasonCode::BlockedRuns, 14)];
        assert_eq!(codes, expected);
        assert!(health.is_failing() && health.has_warning());
    }
}
