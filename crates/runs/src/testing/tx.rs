//! An in-memory store for transactions.

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, delegate_unit_of_work,
    id::{AgentToolId, AppId, ApprovalId, AutomationId, DeadLetterId, RunId, UserId, VersionId, WorkspaceId},
    testing::RecordingUnitOfWork,
};

use super::{app, permissions_hash, version};
use crate::{
    Automation, RunStatus, RunsTx, Webhook,
    agent_tools::{AgentTool, AgentToolsTx, ToolApp},
    approvals::Approval,
    dead_letters::{DeadLetterOrigin, DeadLetterState, ReplaySource},
    ports::{ApprovalsTx, DeadLettersTx},
    queue::NewRun,
    quota::Admission,
    runs::{Cancellation, VersionRef},
};

/// A dead letter as the store keeps it.
#[derive(Debug, Clone)]
pub(crate) struct StoredDeadLetter {
    pub(crate) id: DeadLetterId,
    pub(crate) workspace: WorkspaceId,
    pub(crate) origin: DeadLetterOrigin,
    pub(crate) state: DeadLetterState,
    pub(crate) source: ReplaySource,
    /// Time and person of the replay or discard.
    pub(crate) resolved: Option<(Timestamp, Option<UserId>)>,
    /// Run of its replay.
    pub(crate) replay: Option<RunId>,
    /// Run that the refused call led to.
    pub(crate) claimed_by: Option<RunId>,
}

/// A store whose tables are plain collections.
#[derive(Debug, Default)]
pub(crate) struct FakeTx {
    pub(crate) work: RecordingUnitOfWork,
    pub(crate) automations: Vec<Automation>,
    pub(crate) webhooks: Vec<Webhook>,
    /// Apps that have a version to run and are not paused.
    pub(crate) runnable_apps: Vec<AppId>,
    /// Versions by app.
    pub(crate) versions: Vec<(AppId, VersionRef)>,
    /// Versions whose files are deleted.
    pub(crate) pruned_versions: Vec<VersionId>,
    /// Runs counted against the month's quota.
    pub(crate) consumed_quota: u64,
    /// True if as many runs are held as may be.
    pub(crate) holds_no_more: bool,
    pub(crate) queue: Vec<NewRun>,
    /// Runs that can be cancelled.
    pub(crate) unfinished_runs: Vec<(WorkspaceId, RunId)>,
    pub(crate) cancellations: Vec<Cancellation>,
    /// Queued runs that failed because their automation was deleted, and when.
    pub(crate) failed: Vec<(RunId, Timestamp)>,
    pub(crate) approvals: Vec<Approval>,
    /// Runs that continue with an answer, with when and by whom it was given.
    pub(crate) resumed: Vec<(RunId, Timestamp, Option<UserId>)>,
    pub(crate) ended_runs: Vec<(WorkspaceId, RunId, RunStatus, ReplaySource)>,
    pub(crate) dead_letters: Vec<StoredDeadLetter>,
    pub(crate) agent_tools: Vec<AgentTool>,
    pub(crate) tool_calls: Vec<(AgentToolId, Timestamp)>,
    /// True if every read and write fails.
    pub(crate) is_unavailable: bool,
}

delegate_unit_of_work!(FakeTx, work);

impl FakeTx {
    /// A store in which [`app()`] can run its versions 1 and 2, of which 2 is current.
    pub(crate) fn with_runnable_app() -> Self {
        Self {
            runnable_apps: vec![app()],
            versions: vec![(app(), version(1)), (app(), version(2))],
            ..Self::default()
        }
    }

    /// The same with an automation.
    pub(crate) fn with_automation(automation: &Automation) -> Self {
        Self { automations: vec![automation.clone()], ..Self::with_runnable_app() }
    }

    /// A store that cannot be reached.
    pub(crate) fn unavailable() -> Self {
        Self { is_unavailable: true, ..Self::default() }
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.is_unavailable { Err(StoreError::Unavailable("down".into())) } else { Ok(()) }
    }

    fn find_automation(&mut self, workspace: WorkspaceId, id: AutomationId) -> Option<&mut Automation> {
        self.automations.iter_mut().find(|known| known.workspace == workspace && known.id == id)
    }

