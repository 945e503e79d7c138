//! Requirements of this domain on a store. Workers use [`RunQueue`](crate::queue::RunQueue), and the hot path of
//! webhooks uses [`WebhookStore`](crate::webhooks::WebhookStore).
//!
//! A read whose name ends with `_for_update` locks the row until the transaction ends. Reads that take a workspace find
//! nothing in another one.

use std::{collections::HashMap, time::Duration};

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    authority::Visibility,
    id::{AppId, ApprovalId, AutomationId, DeadLetterId, HookId, RunId, UserId, VersionId, WorkspaceId},
    page::PageRequest,
};
use serde_json::value::RawValue;

use crate::{
    Automation, Run, RunStatus, Webhook,
    approvals::Approval,
    automations::occurrences::{NewOccurrence, Occurrence},
    dead_letters::{DeadLetter, DeadLetterFilter, DeadLetterOrigin, DeadLetterState, ReplaySource},
    queue::NewRun,
    quota::Admission,
    runs::{Cancellation, LatestRun, QueueHealth, RunFilter, RunHistogram, VersionRef},
    webhooks::Delivery,
};

/// Name of an automation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutomationName {
    /// Id of the automation.
    pub id: AutomationId,
    /// App that it starts.
    pub app: AppId,
    /// Its name.
    pub name: String,
}

/// Reads of automations, webhooks and runs that need no transaction.
#[async_trait]
pub trait RunsRead: Send + Sync {
    /// Returns the workspace and app of an automation, for authorization.
    async fn automation_scope(&self, id: AutomationId) -> Result<Option<(WorkspaceId, AppId)>, StoreError>;

    /// Returns the workspace and app of a run, for authorization.
    async fn run_scope(&self, id: RunId) -> Result<Option<(WorkspaceId, AppId)>, StoreError>;

    /// Returns an automation.
    async fn automation(
        &self,
        workspace: WorkspaceId,
        id: AutomationId,
    ) -> Result<Option<Automation>, StoreError>;

    /// Returns the names of the newest automations of a workspace whose app a person can view.
    async fn automation_names(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        limit: u32,
    ) -> Result<Vec<AutomationName>, StoreError>;

    /// Returns the automations of a workspace, or of one of its apps, whose app a person can view, newest first. One more than
    /// the page's limit means that there is another page.
    async fn automations(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        app: Option<AppId>,
        page: PageRequest,
    ) -> Result<Vec<Automation>, StoreError>;

    /// Returns the latest runs of each of these automations, newest first, at most `limit` of each, whoever may view them.
    /// An automation without runs has no entry.
    async fn latest_runs(
        &self,
        automations: &[AutomationId],
        limit: u32,
    ) -> Result<HashMap<AutomationId, Vec<LatestRun>>, StoreError>;

    /// Returns the automations of an app, oldest first.
    async fn automations_of_app(
        &self,
        workspace: WorkspaceId,
        app: AppId,
    ) -> Result<Vec<Automation>, StoreError>;

    /// Returns the webhook of an automation.
    async fn webhook(
        &self,
        workspace: WorkspaceId,
        automation: AutomationId,
    ) -> Result<Option<Webhook>, StoreError>;

    /// Returns the latest deliveries of a webhook, newest first.
    async fn deliveries(
        &self,
        workspace: WorkspaceId,
        hook: HookId,
        limit: u32,
    ) -> Result<Vec<Delivery>, StoreError>;

    /// Returns a run with its steps.
    async fn run(&self, workspace: WorkspaceId, id: RunId) -> Result<Option<Run>, StoreError>;

    /// Returns what the code of a run returned, if it is kept.
    async fn run_result(
        &self,
        workspace: WorkspaceId,
        id: RunId,
    ) -> Result<Option<Box<RawValue>>, StoreError>;

