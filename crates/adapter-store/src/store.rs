//! The store: connections, the group commit, and caches.

use std::sync::Arc;

use kernel::StoreError;
use sea_orm::DatabaseConnection;
use tokio::sync::Notify;

use crate::{
    after_commit::AfterCommit,
    caller_cache::{CacheView, ChangeTable},
    connect::{self, DatabaseUrl, IfMissing},
    error::OrStoreError as _,
    events::notifier::EventNotifier,
    group_commit::{GroupCommit, POSTGRES_WRITERS},
    pool::{self, Connections, WriteConnection, WriteLock},
    tx::StoreTx,
    write_probe::WriteProbe,
};

/// The control plane's store. Cheap to clone.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

pub(crate) struct Inner {
    connections: Connections,
    write_lock: WriteLock,
    pub(crate) group_commit: GroupCommit,
    pub(crate) write_probe: WriteProbe,
    pub(crate) after_commit: Arc<AfterCommit>,
}

impl Store {
    /// Opens a database and brings its schema up to date.
    ///
    /// Must be called on a tokio runtime: the group commit writes batches in tasks of its own.
    ///
    /// # Errors
    /// Fails if the database cannot be reached or migrated.
    pub async fn open(url: &DatabaseUrl) -> Result<Self, StoreError> {
        let connections = connect::connect(url, IfMissing::Create).await?;
        let migrated = connect::migrate(&connections).await?;
        if migrated > 0 {
            tracing::info!(migrations = migrated, "the database schema was brought up to date");
        }
        Self::with_connections(url, connections)
    }

    /// Opens a database that exists and is up to date, and changes nothing about it.
    ///
    /// Must be called on a tokio runtime, as [`Self::open`].
    ///
    /// # Errors
    /// Fails if the database is missing, cannot be reached, or is not up to date.
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
                    GroupCommit::on_postgres(options, POSTGRES_WRITERS, &queue_notify, &event_notifier),
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
        let changes = ChangeTable(connections.read.clone());
        Self(Arc::new(Inner {
            connections,
            write_lock,
            group_commit,
            write_probe: WriteProbe::default(),
            after_commit: Arc::new(AfterCommit::new(changes, queue_notify, event_notifier)),
        }))
    }

    /// Begins a transaction; on SQLite it waits for the one writer.
    ///
    /// # Errors
    /// Fails if no connection is free in time.
    pub async fn begin(&self) -> Result<StoreTx, StoreError> {
        let guard = self.0.write_lock.acquire().await?;
        let tx = pool::begin(&self.0.connections.write).await?;
        Ok(StoreTx::new(tx, guard, Arc::clone(&self.0.after_commit)))
    }

    /// Checks that the database answers, its schema is up to date, and writes are durable.
    ///
    /// # Errors
    /// Fails if the database fails, its schema is out of date, or the disk has failed.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.inner().group_commit.check()?;
        self.read().ping().await.or_store_error()?;
        connect::check_schema(&self.0.connections).await?;
        self.probe_write().await
    }

    pub(crate) fn read(&self) -> &DatabaseConnection {
        &self.0.connections.read
    }

    /// Returns the connection for a single statement that writes, once it is its turn.
    pub(crate) async fn write(&self) -> Result<WriteConnection<'_>, StoreError> {
        WriteConnection::acquire(&self.0.connections, &self.0.write_lock).await
    }

    /// Begins a reading of the caller cache.
    pub(crate) async fn cache_view(&self) -> CacheView<'_> {
        self.0.after_commit.caller_cache.view().await
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.read().get_database_backend() == sea_orm::DbBackend::Postgres
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }
}

#[span_macros::traced]
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
