//! What this domain needs from a store. The queue's worker side is [`crate::queue::RunQueue`], the webhook's
//! hot path [`crate::webhooks::WebhookStore`].

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
    runs::{QueueHealth, RunFilter, VersionRef},
    webhooks::Delivery,
};

/// Reads that need no transaction.
#[async_trait]
pub trait RunsRead: Send + Sync {
    /// In which workspace and of which app an automation is; for authorisation.
    async fn automation_scope(&self, id: AutomationId) -> Result<Option<(WorkspaceId, AppId)>, StoreError>;

    /// In which workspace and of which app a run is; for authorisation.
    async fn run_scope(&self, id: RunId) -> Result<Option<(WorkspaceId, AppId)>, StoreError>;

    /// An automation.
    async fn automation(
        &self,
        workspace: WorkspaceId,
        id: AutomationId,
    ) -> Result<Option<Automation>, StoreError>;

    /// The automations of a workspace whose app a person can view, newest first; up to one more than the limit.
    async fn automations(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        page: PageRequest,
    ) -> Result<Vec<Automation>, StoreError>;

    /// The webhook of an automation.
    async fn webhook(
        &self,
        workspace: WorkspaceId,
        automation: AutomationId,
    ) -> Result<Option<Webhook>, StoreError>;

    /// A webhook's last deliveries, newest first.
    async fn deliveries(
        &self,
        workspace: WorkspaceId,
        hook: HookId,
        limit: u32,
    ) -> Result<Vec<Delivery>, StoreError>;

    /// A run with its steps.
    async fn run(&self, workspace: WorkspaceId, id: RunId) -> Result<Option<Run>, StoreError>;

    /// The runs of a workspace whose app a person can view, newest first and without steps; up to one more than
    /// the limit.
    async fn runs(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        filter: RunFilter,
        page: PageRequest,
    ) -> Result<Vec<Run>, StoreError>;

    /// How a workspace's queue is doing.
    async fn queue_health(&self, workspace: WorkspaceId, now: Timestamp) -> Result<QueueHealth, StoreError>;
}

/// Writes, and the reads they decide by.
#[async_trait]
pub trait RunsTx: UnitOfWork {
    /// Adds an automation.
    async fn insert_automation(&mut self, automation: &Automation) -> Result<(), StoreError>;

    /// An automation, locked until the transaction ends.
    async fn automation_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: AutomationId,
    ) -> Result<Option<Automation>, StoreError>;

    /// Writes an automation's changeable fields, makes cached decisions about it stale, and lets waiting runs in
    /// where its limit has grown.
    async fn update_automation(&mut self, automation: &Automation) -> Result<(), StoreError>;

    /// Takes an automation away with its webhook; what it still had queued ends as failed.
    async fn delete_automation(
        &mut self,
        workspace: WorkspaceId,
        id: AutomationId,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// The webhook of an automation, locked until the transaction ends.
    async fn webhook_for_update(
        &mut self,
        workspace: WorkspaceId,
        automation: AutomationId,
    ) -> Result<Option<Webhook>, StoreError>;

    /// Adds or replaces a webhook, and makes cached decisions about it stale.
    async fn upsert_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError>;

    /// Whether an app has a version to run and is not paused.
    async fn is_app_runnable(&mut self, workspace: WorkspaceId, app: AppId) -> Result<bool, StoreError>;

    /// Counts one run of the month unless that would go over the limit; whether it was counted.
    async fn try_consume_quota(
        &mut self,
        workspace: WorkspaceId,
        now: Timestamp,
        runs_per_month: Option<u64>,
    ) -> Result<bool, StoreError>;

    /// Puts a run into the queue.
    async fn enqueue(&mut self, run: &NewRun) -> Result<(), StoreError>;

    /// Lets go what a workspace's spending cap holds back; how many runs.
    async fn release_held_runs(&mut self, workspace: WorkspaceId) -> Result<u64, StoreError>;
}

/// Schedules, as the one who starts them sees them.
#[async_trait]
pub trait ScheduleStore: Send + Sync {
    /// Active automations whose next moment has come, the longest overdue first.
    async fn due_automations(&self, now: Timestamp, limit: u32) -> Result<Vec<Automation>, StoreError>;

