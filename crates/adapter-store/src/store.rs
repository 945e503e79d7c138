//! The store: connections, the hot path's batches, and what is remembered between requests.

use std::sync::{Arc, Mutex};

use kernel::{StoreError, id::HookId};
use moka::sync::Cache;
use runs::webhooks::WebhookSnapshot;
use sea_orm::{
    DatabaseConnection, DbBackend, SqliteTransactionMode, TransactionOptions, TransactionTrait as _, Value,
};
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use uuid::Uuid;

use crate::{
    caller_cache::CallerCache,
    connect::{self, ACQUIRE_TIMEOUT, Connections, DatabaseUrl, IfMissing},
    error::OrStoreError as _,
    events::EventNotifier,
    group_commit::{GroupCommit, POSTGRES_WRITERS},
    installation::WriteProbe,
    sql::{SqlExecutor, SqlRow},
    tx::StoreTx,
};

/// The control plane's store. Cheap to clone.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

pub(crate) struct Inner {
    connections: Connections,
    write_lock: WriteLock,
    pub(crate) group_commit: GroupCommit,
    /// Webhooks seen lately. An entry may be old: accepting under it checks its stamp against the database.
    pub(crate) webhook_cache: Cache<HookId, Arc<WebhookSnapshot>>,
    /// Rung when something was put into the queue by this process.
    pub(crate) queue_notify: Arc<Notify>,
    /// The workspace that had the last turn when runs were claimed.
    pub(crate) last_claimed_workspace: Mutex<Uuid>,
    /// Rung when this process put a letter into the outbox.
    pub(crate) outbox_notify: Notify,
    pub(crate) caller_cache: CallerCache,
    pub(crate) write_probe: WriteProbe,
    /// For those who wait for events.
    pub(crate) event_notifier: Arc<EventNotifier>,
}

/// How many webhooks are remembered.
const WEBHOOK_CACHE_CAPACITY: u64 = 10_000;

impl Store {
    /// Opens a database and brings its schema up to date.
    ///
    /// Must be called on a tokio runtime: the hot path's batches are written by tasks of their own.
    ///
    /// # Errors
    /// When the database cannot be reached or migrated.
    pub async fn open(url: &DatabaseUrl) -> Result<Self, StoreError> {
        let connections = connect::connect(url, IfMissing::Create).await?;
        let migrated = connect::migrate(&connections).await?;
        if migrated > 0 {
            tracing::info!(migrations = migrated, "the database schema was brought up to date");
        }
        Self::with_connections(url, connections)
    }

    /// Opens a database that is there and up to date, and changes nothing about it.
    ///
    /// Must be called on a tokio runtime, as [`Self::open`].
    ///
    /// # Errors
    /// When the database is not there, cannot be reached, or is not up to date.
    pub async fn open_existing(url: &DatabaseUrl) -> Result<Self, StoreError> {
        let connections = connect::connect(url, IfMissing::Fail).await?;
        connect::check_schema(&connections).await?;
        Self::with_connections(url, connections)
    }

    fn with_connections(url: &DatabaseUrl, connections: Connections) -> Result<Self, StoreError> {
        let queue_notify = Arc::new(Notify::new());
        let (write_lock, group_commit, event_notifier) = match url {
            DatabaseUrl::Sqlite(path) => {
                let (write_lock, event_notifier) =
                    (WriteLock::exclusive(), Arc::new(EventNotifier::default()));
                let group_commit = GroupCommit::on_sqlite(
                    path,
                    write_lock.clone(),
                    Arc::clone(&queue_notify),
                    Arc::clone(&event_notifier),
                )?;
                (write_lock, group_commit, event_notifier)
            }
            DatabaseUrl::Postgres(options) => {
                let pool = connections.write.get_postgres_connection_pool();
                let event_notifier = Arc::new(EventNotifier::with_postgres(pool, options));
                (
                    WriteLock::unrestricted(),
                    GroupCommit::on_pool(
                        &connections.write,
                        POSTGRES_WRITERS,
                        &queue_notify,
                        &event_notifier,
                    ),
                    event_notifier,
                )
            }
        };
        Ok(Self::from_parts(connections, write_lock, group_commit, queue_notify, event_notifier))
    }