    /// Returns the runs of a workspace whose app a person can view, newest first and without steps. One more than the
    /// page's limit means that there is another page.
    async fn runs(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        filter: RunFilter,
        page: PageRequest,
    ) -> Result<Vec<Run>, StoreError>;

    /// Counts the runs that [`Self::runs`] would list by the time at which they were accepted, in bars of this length. Of
    /// more than `limit` runs, only the newest are counted.
    async fn run_histogram(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        filter: RunFilter,
        bar: Duration,
        limit: u32,
    ) -> Result<RunHistogram, StoreError>;

    /// Returns the state of a workspace's queue at `now`.
    async fn queue_health(&self, workspace: WorkspaceId, now: Timestamp) -> Result<QueueHealth, StoreError>;
}

/// Writes of automations, webhooks and runs, and the reads that they depend on.
#[async_trait]
pub trait RunsTx: UnitOfWork {
    /// Inserts an automation.
    async fn insert_automation(&mut self, automation: &Automation) -> Result<(), StoreError>;

    /// Returns and locks an automation.
    async fn automation_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: AutomationId,
    ) -> Result<Option<Automation>, StoreError>;

    /// Updates the mutable fields of an automation, makes cached decisions about it stale, and admits waiting runs if
    /// its concurrency limit has grown.
    async fn update_automation(&mut self, automation: &Automation) -> Result<(), StoreError>;

    /// Deletes an automation with its webhook. Its queued runs fail.
    async fn delete_automation(
        &mut self,
        workspace: WorkspaceId,
        id: AutomationId,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Returns and locks the webhook of an automation.
    async fn webhook_for_update(
        &mut self,
        workspace: WorkspaceId,
        automation: AutomationId,
    ) -> Result<Option<Webhook>, StoreError>;

    /// Inserts or replaces a webhook, and makes cached decisions about it stale.
    async fn upsert_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError>;

    /// Returns true if an app has a version to run and is not paused.
    async fn is_app_runnable(&mut self, workspace: WorkspaceId, app: AppId) -> Result<bool, StoreError>;

    /// Decides about a run that would start now, and counts it against the month of `now` if it starts.
    async fn admit_run(
        &mut self,
        workspace: WorkspaceId,
        now: Timestamp,
        runs_per_month: Option<u64>,
    ) -> Result<Admission, StoreError>;

    /// Ends a run that has not ended as failed with the code [`CANCELLED`](crate::runs::CANCELLED), and makes the node
    /// that executes it stop. Its unanswered questions expire. Returns false, and writes nothing, if the run has ended.
    async fn cancel_run(&mut self, cancellation: &Cancellation) -> Result<bool, StoreError>;

    /// Puts a run into the queue.
    async fn enqueue(&mut self, run: &NewRun) -> Result<(), StoreError>;
}

/// Schedules as the worker that fires them sees them.
#[async_trait]
pub trait ScheduleStore: Send + Sync {
    /// Returns active automations whose next occurrence is due, the longest overdue first.
    async fn due_automations(&self, now: Timestamp, limit: u32) -> Result<Vec<Automation>, StoreError>;

    /// In one transaction, and only if the automation still waits for `due`: starts the runs of the occurrences in
    /// `passed` (if the app, the quota and the schedule's policy allow it), records the result of each occurrence, and
    /// sets the next one. Returns true if this call did it, and false if another had done it before.
    async fn fire_schedule(
        &self,
        automation: &Automation,
        due: Timestamp,
        passed: Vec<NewOccurrence>,
        next: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<bool, StoreError>;
}

/// Reads of approvals.
#[async_trait]
pub trait ApprovalsRead: Send + Sync {
    /// Returns the approvals of a run, in the order in which its code asked.
    async fn approvals(&self, workspace: WorkspaceId, run: RunId) -> Result<Vec<Approval>, StoreError>;
}

/// Writes of approvals, and the reads that they depend on.
#[async_trait]
pub trait ApprovalsTx: UnitOfWork {
    /// Returns and locks an approval.
    async fn approval_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: ApprovalId,
    ) -> Result<Option<Approval>, StoreError>;