    /// In one transaction, and only if the automation still waits for `due`: starts the runs of moments that have
    /// passed (when the app, the quota and the schedule's policy allow it), writes what became of each moment, and sets
    /// the next. Whether this call was the one that did it.
    async fn fire_schedule(
        &self,
        automation: &Automation,
        due: Timestamp,
        passed: Vec<NewOccurrence>,
        next: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<bool, StoreError>;
}

/// Reads questions.
#[async_trait]
pub trait ApprovalsRead: Send + Sync {
    /// The questions of a run, the first first.
    async fn approvals(&self, workspace: WorkspaceId, run: RunId) -> Result<Vec<Approval>, StoreError>;
}

/// Writes questions, and the reads they are decided by.
#[async_trait]
pub trait ApprovalsTx: UnitOfWork {
    /// A question, locked until the transaction ends.
    async fn approval_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: ApprovalId,
    ) -> Result<Option<Approval>, StoreError>;

    /// Writes an answer, and puts the run back into the queue with it, if it still waits.
    async fn resolve_approval(
        &mut self,
        approval: &Approval,
        now: Timestamp,
        by: Option<UserId>,
    ) -> Result<(), StoreError>;
}

/// Reads that need no transaction.
#[async_trait]
pub trait DeadLettersRead: Send + Sync {
    /// In which workspace and of which app a letter is; for authorisation.
    async fn dead_letter_scope(&self, id: DeadLetterId) -> Result<Option<(WorkspaceId, AppId)>, StoreError>;

    /// A letter, with what the app was given.
    async fn dead_letter(
        &self,
        workspace: WorkspaceId,
        id: DeadLetterId,
    ) -> Result<Option<(DeadLetter, Option<Box<RawValue>>)>, StoreError>;

    /// The letters of a workspace whose app a person can view, newest first; up to one more than the limit.
    async fn dead_letters(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        filter: DeadLetterFilter,
        page: PageRequest,
    ) -> Result<Vec<DeadLetter>, StoreError>;

    /// How many letters of a workspace wait for somebody.
    async fn count_open_dead_letters(&self, workspace: WorkspaceId) -> Result<u64, StoreError>;
}

/// Writes, and the reads they decide by.
#[async_trait]
pub trait DeadLettersTx: RunsTx {
    /// What a letter is of and how it stands, locked until the transaction ends.
    async fn dead_letter_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: DeadLetterId,
    ) -> Result<Option<(DeadLetterOrigin, DeadLetterState, ReplaySource)>, StoreError>;

    /// Makes the run what a refused call led to, so that the sender's next try repeats it. The run that the call led to
    /// already, where the sender came again and was accepted: nothing is claimed then.
    async fn claim_refused_call(
        &mut self,
        workspace: WorkspaceId,
        letter: DeadLetterId,
        run: RunId,
        at: Timestamp,
    ) -> Result<Option<RunId>, StoreError>;

    /// A run as a replay needs it, and how it stands.
    async fn replay_source_of_run(
        &mut self,
        workspace: WorkspaceId,
        run: RunId,
    ) -> Result<Option<(RunStatus, ReplaySource)>, StoreError>;

    /// A version of an app; its current one when none is named.
    async fn find_version_to_run(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        version: Option<VersionId>,
    ) -> Result<Option<VersionRef>, StoreError>;

    /// Settles a letter that is locked: replayed with the run, or discarded without one.
    async fn resolve_dead_letter(
        &mut self,
        workspace: WorkspaceId,
        id: DeadLetterId,
        at: Timestamp,
        by: Option<UserId>,
        replay: Option<RunId>,
    ) -> Result<(), StoreError>;
}

/// Reads the ledger.
#[async_trait]
pub trait OccurrencesRead: Send + Sync {
    /// The moments of an automation that have passed, the last first; up to one more than the limit.
    async fn occurrences(
        &self,
        workspace: WorkspaceId,
        automation: AutomationId,
        page: PageRequest,
    ) -> Result<Vec<Occurrence>, StoreError>;
}

/// What is read to explain a run.
#[async_trait]
pub trait DiagnosisRead: Send + Sync {
    /// The last run before this one that succeeded, of the same automation, among the app's last runs.
    async fn last_good(&self, run: &Run) -> Result<Option<Run>, StoreError>;
}
