//! Bells: whoever waits for a workspace's next event is rung once it is committed.
//!
//! Within a process a bell is rung at once. Nodes of a shared database are told by `NOTIFY`, after the commit and many
//! workspaces at a time; a node that lost its connection rings every bell once it listens again, for what it may have
//! missed.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ::observability::feed::Bell;
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

/// The channel on which nodes tell each other; what is said is the workspace's id.
const CHANNEL: &str = "qala_events";
/// How long a node gathers workspaces before it tells of them again.
const GATHER: Duration = Duration::from_millis(10);
/// How long a node waits that cannot listen before it tries again.
const AGAIN: Duration = Duration::from_secs(1);

/// The bells of one process.
#[derive(Default)]
pub(crate) struct Bells {
    here: Arc<Here>,
    others: Option<Others>,
}

/// Bells that somebody of this process waits at.
#[derive(Default)]
struct Here(Mutex<HashMap<WorkspaceId, watch::Sender<()>>>);

/// The way to the other nodes; it ends with the store.
struct Others {
    untold: Arc<Untold>,
    _tasks: JoinSet<()>,
}

/// Workspaces that the others were not told of yet.
#[derive(Default)]
struct Untold {
    workspaces: Mutex<BTreeSet<Uuid>>,
    some: Notify,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Here {
    fn ring(&self, workspace: WorkspaceId) {
        let mut bells = lock(&self.0);
        // Once nobody listens any more, the bell is taken down.
        if bells.get(&workspace).is_some_and(|bell| bell.send(()).is_err()) {
            bells.remove(&workspace);
        }
    }

    fn ring_all(&self) {
        lock(&self.0).retain(|_, bell| bell.send(()).is_ok());
    }
}

impl Bells {
    /// Bells that other nodes of the database ring too.
    pub(crate) fn shared(pool: &PgPool, options: &PgConnectOptions) -> Self {
        let (here, untold) = (Arc::new(Here::default()), Arc::new(Untold::default()));
        let mut tasks = JoinSet::new();
        tasks.spawn(tell(pool.clone(), Arc::clone(&untold)));
        tasks.spawn(listen(options.clone(), Arc::clone(&here)));
        Self { here, others: Some(Others { untold, _tasks: tasks }) }
    }

    /// Rings for what was committed.
    pub(crate) fn ring(&self, workspaces: &[WorkspaceId]) {
        if workspaces.is_empty() {
            return;
        }
        for workspace in workspaces {
            self.here.ring(*workspace);
        }
        if let Some(others) = &self.others {
            lock(&others.untold.workspaces).extend(workspaces.iter().map(|workspace| workspace.uuid()));
            others.untold.some.notify_one();
        }
    }

    /// A bell that rings from now on.
    pub(super) fn bell(&self, workspace: WorkspaceId) -> WatchBell {
        let mut bells = lock(&self.here.0);
        WatchBell(bells.entry(workspace).or_insert_with(|| watch::Sender::new(())).subscribe())
    }
}

pub(super) struct WatchBell(watch::Receiver<()>);

#[async_trait]
impl Bell for WatchBell {
    async fn rung(&mut self) {
        if self.0.changed().await.is_err() {
            // Taken down because nobody was there; this one was, so that cannot be.
            std::future::pending::<()>().await;
        }
    }
}

/// Tells the other nodes. Outside the transactions that write events: PostgreSQL lets only one transaction that
/// notifies commit at a time, and theirs wait for the disk.
async fn tell(pool: PgPool, untold: Arc<Untold>) {
    loop {
        untold.some.notified().await;
        let workspaces: Vec<String> =
            std::mem::take(&mut *lock(&untold.workspaces)).iter().map(Uuid::to_string).collect();
        let told = sqlx::query("SELECT pg_notify($1, workspace) FROM unnest($2::text[]) AS workspace")
            .bind(CHANNEL)
            .bind(workspaces)
            .execute(&pool)
            .await;
        if let Err(error) = told {
            tracing::warn!(error = &error as &dyn std::error::Error, "other nodes were not told of events");
        }
        sleep(GATHER).await;
    }
}

async fn listen(options: PgConnectOptions, here: Arc<Here>) {
    // A connection of its own, for as long as it holds.
    let pool = PgPoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
    let pool = pool.connect_lazy_with(options.application_name("qala events"));
    loop {
        if let Err(error) = listen_until_lost(&pool, &here).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "events of other nodes ring late");
        }
        sleep(AGAIN).await;
    }
}

async fn listen_until_lost(pool: &PgPool, here: &Here) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    // What was told before this is not heard.
    here.ring_all();
    while let Some(told) = listener.try_recv().await? {
        if let Ok(workspace) = told.payload().parse::<Uuid>() {
            here.ring(Id::from_uuid(workspace));
        }
    }
    Ok(())
}
