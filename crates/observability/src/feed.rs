//! The feed of a workspace: everything that happened, in the order in which it was committed.
//!
//! Events are numbered from 1 without gaps, and a number is seen only after every smaller one. So a reader that keeps
//! the last number it has seen loses nothing and gets nothing twice, until what it has not read is no longer kept.

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    StoreError, Timestamp,
    authority::Visibility,
    events::EventKind,
    id::{AppId, AutomationId, WorkspaceId},
};

/// How long events are kept.
pub const RETENTION: TimeDelta = TimeDelta::days(7);
/// How many events of one workspace are kept.
pub const MAX_KEPT_EVENTS: u64 = 1_000_000;

/// What is asked of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedQuery {
    /// Only what came after this number.
    pub after: u64,
    /// Only what is about this.
    pub topic: Topic,
    /// At most so many events.
    pub limit: u32,
}

/// What a reader wants to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// Everything.
    All,
    /// How runs ended, what waits for somebody, and what was refused.
    Outcomes,
    /// What comes with lines of this app's log.
    AppLog(AppId),
}

/// An event, with what is known of its app and run when it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEvent {
    /// Its number.
    pub seq: u64,
    /// When it happened.
    pub at: Timestamp,
    /// The app.
    pub app: AppId,
    /// The app's name.
    pub app_name: Option<String>,
    /// What happened.
    pub kind: EventKind,
    /// What started its run, while the run is kept.
    pub run_origin: Option<RunOrigin>,
}

/// What started a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOrigin {
    /// The automation.
    pub automation: Option<AutomationId>,
    /// The kind of trigger.
    pub trigger: String,
    /// Whether a token or an agent asked for it.
    pub by_agent: bool,
}

/// One look at a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPage {
    /// What was found, oldest first.
    pub events: Vec<FeedEvent>,
    /// Everything up to this number was looked at, whoever may see it: the next look is after it. Short of
    /// [`head`](Self::head) there may be more.
    pub cursor: u64,
    /// The number of the latest event; 0 before the first.
    pub head: u64,
    /// Whether events after the one that was asked for are no longer kept. Then none are given, and
    /// [`cursor`](Self::cursor) is before the oldest that there is.
    pub has_gap: bool,
}

/// Reads a workspace's feed.
#[async_trait]
pub trait EventFeed: Send + Sync {
    /// A look at the events about apps that a person can view.
    async fn feed(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        query: FeedQuery,
    ) -> Result<FeedPage, StoreError>;

    /// The number of a workspace's latest event; 0 before the first.
    async fn feed_head(&self, workspace: WorkspaceId) -> Result<u64, StoreError>;

    /// A bell that rings for every event that is committed from now on. One who takes the bell before looking, and
    /// looks again whenever it rings, misses nothing on this node. News of other nodes may ring late, or not at all when
    /// one of them dies: look now and then in any case.
    fn subscribe(&self, workspace: WorkspaceId) -> Box<dyn EventListener>;
}

/// Rings when something happened.
#[async_trait]
pub trait EventListener: Send {
    /// Waits until it rings; at once if it rang since the last time.
    async fn changed(&mut self);
}
