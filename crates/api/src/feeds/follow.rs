//! A stream of events for one reader (Server-Sent Events, WHATWG HTML §9.2).
//!
//! Nothing is prepared before the reader has taken what came before: a slow one holds one page of events.

use std::{collections::VecDeque, convert::Infallible, time::Duration};

use axum::response::sse::Event;
use futures::{Stream, stream};
use kernel::{
    Context, Problem,
    authority::{CanEdit, Member, Visibility},
    id::{AppId, WorkspaceId},
};
use observability::{
    Bell,
    feed::{FeedEvent, FeedQuery, Topic},
};
use tokio::time::{Instant, sleep_until};

use super::places::Place;
use crate::state::Api;

/// How long a stream goes on at most.
const LONGEST: Duration = Duration::from_secs(30 * 60);
/// How long nothing is said at most; it is also looked then without being rung.
const BEAT: Duration = Duration::from_secs(15);
/// How long a reader is left alone between two looks: much may happen at once.
pub(super) const PAUSE: Duration = Duration::from_millis(50);
/// How long rights are believed.
const TRUSTED: Duration = Duration::from_secs(1);
/// How many events are read at once.
const PAGE: u32 = 100;
/// After how many milliseconds a reader comes back whose stream ended, and how many more at random.
const RETRY: (u32, u32) = (1_000, 4_000);

/// What is followed.
#[async_trait::async_trait]
pub(crate) trait What: Send + Sync + 'static {
    /// Which events are looked at.
    fn topic(&self) -> Topic;

    /// The app whose `can_edit` it needs, beside being a member.
    fn edited(&self) -> Option<AppId> {
        None
    }

    /// What the reader is told of an event, at most some of it at a time: with a number there is more, from there on.
    /// The last that is told is given the event's own number.
    async fn tell(
        &self,
        api: &Api,
        workspace: WorkspaceId,
        event: &FeedEvent,
        from: u64,
        out: &mut Told<'_>,
    ) -> Result<Option<u64>, Problem>;
}

/// What a reader is told, on its way.
pub(crate) struct Told<'f>(&'f mut VecDeque<Event>);

impl Told<'_> {
    /// Tells; with `seq` a reader that comes back goes on after this.
    pub(crate) fn say(&mut self, seq: Option<u64>, name: &str, data: &serde_json::Value) {
        let event = Event::default().event(name).data(data.to_string());
        self.0.push_back(match seq {
            Some(seq) => event.id(seq.to_string()),
            None => event,
        });
    }
}

/// One reader.
pub(crate) struct Follower<W> {
    api: Api,
    ctx: Context,
    what: W,
    workspace: WorkspaceId,
    visible: Visibility,
    bell: Box<dyn Bell>,
    place: Place,
    /// Everything up to here was looked at.
    cursor: u64,
    /// Whether there is more than was looked at.
    more: bool,
    /// What was read and is still to be told, the first from some place on.
    events: VecDeque<FeedEvent>,
    from: u64,
    told: VecDeque<Event>,
    checked: Instant,
    beat: Instant,
    end: Instant,
}

impl<W: What> Follower<W> {
    /// Follows from after a number, or from now on.
    ///
    /// # Errors
    /// When too many follow, or what the store says.
    pub(crate) async fn begin(
        api: &Api,
        ctx: &Context,
        member: &Member,
        what: W,
        since: Option<u64>,
    ) -> Result<Self, Problem> {
        let workspace = member.workspace();
        let place = Place::take(api, member.user())?;
        let bell = api.store().bell(workspace);
        let cursor = match since {
            Some(since) => since,
            None => api.store().feed_head(workspace).await?,
        };
        let retry = Duration::from_millis(u64::from(RETRY.0 + ctx.random().below(RETRY.1)));
        // A reader whose stream breaks before anything happened comes back with this number.
        let first = Event::default().retry(retry).id(cursor.to_string());
        let now = Instant::now();
        Ok(Self {
            api: api.clone(),
            ctx: ctx.clone(),
            what,
            workspace,
            visible: member.visibility(),
            bell,
            place,
            cursor,
            more: true,
            events: VecDeque::new(),
            from: 0,
            told: VecDeque::from([first]),
            checked: now,
            beat: now + BEAT,
            end: now + LONGEST,
        })
    }

    pub(crate) fn into_stream(self) -> impl Stream<Item = Result<Event, Infallible>> + Send {
        stream::unfold(self, |mut follower| async move {
            let event = follower.next().await?;
            Some((Ok(event), follower))
        })
    }

    async fn next(&mut self) -> Option<Event> {
        loop {
            if self.place.is_closed() || Instant::now() >= self.end {
                return None;
            }
            if let Some(event) = self.told.pop_front() {
                self.beat = Instant::now() + BEAT;
                return Some(event);
            }
            let mut beat = false;
            if self.events.is_empty() && !self.more {
                tokio::select! {
                    () = self.bell.rung() => tokio::time::sleep(PAUSE).await,
                    () = sleep_until(self.beat) => beat = true,
                    () = self.place.closed() => return None,
                }
            }
            if let Err(problem) = self.go_on().await {
                // Whoever comes back is told why.
                tracing::debug!(code = %problem.code, "a stream ended");
                return None;
            }
            if beat && self.events.is_empty() && self.told.is_empty() {
                // The number goes along: it also passes what the reader is not told of.
                self.told.push_back(Event::default().comment("").id(self.cursor.to_string()));
            }
        }
    }

    /// Tells of the next event, or looks for more.
    async fn go_on(&mut self) -> Result<(), Problem> {
        if self.checked.elapsed() >= TRUSTED {
            self.check().await?;
        }
        let Some(event) = self.events.front() else { return self.look().await };
        let mut told = Told(&mut self.told);
        match self.what.tell(&self.api, self.workspace, event, self.from, &mut told).await? {
            Some(from) => self.from = from,
            None => {
                self.from = 0;
                self.events.pop_front();
            }
        }
        Ok(())
    }

    async fn look(&mut self) -> Result<(), Problem> {
        let query = FeedQuery { after: self.cursor, topic: self.what.topic(), limit: PAGE };
        let page = self.api.store().feed(self.workspace, self.visible, query).await?;
        if page.gap {
            // What is missing cannot be told; the reader looks for itself, and goes on from here.
            self.cursor = page.head;
            self.more = false;
            let data = serde_json::json!({ "reason": "too_old" });
            Told(&mut self.told).say(Some(page.head), "resync", &data);
            return Ok(());
        }
        self.events.extend(page.events);
        self.cursor = page.cursor;
        self.more = page.cursor < page.head;
        Ok(())
    }

    /// Asks for the reader's rights again.
    async fn check(&mut self) -> Result<(), Problem> {
        let ctx = self.api.still(&self.ctx).await?;
        let member = self.api.member(&ctx, &self.workspace.to_string()).await?;
        if let Some(app) = self.what.edited() {
            self.api.app_by_id(&ctx, app).await?.require::<CanEdit>()?;
        }
        self.visible = member.visibility();
        self.checked = Instant::now();
        Ok(())
    }
}