    /// Updates the state of an approval, and puts its run back into the queue with the answer, if it still waits.
    async fn resolve_approval(
        &mut self,
        approval: &Approval,
        now: Timestamp,
        by: Option<UserId>,
    ) -> Result<(), StoreError>;
}

/// Reads of dead letters that need no transaction.
#[async_trait]
pub trait DeadLettersRead: Send + Sync {
    /// Returns the workspace and app of a dead letter, for authorization.
    async fn dead_letter_scope(&self, id: DeadLetterId) -> Result<Option<(WorkspaceId, AppId)>, StoreError>;

    /// Returns a dead letter, and the app's input if it is still stored.
    async fn dead_letter(
        &self,
        workspace: WorkspaceId,
        id: DeadLetterId,
    ) -> Result<Option<(DeadLetter, Option<Box<RawValue>>)>, StoreError>;

    /// Returns the dead letters of a workspace whose app a person can view, newest first. One more than the page's
    /// limit means that there is another page.
    async fn dead_letters(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        filter: DeadLetterFilter,
        page: PageRequest,
    ) -> Result<Vec<DeadLetter>, StoreError>;

    /// Returns the number of open dead letters of a workspace.
    async fn count_open_dead_letters(&self, workspace: WorkspaceId) -> Result<u64, StoreError>;
}

/// Writes of dead letters, and the reads that they depend on. A replay is a run, hence [`RunsTx`].
#[async_trait]
pub trait DeadLettersTx: RunsTx {
    /// Returns and locks the origin, state and replay source of a dead letter.
    async fn dead_letter_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: DeadLetterId,
    ) -> Result<Option<(DeadLetterOrigin, DeadLetterState, ReplaySource)>, StoreError>;

    /// Makes `run` the result of a refused call, so that the sender's next retry is a duplicate of it. Returns the run
    /// that the call led to already, if the sender retried and was accepted; then nothing is claimed.
    async fn claim_refused_call(
        &mut self,
        workspace: WorkspaceId,
        dead_letter: DeadLetterId,
        run: RunId,
        at: Timestamp,
    ) -> Result<Option<RunId>, StoreError>;

    /// Returns the status and replay source of a run.
    async fn replay_source_of_run(
        &mut self,
        workspace: WorkspaceId,
        run: RunId,
    ) -> Result<Option<(RunStatus, ReplaySource)>, StoreError>;

    /// Returns a version of an app, the current one by default.
    async fn find_version_to_run(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        version: Option<VersionId>,
    ) -> Result<Option<VersionRef>, StoreError>;

    /// Returns true if a version of an app has its files; they are not deleted until the transaction ends.
    async fn lock_version_files(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        version: VersionId,
    ) -> Result<bool, StoreError>;

    /// Resolves a locked dead letter: as replayed if there is a run, else as discarded.
    async fn resolve_dead_letter(
        &mut self,
        workspace: WorkspaceId,
        id: DeadLetterId,
        at: Timestamp,
        by: Option<UserId>,
        replay: Option<RunId>,
    ) -> Result<(), StoreError>;
}

/// Reads of the occurrences of schedules.
#[async_trait]
pub trait OccurrencesRead: Send + Sync {
    /// Returns the past occurrences of an automation, latest first. One more than the page's limit means that there is
    /// another page.
    async fn occurrences(
        &self,
        workspace: WorkspaceId,
        automation: AutomationId,
        page: PageRequest,
    ) -> Result<Vec<Occurrence>, StoreError>;
}

/// Reads that explain a run.
#[async_trait]
pub trait DiagnosisRead: Send + Sync {
    /// Returns the last run of the same automation that succeeded before this one, if it is among the app's latest
    /// runs.
    async fn last_good(&self, run: &Run) -> Result<Option<Run>, StoreError>;
}
