//! Planned changes of an app: a person reviews a plan before anything is built (specification part B, "ChangePlan").

mod approve;
mod draft;
mod effects;
mod fail;
mod instruction;
mod phrases;
mod plan_egress;
mod plan_instruction;
mod planner;
mod surroundings;

use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    Context, Locale, StoreError, Timestamp,
    authority::{AppRight, CanEdit, Sharing, Visibility},
    id::{AppId, AutomationId, ChangeId, RunId, UserId, VersionId, WorkspaceId},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AppError, AppsTx, Manifest,
    manifest::diff::{Difference, Subject, diff_manifests, sharing_difference},
    versions::ChangeBuilder,
};

pub use crate::change_state::ChangeState;
pub use approve::{Approval, Approved, approve_change, check_approval};
pub use effects::{
    AutomationMove, ChangeEffects, MovedAutomation, PlanEffect, Remaining, ScheduleState, declares_schedule,
    undone_schedules,
};
pub use fail::fail_change;
pub use plan_egress::{AppBaseline, RefusedHost, plan_egress};
pub use plan_instruction::{INSTRUCTION_CHARS, mentions_tables, plan_instruction};
pub use planner::{ChangePlanner, OfflinePlanner, PlanRequest, check_plan};
pub use surroundings::{NamedAutomation, NamedConnection, NamedProject, Surroundings};

/// Time from planning until a plan expires.
pub const LIFETIME: TimeDelta = TimeDelta::hours(1);
/// Most unexpired plans of one person in one workspace.
pub const MAX_OPEN: u64 = 50;
/// Most notes of a plan.
pub const MAX_NOTES: usize = 8;

/// The content of a planned change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangePlan {
    /// Version that the plan starts from.
    pub base: VersionId,
    /// Request that led to the plan, in one sentence.
    pub instruction: String,
    /// Effect of the change, in one sentence.
    pub summary: String,
    /// Manifest of the base version.
    pub before: Manifest,
    /// Manifest after the change.
    pub manifest: Manifest,
    /// Steps that follow approval, in order.
    pub steps: Vec<String>,
    /// Facts to know before approving.
    pub notes: Vec<String>,
    /// Reasons why a token cannot approve the plan, and steps that only an admin can take, in the console.
    pub needs_console: Vec<String>,
    /// Hosts that the app gains and whose gate is not open.
    #[serde(default)]
    pub closed_hosts: Vec<String>,
    /// Language of the sentences.
    #[serde(default)]
    pub locale: Locale,
    /// Sharing of the app when it was planned; none in plans of earlier releases.
    #[serde(default)]
    pub sharing: Option<Sharing>,
    /// Trust scores of the base version and of the planned one; none in plans of earlier releases.
    #[serde(default)]
    pub trust: Option<PlannedTrust>,
    /// Changes to the app itself.
    #[serde(default)]
    pub app: AppUpdate,
    /// Changes to the app's automations.
    #[serde(default)]
    pub automations: Vec<AutomationChange>,
    /// Planner, and the code that it wrote.
    #[serde(default)]
    pub planned_by: PlannedBy,
}

/// Planner of a plan. Only a model writes code; rules keep that of the base version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlannedBy {
    /// Rules.
    #[default]
    Rules,
    /// A model.
    Model {
        /// Id of the model.
        model: String,
        /// Source text by path, if the code changes.
        files: Option<BTreeMap<String, String>>,
    },
}

impl PlannedBy {
    /// Returns the builder of a version that the plan becomes.
    #[must_use]
    pub fn builder(&self) -> ChangeBuilder {
        match self {
            Self::Rules => ChangeBuilder::Offline,
            Self::Model { .. } => ChangeBuilder::ModelBuilder,
        }
    }

    /// Returns the id of the model.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        match self {
            Self::Rules => None,
            Self::Model { model, .. } => Some(model),
        }
    }

    /// Returns the files of the planned version, if the code changes.
    #[must_use]
    pub fn files(&self) -> Option<&BTreeMap<String, String>> {
        match self {
            Self::Rules => None,
            Self::Model { files, .. } => files.as_ref(),
        }
    }
}

