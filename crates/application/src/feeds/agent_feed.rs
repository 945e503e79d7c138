//! The feed of a workspace's events for agents (specification part B, "Agent tools").

use std::time::Duration;

use chrono::{DateTime, Utc};
use kernel::{
    Context, StoreError,
    authority::Member,
    events::{EventKind, RunStage},
    id::{AppId, ApprovalId, ConnectionId, RunId},
};
use observability::feed::{FeedEvent, FeedPage, FeedQuery, Topic};
use runs::webhooks::OWNER_FIXABLE_REFUSALS;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep, timeout_at};

use super::{DEBOUNCE, StreamPermit};
use crate::{Application, Problem};

/// Maximum number of events in a response.
const PAGE_SIZE: u32 = 100;
/// Maximum length of a code in characters; longer ones are cut.
const MAX_CODE_CHARS: usize = 64;

/// Events since a number, and the number from which to continue.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentFeed {
    items: Vec<AgentEvent>,
    /// Value to send as `since` in the next request. It also moves past events that you may not see.
    cursor: u64,
    /// `true` if events between `since` and the first item are no longer stored.
    gap: bool,
}

/// An event that an agent may want to act on.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentEvent {
    seq: u64,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    at: DateTime<Utc>,
    kind: AgentEventKind,
    /// Type of the alert, if the event is one.
    alert: Option<AgentAlert>,
    app_id: Option<AppId>,
    app_name: Option<String>,
    run_id: Option<RunId>,
    /// Approval that the run waits for.
    approval_id: Option<ApprovalId>,
    /// Connection that does not work any more.
    connection_id: Option<ConnectionId>,
    /// Error code, if something failed or was refused.
    code: Option<String>,
    /// `true` if a token or an agent requested the run.
    asked_by_agent: bool,
}

/// Type of an event for agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentEventKind {
    /// A run succeeded.
    RunFinished,
    /// A run failed for good, or was blocked by the gate.
    RunFailed,
    /// A run waits for a person's approval.
    ApprovalNeeded,
    /// Something went wrong; see `alert`.
    Alert,
}

/// Type of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentAlert {
    /// Three consecutive runs of an app failed.
    AppFailing,
    /// Three consecutive runs of an automation failed, or its webhook refuses calls for a reason that its owner can
    /// fix.
    AutomationFailing,
    /// The service of a connection rejects its credential, or the permission has ended.
    ConnectorDown,
    /// The gate refused a request of an app.
    BlockedCall,
    /// A limit of the workspace is reached.
    CapReached,
}

impl AgentEvent {
    /// Converts an event of the feed; `None` if it is not for agents.
    fn of(event: FeedEvent) -> Option<Self> {
        use AgentEventKind::{Alert, ApprovalNeeded, RunFailed, RunFinished};
        let (mut approval_id, mut connection_id) = (None, None);
        let (kind, alert, run, code) = match event.kind {
            EventKind::Run { run, stage } => {
                let (kind, code) = match stage {
                    RunStage::Queued | RunStage::Running | RunStage::Retried { .. } => return None,
                    RunStage::AwaitingApproval { approval } => {
                        approval_id = Some(approval);
                        (ApprovalNeeded, None)
                    }
                    RunStage::Succeeded => (RunFinished, None),
                    RunStage::Failed { code } | RunStage::Blocked { code } => (RunFailed, Some(code)),
                };
                (kind, None, Some(run), code)
            }
            EventKind::EgressRefused { run, request: refused } => {
                (Alert, Some(AgentAlert::BlockedCall), run, Some(refused.code))
            }
            EventKind::WebhookCallRefused { code, .. } => {
                let alert = match code.as_str() {
                    "quota_reached" => AgentAlert::CapReached,
                    code if OWNER_FIXABLE_REFUSALS.contains(&code) => AgentAlert::AutomationFailing,
                    // The sender's mistake: nothing of the workspace fails.
                    _ => return None,
                };
                (Alert, Some(alert), None, Some(code))
            }
            EventKind::AppFailing { run, code } => {
                (Alert, Some(AgentAlert::AppFailing), Some(run), Some(code))
            }
            EventKind::AutomationFailing { run, code, .. } => {
                (Alert, Some(AgentAlert::AutomationFailing), Some(run), Some(code))
            }
            EventKind::ConnectorDown { connection, code } => {
                connection_id = Some(connection);
                (Alert, Some(AgentAlert::ConnectorDown), None, Some(code))
            }
            EventKind::VersionCreated { .. }
            | EventKind::RolledBack { .. }
            | EventKind::LinesLogged { .. }
            | EventKind::Changed(_) => return None,
        };
        Some(Self {
            seq: event.seq,
            at: event.at,
            kind,
            alert,
            app_id: event.app,
            app_name: event.app_name,
            run_id: run,
            approval_id,
            connection_id,
            code: code.map(|code| code.chars().take(MAX_CODE_CHARS).collect()),
            asked_by_agent: event.run_origin.is_some_and(|started| started.by_agent),
        })
    }
}

/// Events of the feed for one response.
struct OutcomeBatch {
    events: Vec<FeedEvent>,
    cursor: u64,
    gap: bool,
}

impl Application {
    /// Returns the events since a number, or since now. If there are none, waits up to `wait` for the first.
    ///
    /// # Errors
    /// 429 `too_many_streams` if too many requests wait; 401 or 404 if the caller's access ends while it waits; a
    /// [`Problem`] if the store fails.
    pub async fn agent_events(
        &self,
        ctx: &Context,
        member: Member,
        since: Option<u64>,
        wait: Duration,
    ) -> Result<AgentFeed, Problem> {
        let workspace = member.workspace();
        let deadline = Instant::now() + wait;
        let mut permit = (!wait.is_zero()).then(|| StreamPermit::acquire(self, member.user())).transpose()?;
        let mut notifier = self.store().subscribe(workspace);
        let mut after = match since {
            Some(since) => since,
            None => self.store().feed_head(workspace).await?,
        };
        let (mut member, mut gap) = (member, false);
        loop {
            let found = self.poll_outcomes(&member, after).await?;
            (after, gap) = (found.cursor, gap || found.gap);
            let is_over = permit.as_ref().is_none_or(StreamPermit::is_closed) || Instant::now() >= deadline;
            if is_over || gap || !found.events.is_empty() {
                let items = found.events.into_iter().filter_map(AgentEvent::of).collect();
                return Ok(AgentFeed { items, cursor: after, gap });
            }
            if let Some(permit) = &mut permit {
                tokio::select! {
                    // Many notifications are about events that this caller may not see.
                    _ = timeout_at(deadline, async { notifier.changed().await; sleep(DEBOUNCE).await }) => {}
                    () = permit.wait_closed() => {}
                }
            }
            let ctx = self.reauthenticate(ctx).await?;
            member = self.member(&ctx, &workspace.to_string()).await?;
        }
    }

    /// Reads pages until one has events or the feed ends.
    async fn poll_outcomes(&self, member: &Member, mut after: u64) -> Result<OutcomeBatch, StoreError> {
        let mut gap = false;
        loop {
            let query = FeedQuery { after, topic: Topic::Outcomes, limit: PAGE_SIZE };
            let page: FeedPage = self.store().feed(member, query).await?;
            gap = gap || page.has_gap;
            after = page.cursor;
            if !page.events.is_empty() || page.cursor >= page.head {
                return Ok(OutcomeBatch { events: page.events, cursor: after, gap });
            }
        }
    }
}
