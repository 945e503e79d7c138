//! Event streams (Server-Sent Events, WHATWG HTML, section 9.2).
//!
//! Events are prepared only after the client has taken the previous ones, so a slow client holds one page of events.

use std::{collections::VecDeque, convert::Infallible, time::Duration};

use application::{
    Problem,
    feeds::{DEBOUNCE, StreamPermit},
};
use axum::response::sse::Event;
use futures::{Stream, stream};
use kernel::{
    Context,
    authority::{CanEdit, Member},
    id::{AppId, WorkspaceId},
};
use observability::{
    EventListener,
    feed::{FeedEvent, FeedQuery, Topic},
};
use tokio::time::{Instant, sleep_until};

use crate::state::Api;

/// Maximum duration of a stream.
const MAX_DURATION: Duration = Duration::from_secs(30 * 60);
/// Maximum time without a message. The feed is also read after this time, even without a notification.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Time for which the caller's rights are cached.
const AUTHORIZATION_TTL: Duration = Duration::from_secs(1);
/// Maximum number of events read at once.
const PAGE_SIZE: u32 = 100;
/// Time until a client reconnects after its stream ends, and the maximum that is added to it at random, in
/// milliseconds.
const RECONNECT_MS: (u32, u32) = (1_000, 4_000);

/// Source of the events of a stream.
#[async_trait::async_trait]
pub(crate) trait EventSource: Send + Sync + 'static {
    /// Returns the topic to follow.
    fn topic(&self) -> Topic;

    /// Returns the app on which the caller needs `can_edit` besides being a member, if any.
    fn required_editable_app(&self) -> Option<AppId> {
        None
    }

    /// Writes messages about an event, or some of them. Returns the `part` from which the next call continues, or
    /// `None` after the last one. The last message must have the event's number as its id.
    async fn write_event(
        &self,
        api: &Api,
        workspace: WorkspaceId,
        event: &FeedEvent,
        part: u64,
        out: &mut SseBuffer<'_>,
    ) -> Result<Option<u64>, Problem>;
}

/// Messages that are ready for the client.
pub(crate) struct SseBuffer<'f>(&'f mut VecDeque<Event>);

impl SseBuffer<'_> {
    /// Adds a message; a client that reconnects continues after `seq`.
    pub(crate) fn push(&mut self, seq: Option<u64>, name: &str, data: &serde_json::Value) {
        let event = Event::default().event(name).data(data.to_string());
        self.0.push_back(match seq {
            Some(seq) => event.id(seq.to_string()),
            None => event,
        });
    }
}

/// Subscription of one client.
pub(crate) struct SseSubscription<W> {
    api: Api,
    ctx: Context,
    source: W,
    member: Member,
    notifier: Box<dyn EventListener>,
    permit: StreamPermit,
    /// Number up to which events have been read.
    cursor: u64,
    /// `true` if there are events that have not been read.
    has_more: bool,
    /// Events that have been read and are not written completely; `next_part` applies to the first of them.
    pending_events: VecDeque<FeedEvent>,
    next_part: u64,
    outgoing: VecDeque<Event>,
    authorized_at: Instant,
    /// Time at which the caller's rights are checked although no event has come.
    recheck_at: Option<Instant>,
    keep_alive_at: Instant,
    ends_at: Instant,
}

impl<W: EventSource> SseSubscription<W> {
    /// Opens a subscription from after a number, or from now on.
    ///
    /// # Errors
    /// 429 `too_many_streams` if the caller has too many; a [`Problem`] if the store fails.
    pub(crate) async fn open(
        api: &Api,
        ctx: &Context,
        member: &Member,
        source: W,
        since: Option<u64>,
    ) -> Result<Self, Problem> {
        let workspace = member.workspace();
        let permit = StreamPermit::acquire(api, member.user())?;
        let notifier = api.store().subscribe(workspace);
        let cursor = match since {
            Some(since) => since,
            None => api.store().feed_head(workspace).await?,
        };
        let retry = Duration::from_millis(u64::from(RECONNECT_MS.0 + ctx.random().below(RECONNECT_MS.1)));
        // A client whose stream breaks before the first event reconnects with this number.
        let first = Event::default().retry(retry).id(cursor.to_string());
        let now = Instant::now();
        Ok(Self {
            api: api.clone(),
            ctx: ctx.clone(),
            source,
            member: member.clone(),
            notifier,
            permit,
            cursor,
            has_more: true,
            pending_events: VecDeque::new(),
            next_part: 0,
            outgoing: VecDeque::from([first]),
            authorized_at: now,
            recheck_at: None,
            keep_alive_at: now + KEEP_ALIVE,
            ends_at: now + MAX_DURATION,
        })
    }

