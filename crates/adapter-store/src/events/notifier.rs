//! Notifications: whoever waits for a workspace's next event is woken once it is committed.
//!
//! Within a process subscribers are woken at once. Other nodes of a shared database are notified by `NOTIFY`, after the
//! commit and many workspaces at a time; a node that lost its connection wakes all its subscribers once it listens
//! again, for what it may have missed.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ::observability::feed::EventListener;
use async_trait::async_trait;
use kernel::{Id, id::WorkspaceId};
use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgListener, PgPoolOptions},
};
use tokio::{
    sync::{Notify, watch},
    task::JoinSet,
    time::sleep,
};
use uuid::Uuid;

/// The channel on which nodes notify each other; the payload is the workspace's id.
const CHANNEL: &str = "qala_events";
/// Time that a node gathers workspaces before it notifies the others again.
const NOTIFY_INTERVAL: Duration = Duration::from_millis(10);
/// Time that a node waits before it tries to listen again.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);

/// The notifier of one process.
#[derive(Default)]
pub(crate) struct EventNotifier {
    local: Arc<LocalSubscribers>,
    remote: Option<RemoteNotifier>,
}

/// Subscribers of this process, by workspace.
#[derive(Default)]
struct LocalSubscribers(Mutex<HashMap<WorkspaceId, watch::Sender<()>>>);

/// Notifies the other nodes; its tasks end with the store.
struct RemoteNotifier {
    pending: Arc<PendingNotifications>,
    _tasks: JoinSet<()>,
}

/// Workspaces that the other nodes were not notified of yet.
#[derive(Default)]
struct PendingNotifications {
    workspaces: Mutex<BTreeSet<Uuid>>,
    wakeup: Notify,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LocalSubscribers {
    fn wake(&self, workspace: WorkspaceId) {
        let mut senders = lock(&self.0);
        // Nobody listens any more.
        if senders.get(&workspace).is_some_and(|sender| sender.send(()).is_err()) {
            senders.remove(&workspace);
        }
    }

    fn wake_all(&self) {
        lock(&self.0).retain(|_, sender| sender.send(()).is_ok());
    }
}

impl EventNotifier {
    /// Returns a notifier that notifies and hears other nodes of the database.
    pub(crate) fn with_postgres(pool: &PgPool, options: &PgConnectOptions) -> Self {
        let (local, pending) =
            (Arc::new(LocalSubscribers::default()), Arc::new(PendingNotifications::default()));
        let mut tasks = JoinSet::new();
        tasks.spawn(notify_nodes(pool.clone(), Arc::clone(&pending)));
        tasks.spawn(run_listener(options.clone(), Arc::clone(&local)));
        Self { local, remote: Some(RemoteNotifier { pending, _tasks: tasks }) }
    }

    /// Wakes subscribers of workspaces whose events were committed.
    pub(crate) fn wake(&self, workspaces: &[WorkspaceId]) {
        if workspaces.is_empty() {
            return;
        }
        for workspace in workspaces {
            self.local.wake(*workspace);
        }
        if let Some(remote) = &self.remote {
            lock(&remote.pending.workspaces).extend(workspaces.iter().map(|workspace| workspace.uuid()));
            remote.pending.wakeup.notify_one();
        }
    }

    /// Subscribes to a workspace's events from now on.
    pub(super) fn subscribe(&self, workspace: WorkspaceId) -> WatchSubscription {
        let mut senders = lock(&self.local.0);
        WatchSubscription(senders.entry(workspace).or_insert_with(|| watch::Sender::new(())).subscribe())
    }
}

pub(super) struct WatchSubscription(watch::Receiver<()>);

#[async_trait]
impl EventListener for WatchSubscription {
    async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            // Senders are removed only when nobody subscribes; this one does, so that cannot be.
            std::future::pending::<()>().await;
        }
    }
}

/// Notifies the other nodes. Outside the transactions that write events: PostgreSQL lets only one transaction that
/// notifies commit at a time, and theirs wait for the disk.
async fn notify_nodes(pool: PgPool, pending: Arc<PendingNotifications>) {
    loop {
        pending.wakeup.notified().await;
        let workspaces: Vec<String> =
            std::mem::take(&mut *lock(&pending.workspaces)).iter().map(Uuid::to_string).collect();
        let notified = sqlx::query("SELECT pg_notify($1, workspace) FROM unnest($2::text[]) AS workspace")
            .bind(CHANNEL)
            .bind(workspaces)
            .execute(&pool)
            .await;
        if let Err(error) = notified {
            tracing::warn!(error = &error as &dyn std::error::Error, "cannot notify other nodes of events");
        }
        sleep(NOTIFY_INTERVAL).await;
    }
}

async fn run_listener(options: PgConnectOptions, local: Arc<LocalSubscribers>) {
    // A connection of its own, for as long as it holds.
    let pool = PgPoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
    let pool = pool.connect_lazy_with(options.application_name("qala events"));
    loop {
        if let Err(error) = listen_until_disconnected(&pool, &local).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "cannot listen for events of other nodes"
            );
        }
        sleep(RECONNECT_DELAY).await;
    }
}

async fn listen_until_disconnected(pool: &PgPool, local: &LocalSubscribers) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    // Notifications before this were missed.
    local.wake_all();
    while let Some(notification) = listener.try_recv().await? {
        if let Ok(workspace) = notification.payload().parse::<Uuid>() {
            local.wake(Id::from_uuid(workspace));
        }
    }
    Ok(())
}
