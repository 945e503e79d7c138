//! What agents are told of a workspace (specification part B, "Agent tools").

use std::time::Duration;

use chrono::{DateTime, Utc};
use kernel::{
    Context, Problem, StoreError,
    authority::Member,
    events::{Happening, RunStage},
    id::{AppId, ApprovalId, RunId},
};
use observability::feed::{FeedEvent, FeedPage, FeedQuery, Topic};
use runs::webhooks::OWNERS_REFUSALS;
use serde::Serialize;
use tokio::time::{Instant, sleep, timeout_at};
use utoipa::ToSchema;

use super::{follow::PAUSE, places::Place};
use crate::state::Api;

/// How many events one answer has at most.
const LIMIT: u32 = 100;
/// How many characters of a code are told.
const CODE: usize = 64;

/// What happened since a number, and the number to go on from.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentFeed {
    #[schema(max_items = 100)]
    items: Vec<AgentEvent>,
    /// What to send as `since` the next time. It also passes what the caller may not see.
    cursor: u64,
    /// Whether events between `since` and the first of these are no longer kept.
    gap: bool,
}

/// Something an agent may want to act upon.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentEvent {
    #[schema(minimum = 1)]
    seq: u64,
    #[serde(serialize_with = "crate::moment::millis")]
    at: DateTime<Utc>,
    kind: AgentEventKind,
    /// Of an alert, what kind of.
    #[schema(required)]
    alert: Option<AgentAlert>,
    #[schema(required)]
    app_id: Option<AppId>,
    #[schema(required)]
    app_name: Option<String>,
    #[schema(required)]
    run_id: Option<RunId>,
    /// What is to be approved.
    #[schema(required)]
    approval_id: Option<ApprovalId>,
    /// Why, where something failed or was refused.
    #[schema(required, max_length = 64)]
    code: Option<String>,
    /// Whether a token or an agent asked for the run.
    asked_by_agent: bool,
}

/// What an agent is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentEventKind {
    /// A run did what it should.
    RunFinished,
    /// A run failed for good, or was blocked by the gate.
    RunFailed,
    /// A run waits for a person.
    ApprovalNeeded,
    /// Something went wrong, see `alert`.
    Alert,
}

/// What kind of alert it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentAlert {
    /// Three runs of an app in a row have failed.
    AppFailing,
    /// Three runs of an automation in a row have failed, or its webhook refuses calls for a reason that its owner can mend.
    AutomationFailing,
    /// What a connection leads to does not answer. Not sent yet.
    ConnectorDown,
    /// The gate refused a call of an app.
    BlockedCall,
    /// A limit of the workspace is reached.
    CapReached,
}

impl AgentEvent {
    /// None for what agents are not told of.
    fn of(event: FeedEvent) -> Option<Self> {
        use AgentEventKind::{Alert, ApprovalNeeded, RunFailed, RunFinished};
        let mut approval_id = None;
        let (kind, alert, run, code) = match event.what {
            Happening::Run { run, stage } => {
                let (kind, code) = match stage {
                    RunStage::Queued | RunStage::Running | RunStage::Retried { .. } => return None,
                    RunStage::Waiting { approval } => {
                        approval_id = Some(approval);
                        (ApprovalNeeded, None)
                    }
                    RunStage::Succeeded => (RunFinished, None),
                    RunStage::Failed { code } | RunStage::Blocked { code } => (RunFailed, Some(code)),
                };
                (kind, None, Some(run), code)
            }
            Happening::GateRefusal { run, refused } => {
                (Alert, Some(AgentAlert::BlockedCall), run, Some(refused.code))
            }
            Happening::CallRefusal { code, .. } => {
                let alert = match code.as_str() {
                    "quota_reached" => AgentAlert::CapReached,
                    code if OWNERS_REFUSALS.contains(&code) => AgentAlert::AutomationFailing,
                    // A sender was wrong: nothing of the workspace's fails.
                    _ => return None,
                };
                (Alert, Some(alert), None, Some(code))
            }
            Happening::AppFailing { run, code } => {
                (Alert, Some(AgentAlert::AppFailing), Some(run), Some(code))
            }
            Happening::AutomationFailing { run, code, .. } => {
                (Alert, Some(AgentAlert::AutomationFailing), Some(run), Some(code))
            }
            Happening::Build { .. } | Happening::Log { .. } => return None,
        };
        Some(Self {
            seq: event.seq,
            at: event.at,
            kind,
            alert,
            app_id: Some(event.app),
            app_name: event.app_name,
            run_id: run,
            approval_id,
            code: code.map(|code| code.chars().take(CODE).collect()),
            asked_by_agent: event.started.is_some_and(|started| started.by_agent),
        })
    }
}

/// What is read of a feed in one answer.
struct Found {
    events: Vec<FeedEvent>,
    cursor: u64,
    gap: bool,
}

impl Api {
    /// What happened since a number, or since now; should that be nothing, it waits for `wait`.
    ///
    /// # Errors
    /// When too many wait, the caller's rights end meanwhile, or what the store says.
    pub async fn agent_events(
        &self,
        ctx: &Context,
        member: Member,
        since: Option<u64>,
        wait: Duration,
    ) -> Result<AgentFeed, Problem> {
        let workspace = member.workspace();
        let until = Instant::now() + wait;
        let mut place = (!wait.is_zero()).then(|| Place::take(self, member.user())).transpose()?;
        let mut bell = self.store().bell(workspace);
        let mut after = match since {
            Some(since) => since,
            None => self.store().feed_head(workspace).await?,
        };
        let (mut member, mut gap) = (member, false);
        loop {
            let found = self.look_for_outcomes(&member, after).await?;
            (after, gap) = (found.cursor, gap || found.gap);
            let over = place.as_ref().is_none_or(Place::is_closed) || Instant::now() >= until;
            if over || gap || !found.events.is_empty() {
                let items = found.events.into_iter().filter_map(AgentEvent::of).collect();
                return Ok(AgentFeed { items, cursor: after, gap });
            }
            if let Some(place) = &mut place {
                tokio::select! {
                    // Much may happen that is none of this caller's business.
                    _ = timeout_at(until, async { bell.rung().await; sleep(PAUSE).await }) => {}
                    () = place.closed() => {}
                }
            }
            let ctx = self.still(ctx).await?;
            member = self.member(&ctx, &workspace.to_string()).await?;
        }
    }

    /// Looks until something is found, or everything was looked at.
    async fn look_for_outcomes(&self, member: &Member, mut after: u64) -> Result<Found, StoreError> {
        let mut gap = false;
        loop {
            let query = FeedQuery { after, topic: Topic::Outcomes, limit: LIMIT };
            let page: FeedPage = self.store().feed(member.workspace(), member.visibility(), query).await?;
            gap = gap || page.gap;
            after = page.cursor;
            if !page.events.is_empty() || page.cursor >= page.head {
                return Ok(Found { events: page.events, cursor: after, gap });
            }
        }
    }
}