impl ChangePlan {
    /// Returns what the plan changes: the manifest, the app itself, and retries of its automations.
    #[must_use]
    pub fn differences(&self) -> Vec<Difference> {
        // The manifest says how a new app would be shared and called; the app itself may be shared or called otherwise.
        let mut found = diff_manifests(&self.before, &self.manifest);
        found.retain(|it| match it.subject {
            Subject::Sharing => self.app.sharing.is_none(),
            Subject::Name => self.app.name.is_none(),
            Subject::Description => self.app.description.is_none(),
            _ => true,
        });
        if let Some(after) = self.app.sharing {
            let before = self.sharing.unwrap_or(self.before.sharing.default);
            found.extend(sharing_difference(before, after));
        }
        let name = self.app.name.clone().map(|name| Difference::of_value(Subject::Name, name));
        let description = self.app.description.clone();
        found.extend(name);
        found.extend(description.map(|text| Difference::of_value(Subject::Description, text)));
        found.extend(self.automations.iter().filter_map(|change| match change {
            AutomationChange::Retries { retries, name, .. } => {
                let changed = Difference::of_value(Subject::Retries, retries.to_string());
                Some(Difference { name: name.clone(), ..changed })
            }
            _ => None,
        }));
        found
    }

    /// Returns `true` if approving the plan would change nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.before == self.manifest
            && self.app == AppUpdate::default()
            && self.automations.is_empty()
            && self.planned_by.files().is_none()
    }
}

impl Change {
    /// Leaves out of a settled plan what is no longer to be done: only the gates that are still closed are left to open.
    pub fn settle_steps(&mut self, is_open: impl Fn(&str) -> bool) {
        if self.outcome.is_none() {
            return;
        }
        let plan = &mut self.plan;
        let step = |host: &String| phrases::open_gate(host, plan.locale);
        // A plan that a run suggested says it so.
        let suggested = |host: &&String| format!("Open the gate to {host}.");
        let (open, closed): (Vec<&String>, Vec<&String>) =
            plan.closed_hosts.iter().partition(|host| is_open(host));
        let mut done: Vec<String> = open.iter().map(suggested).collect();
        done.extend(open.into_iter().map(step));
        let is_live = matches!(self.outcome, Some(ChangeOutcome::Live(_)));
        let needed: Vec<String> = closed.into_iter().filter(|_| is_live).map(step).collect();
        plan.steps.retain(|step| !done.contains(step));
        plan.needs_console = needed;
        plan.closed_hosts.retain(|host| !is_open(host));
    }
}

/// Trust scores before and after a change, 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTrust {
    /// Score of the base version.
    pub before: u8,
    /// Score of the planned version.
    pub after: u8,
}

/// Changes to an app that are not part of a version; a field that is none stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppUpdate {
    /// Display name.
    pub name: Option<String>,
    /// Purpose.
    pub description: Option<String>,
    /// Sharing.
    pub sharing: Option<Sharing>,
}

/// A change to an automation of the app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AutomationChange {
    /// Create an automation that a schedule starts.
    CreateSchedule {
        /// Display name.
        name: String,
        /// Cron expression.
        cron: String,
        /// IANA time zone.
        timezone: String,
    },
    /// Change the schedule of an automation.
    Reschedule {
        /// Automation.
        id: AutomationId,
        /// Cron expression.
        cron: String,
        /// IANA time zone.
        timezone: String,
        /// True if the automation becomes active, too.
        activate: bool,
    },
    /// Pause an automation that a schedule starts.
    PauseSchedule {
        /// Automation.
        id: AutomationId,
    },
    /// Change the retries of failed runs.
    Retries {
        /// Automation.
        id: AutomationId,
        /// Most retries, 0 to 5.
        retries: u8,
        /// Display name; empty in plans of earlier releases.
        #[serde(default)]
        name: String,
    },
}

/// A planned change.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Id of the change.
    pub id: ChangeId,
    /// Workspace of the app.
    pub workspace: WorkspaceId,
    /// App to change.
    pub app: AppId,
    /// Person who planned it; nobody else sees it.
    pub owner: UserId,
    /// Run whose failure suggested it.
    pub run: Option<RunId>,
    /// Content of the change.
    pub plan: ChangePlan,
    /// Time of planning.
    pub created_at: Timestamp,
    /// Time from which on it is expired; [`LIFETIME`] after planning.
    pub expires_at: Timestamp,
    /// Result of its approval; none until then.
    pub outcome: Option<ChangeOutcome>,
}