    /// A store on a migrated database.
    pub(crate) fn from_parts(
        connections: Connections,
        write_lock: WriteLock,
        group_commit: GroupCommit,
        queue_notify: Arc<Notify>,
        event_notifier: Arc<EventNotifier>,
    ) -> Self {
        Self(Arc::new(Inner {
            connections,
            write_lock,
            group_commit,
            webhook_cache: Cache::new(WEBHOOK_CACHE_CAPACITY),
            queue_notify,
            last_claimed_workspace: Mutex::new(Uuid::nil()),
            outbox_notify: Notify::new(),
            caller_cache: CallerCache::new(),
            write_probe: WriteProbe::default(),
            event_notifier,
        }))
    }

    /// Begins a transaction; on SQLite it waits for the one writer.
    ///
    /// # Errors
    /// When no connection can be had.
    pub async fn begin(&self) -> Result<StoreTx, StoreError> {
        let guard = self.0.write_lock.acquire().await?;
        let tx = begin(&self.0.connections.write).await?;
        Ok(StoreTx::new(tx, guard, self.clone()))
    }

    /// Whether the database answers, its schema is up to date, and what is written is kept.
    ///
    /// # Errors
    /// What the database said, or that the disk failed.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.inner().group_commit.check()?;
        self.read().ping().await.or_store_error()?;
        connect::check_schema(&self.0.connections).await?;
        self.probe_write().await
    }

    pub(crate) fn read(&self) -> &DatabaseConnection {
        &self.0.connections.read
    }

    /// For single statements that write.
    pub(crate) fn write(&self) -> WriteConnection<'_> {
        WriteConnection(&self.0)
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.read().get_database_backend() == sea_orm::DbBackend::Postgres
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }
}

#[async_trait::async_trait]
impl kernel::Transactions for Store {
    type Tx = StoreTx;

    async fn begin(&self) -> Result<StoreTx, StoreError> {
        Self::begin(self).await
    }

    async fn check_ready(&self) -> Result<(), StoreError> {
        Self::check(self).await
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("backend", &self.read().get_database_backend()).finish_non_exhaustive()
    }
}

/// Begins a transaction that will write: SQLite takes its write lock now rather than fail half-way.
pub(crate) async fn begin(db: &DatabaseConnection) -> Result<sea_orm::DatabaseTransaction, StoreError> {
    let options = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    db.begin_with_options(options).await.or_store_error()
}

/// Single statements that write, each in its turn and a transaction of its own.
pub(crate) struct WriteConnection<'s>(&'s Inner);

impl SqlExecutor for WriteConnection<'_> {
    fn backend(&self) -> DbBackend {
        SqlExecutor::backend(&self.0.connections.write)
    }

    async fn execute(&self, text: String, values: Vec<Value>) -> Result<u64, StoreError> {
        let _guard = self.0.write_lock.acquire().await?;
        SqlExecutor::execute(&self.0.connections.write, text, values).await
    }

    async fn fetch_all(&self, text: String, values: Vec<Value>) -> Result<Vec<SqlRow>, StoreError> {
        let _guard = self.0.write_lock.acquire().await?;
        self.0.connections.write.fetch_all(text, values).await
    }
}

/// Whose turn it is to write. SQLite has one writer: without an order, who waits for its lock sleeps and tries again,
/// and under load comes too late each time.
#[derive(Clone)]
pub(crate) struct WriteLock(Option<Arc<Semaphore>>);

/// The right to write until it is dropped.
pub(crate) struct WriteGuard(#[expect(dead_code, reason = "held for its drop")] Option<OwnedSemaphorePermit>);

impl WriteLock {
    fn exclusive() -> Self {
        Self(Some(Arc::new(Semaphore::new(1))))
    }

    /// As many at once as there are connections.
    pub(crate) fn unrestricted() -> Self {
        Self(None)
    }

    /// Waits for its turn: first come, first served.
    pub(crate) async fn acquire(&self) -> Result<WriteGuard, StoreError> {
        let Some(semaphore) = &self.0 else { return Ok(WriteGuard(None)) };
        let permit = timeout(ACQUIRE_TIMEOUT, Arc::clone(semaphore).acquire_owned()).await;
        match permit {
            Ok(Ok(permit)) => Ok(WriteGuard(Some(permit))),
            Ok(Err(_)) | Err(_) => Err(StoreError::Unavailable("others write for too long".into())),
        }
    }
}
