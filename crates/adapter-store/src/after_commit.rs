//! Effects of a committed transaction on the rest of the process: caches and those who wait.

use std::sync::Arc;

use kernel::id::{HookId, WorkspaceId};
use moka::sync::Cache;
use runs::webhooks::WebhookSnapshot;
use tokio::sync::Notify;

use crate::{
    caller_cache::{CallerCache, CallerChange, CallerRecords, ChangeTable},
    events::notifier::EventNotifier,
};

/// Webhooks in the cache; at most.
const WEBHOOK_CACHE_CAPACITY: u64 = 10_000;

/// Caches that a commit makes stale, and those who wait for what it wrote.
pub(crate) struct AfterCommit {
    pub(crate) caller_cache: Arc<CallerCache>,
    /// Webhooks seen lately. An entry may be stale: accepting a call under it checks its revisions against the
    /// database.
    pub(crate) webhook_cache: Cache<HookId, Arc<WebhookSnapshot>>,
    pub(crate) event_notifier: Arc<EventNotifier>,
    /// Woken when this process put a run into the queue.
    pub(crate) queue_notify: Arc<Notify>,
    /// Woken when this process took runs from the nodes that execute them.
    pub(crate) lost_runs_notify: Notify,
    /// Woken when this process put an e-mail into the outbox.
    pub(crate) outbox_notify: Notify,
}

/// Changes of one transaction.
#[derive(Default)]
pub(crate) struct CommittedChanges {
    /// Workspaces that have new events, or whose followers have to check that they may follow.
    pub(crate) workspaces: Vec<WorkspaceId>,
    pub(crate) callers: Vec<CallerChange>,
    pub(crate) webhooks: Vec<HookId>,
    pub(crate) has_queued_runs: bool,
    /// True if runs were taken from the nodes that execute them.
    pub(crate) has_lost_runs: bool,
    pub(crate) has_emails: bool,
}

impl AfterCommit {
    pub(crate) fn new(
        changes: ChangeTable,
        queue_notify: Arc<Notify>,
        event_notifier: Arc<EventNotifier>,
    ) -> Self {
        Self {
            caller_cache: Arc::new(CallerCache::new(CallerRecords::default(), changes)),
            webhook_cache: Cache::new(WEBHOOK_CACHE_CAPACITY),
            event_notifier,
            queue_notify,
            lost_runs_notify: Notify::new(),
            outbox_notify: Notify::new(),
        }
    }

    /// Drops what is stale now and wakes those who wait.
    pub(crate) fn publish(&self, changes: CommittedChanges) {
        // First: whoever is woken must not find what was cached before.
        self.caller_cache.invalidate(changes.callers);
        self.event_notifier.wake(&changes.workspaces);
        for hook in &changes.webhooks {
            self.webhook_cache.invalidate(hook);
        }
        if changes.has_queued_runs {
            self.queue_notify.notify_one();
        }
        if changes.has_lost_runs {
            self.lost_runs_notify.notify_one();
        }
        if changes.has_emails {
            self.outbox_notify.notify_one();
        }
    }
}