/// The result of approving a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeOutcome {
    /// The app moved to this version. It is the base version if the change left the manifest as it was.
    Live(VersionId),
    /// The change cannot be made any more, for this reason.
    Failed(String),
}

impl Change {
    /// Returns the state at `now`. A plan without code to build is never in between.
    #[must_use]
    pub fn state(&self, now: Timestamp) -> ChangeState {
        match self.outcome {
            Some(ChangeOutcome::Live(_)) => ChangeState::Live,
            Some(ChangeOutcome::Failed(_)) => ChangeState::Failed,
            None if self.expires_at <= now => ChangeState::Expired,
            None => ChangeState::Planned,
        }
    }
}

/// Adds a plan of the caller's, unless they have too many.
async fn insert_planned(
    tx: &mut dyn ChangesTx,
    ctx: &Context,
    right: &AppRight<CanEdit>,
    run: Option<RunId>,
    plan: ChangePlan,
    detail: Value,
) -> Result<Change, AppError> {
    let (workspace, owner) = (right.member().workspace(), right.member().user());
    if tx.count_open_changes(workspace, owner, ctx.now).await? >= MAX_OPEN {
        return Err(AppError::TooManyChanges);
    }
    let change = Change {
        id: ctx.new_id(),
        workspace,
        app: right.app(),
        owner,
        run,
        plan,
        created_at: ctx.now,
        expires_at: ctx.now + LIFETIME,
        outcome: None,
    };
    tx.insert_change(&change).await?;
    let entry = ctx.audit_entry("change.plan").workspace(workspace).target(change.id);
    tx.audit(entry.app(change.app).detail(detail));
    Ok(change)
}

/// Reads planned changes.
#[async_trait]
pub trait ChangesRead: Send + Sync {
    /// Returns the app of a change that this person planned, for authorisation.
    async fn app_of_change(&self, owner: UserId, id: ChangeId) -> Result<Option<AppId>, StoreError>;

    /// Returns a change that this person planned in this workspace.
    async fn change(
        &self,
        workspace: WorkspaceId,
        owner: UserId,
        id: ChangeId,
    ) -> Result<Option<Change>, StoreError>;

    /// Returns the changes that a person planned in a workspace and that wait for them at `now`, newest first; those of
    /// deleted apps and of apps that they can no longer view are left out. There are at most [`MAX_OPEN`].
    async fn open_changes(
        &self,
        workspace: WorkspaceId,
        owner: UserId,
        visible: Visibility,
        now: Timestamp,
    ) -> Result<Vec<OpenChange>, StoreError>;
}

/// A change that waits for its planner, and the name of its app.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenChange {
    /// Change.
    pub change: Change,
    /// Display name of the app.
    pub app_name: String,
}

/// Writes planned changes.
#[async_trait]
pub trait ChangesTx: AppsTx {
    /// Counts the changes that a person planned in a workspace and that wait for them at `now`.
    async fn count_open_changes(
        &mut self,
        workspace: WorkspaceId,
        owner: UserId,
        now: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Adds a change.
    async fn insert_change(&mut self, change: &Change) -> Result<(), StoreError>;

    /// Returns a change that this person planned in this workspace, locked until the transaction ends.
    async fn change_for_update(
        &mut self,
        workspace: WorkspaceId,
        owner: UserId,
        id: ChangeId,
    ) -> Result<Option<Change>, StoreError>;

    /// Records what an approved change did outside of versions.
    async fn insert_change_effects(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        effects: &ChangeEffects,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Lists the effects of the changes of an app after one version and up to another, by their numbers, newest first.
    async fn change_effects(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        versions: (u32, u32),
    ) -> Result<Vec<ChangeEffects>, StoreError>;

    /// Records the outcome of a change.
    async fn settle_change(&mut self, id: ChangeId, outcome: &ChangeOutcome) -> Result<(), StoreError>;
}
