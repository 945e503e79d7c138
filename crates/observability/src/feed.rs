//! The event feed of a workspace, in the order of commits.
//!
//! Events are numbered from 1 without gaps, and a number becomes visible only after every smaller one. A reader that
//! remembers the last number it has seen gets every event once, unless an event is deleted before it is read.

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    StoreError, Timestamp,
    authority::Member,
    events::{Event, EventKind},
    id::{AppId, AutomationId, WorkspaceId},
};

/// Time for which events are kept.
pub const RETENTION: TimeDelta = TimeDelta::days(7);
/// Most events of one workspace that are kept.
pub const MAX_KEPT_EVENTS: u64 = 1_000_000;

/// A query of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedQuery {
    /// Number that the events come after.
    pub after: u64,
    /// Events that the reader wants.
    pub topic: Topic,
    /// Most events of the page.
    pub limit: u32,
}

/// A selection of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// All events.
    All,
    /// Finished runs, approvals that wait for a person, and refusals.
    Outcomes,
    /// Events that come with log lines of this app.
    AppLog(AppId),
}

/// An event, with facts of its app and run at the time of reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEvent {
    /// Number of the event in its workspace.
    pub seq: u64,
    /// Time of the event.
    pub at: Timestamp,
    /// App that the event is about.
    pub app: Option<AppId>,
    /// Display name of the app, for those who can view it.
    pub app_name: Option<String>,
    /// Kind of the event.
    pub kind: EventKind,
    /// Origin of the run, while the run is kept.
    pub run_origin: Option<RunOrigin>,
}

/// The origin of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOrigin {
    /// Automation that the run belongs to.
    pub automation: Option<AutomationId>,
    /// Kind of the trigger.
    pub trigger: String,
    /// True if a token or an agent requested the run.
    pub by_agent: bool,
}

/// A page of a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPage {
    /// Events found, oldest first.
    pub events: Vec<FeedEvent>,
    /// Number up to which events were examined, visible to the person or not; the next query starts after it. There may
    /// be more events if it is below [`head`](Self::head).
    pub cursor: u64,
    /// Number of the latest event; 0 before the first.
    pub head: u64,
    /// True if events after [`FeedQuery::after`] are no longer kept. The page is then empty, and
    /// [`cursor`](Self::cursor) is just before the oldest event that is kept.
    pub has_gap: bool,
}

/// Reads a workspace's feed.
#[async_trait]
pub trait EventFeed: Send + Sync {
    /// Returns a page of the events that a member may receive: those about apps that they can view, and changes of what
    /// else they can see.
    async fn feed(&self, reader: &Member, query: FeedQuery) -> Result<FeedPage, StoreError>;

    /// Returns the number of a workspace's latest event; 0 before the first.
    async fn feed_head(&self, workspace: WorkspaceId) -> Result<u64, StoreError>;

    /// Subscribes to the events that are committed from now on. A reader that subscribes before it queries, and queries
    /// again on every notification, misses no event of this node. Notifications of other nodes may be late, and are
    /// lost when a node crashes, so query at intervals as well.
    fn subscribe(&self, workspace: WorkspaceId) -> Box<dyn EventListener>;
}

/// Writes events that no use case and no worker writes with what they report.
#[async_trait]
pub trait EventSink: Send + Sync {
    /// Publishes events about what is stored elsewhere.
    async fn publish_events(&self, events: Vec<Event>) -> Result<(), StoreError>;
}

/// A subscription to new events.
#[async_trait]
pub trait EventListener: Send {
    /// Waits for a notification; returns at once if there was one since the last call.
    async fn changed(&mut self);
}