    pub(crate) fn into_stream(self) -> impl Stream<Item = Result<Event, Infallible>> + Send {
        stream::unfold(self, |mut subscription| async move {
            let event = subscription.next().await?;
            Some((Ok(event), subscription))
        })
    }

    async fn next(&mut self) -> Option<Event> {
        loop {
            if self.permit.is_closed() || Instant::now() >= self.ends_at {
                return None;
            }
            if let Some(event) = self.outgoing.pop_front() {
                self.keep_alive_at = Instant::now() + KEEP_ALIVE;
                return Some(event);
            }
            let (mut is_keep_alive_due, mut is_woken) = (false, false);
            let recheck_at = self.recheck_at;
            if self.pending_events.is_empty() && !self.has_more {
                tokio::select! {
                    () = self.notifier.changed() => {
                        tokio::time::sleep(DEBOUNCE).await;
                        is_woken = true;
                    }
                    () = sleep_until(recheck_at.unwrap_or(self.keep_alive_at)), if recheck_at.is_some() => {
                        self.recheck_at = None;
                    }
                    () = sleep_until(self.keep_alive_at) => is_keep_alive_due = true,
                    () = self.permit.wait_closed() => return None,
                }
            }
            let read_before = self.cursor;
            if let Err(problem) = self.advance().await {
                // The client reconnects, and gets the reason as a response.
                tracing::debug!(code = %problem.code, "event stream ended");
                return None;
            }
            if is_woken && self.cursor == read_before {
                // Woken without an event: the caller's rights may have ended, such as with the workspace. By then, this node
                // has dropped what it has cached of them.
                self.recheck_at = Some(Instant::now() + AUTHORIZATION_TTL);
            }
            if is_keep_alive_due && self.pending_events.is_empty() && self.outgoing.is_empty() {
                // With the number, the client also moves past events that it does not get.
                self.outgoing.push_back(Event::default().comment("").id(self.cursor.to_string()));
            }
        }
    }

    /// Writes the next event, or reads more.
    async fn advance(&mut self) -> Result<(), Problem> {
        if self.authorized_at.elapsed() >= AUTHORIZATION_TTL {
            self.reauthorize().await?;
        }
        let Some(event) = self.pending_events.front() else { return self.poll_feed().await };
        let mut buffer = SseBuffer(&mut self.outgoing);
        match self
            .source
            .write_event(&self.api, self.member.workspace(), event, self.next_part, &mut buffer)
            .await?
        {
            Some(from) => self.next_part = from,
            None => {
                self.next_part = 0;
                self.pending_events.pop_front();
            }
        }
        Ok(())
    }

    async fn poll_feed(&mut self) -> Result<(), Problem> {
        let query = FeedQuery { after: self.cursor, topic: self.source.topic(), limit: PAGE_SIZE };
        let page = self.api.store().feed(&self.member, query).await?;
        if page.has_gap {
            // The missing events cannot be sent. The client has to load the current state, and continues from here.
            self.cursor = page.head;
            self.has_more = false;
            let data = serde_json::json!({ "reason": "too_old" });
            SseBuffer(&mut self.outgoing).push(Some(page.head), "resync", &data);
            return Ok(());
        }
        self.pending_events.extend(page.events);
        self.cursor = page.cursor;
        self.has_more = page.cursor < page.head;
        Ok(())
    }

    /// Checks the caller's rights again.
    async fn reauthorize(&mut self) -> Result<(), Problem> {
        let ctx = self.api.reauthenticate(&self.ctx).await?;
        let member = self.api.member(&ctx, &self.member.workspace().to_string()).await?;
        if let Some(app) = self.source.required_editable_app() {
            self.api.app_by_id(&ctx, app).await?.require::<CanEdit>()?;
        }
        self.member = member;
        self.authorized_at = Instant::now();
        Ok(())
    }
}
