//! The store: connections, the hot path's batches, and what is remembered between requests.

use std::sync::{Arc, Mutex};

use kernel::{StoreError, id::HookId};
use moka::sync::Cache;
use runs::webhooks::HookState;
use sea_orm::{
    DatabaseConnection, DbBackend, SqliteTransactionMode, TransactionOptions, TransactionTrait as _, Value,
};
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use uuid::Uuid;

use crate::{
    connect::{self, ACQUIRE_TIMEOUT, Connections, DatabaseUrl, IfMissing},
    error::OrStoreError as _,
    events::Bells,
    hot::{Hot, POSTGRES_LANES},
    installation::Probe,
    remembered::Remembered,
    sql::{Db, SqlRow},
    tx::StoreTx,
};

/// The control plane's store. Cheap to clone.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

pub(crate) struct Inner {
    connections: Connections,
    turns: Turns,
    pub(crate) hot: Hot,
    /// Webhooks seen lately. An entry may be old: accepting under it checks its stamp against the database.
    pub(crate) hooks: Cache<HookId, Arc<HookState>>,
    /// Rung when something was put into the queue by this process.
    pub(crate) work: Arc<Notify>,
    /// The workspace that had the last turn when runs were claimed.
    pub(crate) last_turn: Mutex<Uuid>,
    /// Rung when this process put a letter into the outbox.
    pub(crate) letters: Notify,
    pub(crate) remembered: Remembered,
    pub(crate) probe: Probe,
    /// For those who wait for events.
    pub(crate) bells: Arc<Bells>,
}

/// How many webhooks are remembered.
const REMEMBERED_HOOKS: u64 = 10_000;

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
        Self::opened(url, connections)
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
        Self::opened(url, connections)
    }

    fn opened(url: &DatabaseUrl, connections: Connections) -> Result<Self, StoreError> {
        let work = Arc::new(Notify::new());
        let (turns, hot, bells) = match url {
            DatabaseUrl::Sqlite(path) => {
                let (turns, bells) = (Turns::one_at_a_time(), Arc::new(Bells::default()));
                let hot = Hot::on_sqlite(path, turns.clone(), Arc::clone(&work), Arc::clone(&bells))?;
                (turns, hot, bells)
            }
            DatabaseUrl::Postgres(options) => {
                let pool = connections.write.get_postgres_connection_pool();
                let bells = Arc::new(Bells::shared(pool, options));
                (Turns::free(), Hot::on_pool(&connections.write, POSTGRES_LANES, &work, &bells), bells)
            }
        };
        Ok(Self::on(connections, turns, hot, work, bells))
    }

    /// A store on a migrated database.
    pub(crate) fn on(
        connections: Connections,
        turns: Turns,
        hot: Hot,
        work: Arc<Notify>,
        bells: Arc<Bells>,
    ) -> Self {
        Self(Arc::new(Inner {
            connections,
            turns,
            hot,
            hooks: Cache::new(REMEMBERED_HOOKS),
            work,
            last_turn: Mutex::new(Uuid::nil()),
            letters: Notify::new(),
            remembered: Remembered::new(),
            probe: Probe::default(),
            bells,
        }))
    }

    /// Begins a transaction; on SQLite it waits for the one writer.
    ///
    /// # Errors
    /// When no connection can be had.
    pub async fn begin(&self) -> Result<StoreTx, StoreError> {
        let turn = self.0.turns.take().await?;
        let tx = begin(&self.0.connections.write).await?;
        Ok(StoreTx::new(tx, turn, self.clone()))
    }

    /// Whether the database answers, its schema is up to date, and what is written is kept.
    ///
    /// # Errors
    /// What the database said, or that the disk failed.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.inner().hot.check()?;
        self.read().ping().await.or_store_error()?;
        connect::check_schema(&self.0.connections).await?;
        self.probe().await
    }

    pub(crate) fn read(&self) -> &DatabaseConnection {
        &self.0.connections.read
    }

    /// For single statements that write.
    pub(crate) fn write(&self) -> Writer<'_> {
        Writer(&self.0)
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

    async fn check(&self) -> Result<(), StoreError> {
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
pub(crate) struct Writer<'s>(&'s Inner);

impl Db for Writer<'_> {
    fn backend(&self) -> DbBackend {
        Db::backend(&self.0.connections.write)
    }

    async fn execute(&self, text: String, values: Vec<Value>) -> Result<u64, StoreError> {
        let _turn = self.0.turns.take().await?;
        Db::execute(&self.0.connections.write, text, values).await
    }

    async fn rows(&self, text: String, values: Vec<Value>) -> Result<Vec<SqlRow>, StoreError> {
        let _turn = self.0.turns.take().await?;
        self.0.connections.write.rows(text, values).await
    }
}

/// Whose turn it is to write. SQLite has one writer: without an order, who waits for its lock sleeps and tries again,
/// and under load comes too late each time.
#[derive(Clone)]
pub(crate) struct Turns(Option<Arc<Semaphore>>);

/// The right to write until it is dropped.
pub(crate) struct Turn(#[expect(dead_code, reason = "held for its drop")] Option<OwnedSemaphorePermit>);

impl Turns {
    fn one_at_a_time() -> Self {
        Self(Some(Arc::new(Semaphore::new(1))))
    }

    /// As many at once as there are connections.
    pub(crate) fn free() -> Self {
        Self(None)
    }

    /// Waits for its turn: first come, first served.
    pub(crate) async fn take(&self) -> Result<Turn, StoreError> {
        let Some(turns) = &self.0 else { return Ok(Turn(None)) };
        let turn = timeout(ACQUIRE_TIMEOUT, Arc::clone(turns).acquire_owned()).await;
        match turn {
            Ok(Ok(permit)) => Ok(Turn(Some(permit))),
            Ok(Err(_)) | Err(_) => Err(StoreError::Unavailable("others write for too long".into())),
        }
    }
}