    fn find_dead_letter(
        &mut self,
        workspace: WorkspaceId,
        id: DeadLetterId,
    ) -> Option<&mut StoredDeadLetter> {
        self.dead_letters.iter_mut().find(|known| known.workspace == workspace && known.id == id)
    }
}

#[async_trait]
impl RunsTx for FakeTx {
    async fn insert_automation(&mut self, automation: &Automation) -> Result<(), StoreError> {
        self.check()?;
        self.automations.push(automation.clone());
        Ok(())
    }

    async fn automation_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: AutomationId,
    ) -> Result<Option<Automation>, StoreError> {
        self.check()?;
        Ok(self.find_automation(workspace, id).cloned())
    }

    async fn update_automation(&mut self, automation: &Automation) -> Result<(), StoreError> {
        self.check()?;
        if let Some(known) = self.find_automation(automation.workspace, automation.id) {
            known.clone_from(automation);
        }
        Ok(())
    }

    async fn delete_automation(
        &mut self,
        workspace: WorkspaceId,
        id: AutomationId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.check()?;
        self.automations.retain(|known| (known.workspace, known.id) != (workspace, id));
        self.webhooks.retain(|known| (known.workspace, known.automation) != (workspace, id));
        let queued =
            self.queue.extract_if(.., |run| (run.workspace, run.automation) == (workspace, Some(id)));
        self.failed.extend(queued.map(|run| (run.id, now)));
        Ok(())
    }

    async fn webhook_for_update(
        &mut self,
        workspace: WorkspaceId,
        automation: AutomationId,
    ) -> Result<Option<Webhook>, StoreError> {
        self.check()?;
        let found =
            self.webhooks.iter().find(|known| (known.workspace, known.automation) == (workspace, automation));
        Ok(found.cloned())
    }

    async fn upsert_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError> {
        self.check()?;
        self.webhooks.retain(|known| known.id != webhook.id);
        self.webhooks.push(webhook.clone());
        Ok(())
    }

    async fn is_app_runnable(&mut self, workspace: WorkspaceId, app: AppId) -> Result<bool, StoreError> {
        self.check()?;
        Ok(workspace == super::workspace() && self.runnable_apps.contains(&app))
    }

    async fn admit_run(
        &mut self,
        _: WorkspaceId,
        _: Timestamp,
        runs_per_month: Option<u64>,
    ) -> Result<Admission, StoreError> {
        self.check()?;
        if runs_per_month.is_none_or(|limit| self.consumed_quota < limit) {
            self.consumed_quota += 1;
            return Ok(Admission::Start);
        }
        Ok(if self.holds_no_more { Admission::Refuse } else { Admission::Hold })
    }

    async fn cancel_run(&mut self, cancellation: &Cancellation) -> Result<bool, StoreError> {
        self.check()?;
        let run = (cancellation.workspace, cancellation.run);
        let Some(index) = self.unfinished_runs.iter().position(|known| *known == run) else {
            return Ok(false);
        };
        self.unfinished_runs.swap_remove(index);
        self.cancellations.push(*cancellation);
        Ok(true)
    }

    async fn enqueue(&mut self, run: &NewRun) -> Result<(), StoreError> {
        self.check()?;
        self.queue.push(NewRun { input: run.input.clone(), ..*run });
        Ok(())
    }
}

#[async_trait]
impl ApprovalsTx for FakeTx {
    async fn approval_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: ApprovalId,
    ) -> Result<Option<Approval>, StoreError> {
        self.check()?;
        Ok(self.approvals.iter().find(|known| (known.workspace, known.id) == (workspace, id)).cloned())
    }

    async fn resolve_approval(
        &mut self,
        approval: &Approval,
        now: Timestamp,
        by: Option<UserId>,
    ) -> Result<(), StoreError> {
        self.check()?;
        self.approvals.iter_mut().filter(|known| known.id == approval.id).for_each(|known| {
            known.clone_from(approval);
        });
        self.resumed.push((approval.run, now, by));
        Ok(())
    }
}

