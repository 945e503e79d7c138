//! Connections, and the order in which they write.

use std::{ops::Deref, sync::Arc, time::Duration};

use kernel::StoreError;
use sea_orm::{
    DatabaseConnection, DatabaseTransaction, SqliteTransactionMode, TransactionOptions, TransactionTrait as _,
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::error::OrStoreError as _;

/// Time that a connection, and the write lock, is waited for.
pub(crate) const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// Time that SQLite waits for a lock that somebody else holds.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Prepared statements of one connection: room for every shape of statement that is used often.
pub(crate) const STATEMENT_CACHE_CAPACITY: usize = 256;
/// Pages in SQLite's log at which a writer makes a checkpoint: 64 MiB. The more there are, the oftener one page is in
/// the log several times and copied once.
pub(crate) const WAL_AUTOCHECKPOINT_PAGES: u32 = 16_000;

/// The connections of one database.
pub(crate) struct Connections {
    /// The pool of transactions; on SQLite the one writer.
    pub(crate) write: DatabaseConnection,
    /// The pool of everything else.
    pub(crate) read: DatabaseConnection,
}

/// Begins a transaction that will write: SQLite takes its write lock now rather than fail half-way.
pub(crate) async fn begin(db: &DatabaseConnection) -> Result<DatabaseTransaction, StoreError> {
    let options = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    db.begin_with_options(options).await.or_store_error()
}

/// A connection for a single statement that writes: its turn lasts until it is dropped.
pub(crate) struct WriteConnection<'c> {
    db: &'c DatabaseConnection,
    _guard: WriteGuard,
}

impl<'c> WriteConnection<'c> {
    /// Waits for the write lock.
    pub(crate) async fn acquire(
        connections: &'c Connections,
        write_lock: &WriteLock,
    ) -> Result<Self, StoreError> {
        let guard = write_lock.acquire().await?;
        Ok(Self { db: &connections.write, _guard: guard })
    }
}

impl Deref for WriteConnection<'_> {
    type Target = DatabaseConnection;

    fn deref(&self) -> &DatabaseConnection {
        self.db
    }
}

/// The order of writers. SQLite has one writer: without an order, who waits for its lock sleeps and tries again, and
/// under load comes too late each time.
#[derive(Clone)]
pub(crate) struct WriteLock(Option<Arc<Semaphore>>);

/// The right to write until it is dropped.
pub(crate) struct WriteGuard(#[expect(dead_code, reason = "held for its drop")] Option<OwnedSemaphorePermit>);

impl WriteLock {
    /// A lock that one writer holds at a time.
    pub(crate) fn exclusive() -> Self {
        Self(Some(Arc::new(Semaphore::new(1))))
    }

    /// No lock: as many write at once as there are connections.
    pub(crate) fn unrestricted() -> Self {
        Self(None)
    }

    /// Waits for its turn: first come, first served.
    pub(crate) async fn acquire(&self) -> Result<WriteGuard, StoreError> {
        let Some(semaphore) = &self.0 else { return Ok(WriteGuard(None)) };
        let permit = timeout(ACQUIRE_TIMEOUT, Arc::clone(semaphore).acquire_owned()).await;
        match permit {
            Ok(Ok(permit)) => Ok(WriteGuard(Some(permit))),
            Ok(Err(_)) | Err(_) => {
                Err(StoreError::Unavailable("timed out waiting for the write lock".into()))
            }
        }
    }
}