#[async_trait]
impl DeadLettersTx for FakeTx {
    async fn dead_letter_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: DeadLetterId,
    ) -> Result<Option<(DeadLetterOrigin, DeadLetterState, ReplaySource)>, StoreError> {
        self.check()?;
        let found = self.find_dead_letter(workspace, id);
        Ok(found.map(|found| (found.origin, found.state, found.source.clone())))
    }

    async fn claim_refused_call(
        &mut self,
        workspace: WorkspaceId,
        dead_letter: DeadLetterId,
        run: RunId,
        _: Timestamp,
    ) -> Result<Option<RunId>, StoreError> {
        self.check()?;
        let Some(found) = self.find_dead_letter(workspace, dead_letter) else { return Ok(None) };
        let claimed_by = *found.claimed_by.get_or_insert(run);
        Ok(Some(claimed_by).filter(|claimed_by| *claimed_by != run))
    }

    async fn replay_source_of_run(
        &mut self,
        workspace: WorkspaceId,
        run: RunId,
    ) -> Result<Option<(RunStatus, ReplaySource)>, StoreError> {
        self.check()?;
        let found = self.ended_runs.iter().find(|(of, known, ..)| (*of, *known) == (workspace, run));
        Ok(found.map(|(_, _, status, source)| (*status, source.clone())))
    }

    async fn find_version_to_run(
        &mut self,
        _: WorkspaceId,
        app: AppId,
        version: Option<VersionId>,
    ) -> Result<Option<VersionRef>, StoreError> {
        self.check()?;
        let is_wanted = |known: &VersionRef| version.map_or(known.is_current, |version| known.id == version);
        let mut versions = self.versions.iter().filter(|(of, _)| *of == app);
        Ok(versions.find(|(_, known)| is_wanted(known)).map(|(_, known)| known.clone()))
    }

    async fn lock_version_files(
        &mut self,
        _: WorkspaceId,
        _: AppId,
        version: VersionId,
    ) -> Result<bool, StoreError> {
        self.check()?;
        Ok(!self.pruned_versions.contains(&version))
    }

    async fn resolve_dead_letter(
        &mut self,
        workspace: WorkspaceId,
        id: DeadLetterId,
        at: Timestamp,
        by: Option<UserId>,
        replay: Option<RunId>,
    ) -> Result<(), StoreError> {
        self.check()?;
        if let Some(found) = self.find_dead_letter(workspace, id) {
            found.state =
                if replay.is_some() { DeadLetterState::Replayed } else { DeadLetterState::Discarded };
            found.resolved = Some((at, by));
            found.replay = replay;
        }
        Ok(())
    }
}

#[async_trait]
impl AgentToolsTx for FakeTx {
    async fn agent_tool_for_update(
        &mut self,
        workspace: WorkspaceId,
        automation: AutomationId,
    ) -> Result<Option<AgentTool>, StoreError> {
        self.check()?;
        let is_wanted = |known: &&AgentTool| (known.workspace, known.automation) == (workspace, automation);
        Ok(self.agent_tools.iter().find(is_wanted).cloned())
    }

    async fn tool_app(&mut self, workspace: WorkspaceId, app: AppId) -> Result<Option<ToolApp>, StoreError> {
        let is_paused = !self.is_app_runnable(workspace, app).await?;
        let current = self.find_version_to_run(workspace, app, None).await?;
        Ok(Some(ToolApp { current: current.map(|version| (version.id, permissions_hash())), is_paused }))
    }

    async fn count_agent_tools(&mut self, _: WorkspaceId) -> Result<u64, StoreError> {
        self.check()?;
        Ok(self.agent_tools.len() as u64)
    }

    async fn upsert_agent_tool(&mut self, tool: &AgentTool) -> Result<(), StoreError> {
        self.check()?;
        if self.agent_tools.iter().any(|known| known.name == tool.name && known.id != tool.id) {
            return Err(StoreError::Duplicate);
        }
        self.agent_tools.retain(|known| known.id != tool.id);
        self.agent_tools.push(tool.clone());
        Ok(())
    }

    async fn delete_agent_tool(
        &mut self,
        workspace: WorkspaceId,
        tool: AgentToolId,
    ) -> Result<(), StoreError> {
        self.check()?;
        self.agent_tools.retain(|known| (known.workspace, known.id) != (workspace, tool));
        Ok(())
    }

    async fn record_tool_call(&mut self, tool: AgentToolId, at: Timestamp) -> Result<(), StoreError> {
        self.check()?;
        self.tool_calls.push((tool, at));
        Ok(())
    }
}
