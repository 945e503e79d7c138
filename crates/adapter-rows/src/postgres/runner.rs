//! Running statements on one project: connections, time limits, transactions and storage limits.

use std::sync::Arc;

use backend_data::{
    Catalog, ProjectRef, StoreError,
    store::{Import, Read, StatementResult, TableScope, Write},
};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Postgres, Transaction};

use super::{
    error::to_store_error,
    lookup, outbox,
    pool::Pool,
    schema,
    select::select_rows,
    storage_usage::{self, CapacityCheck, StorageUsage},
    write::execute_write,
};
use crate::write_size;

/// A runner of statements on one project.
pub(super) struct Runner<'s> {
    pub(super) pool: &'s Pool,
    pub(super) scope: &'s TableScope,
    pub(super) project: &'s ProjectRef,
    /// The statement that sets the time limits in a transaction; `None` if the session has them.
    pub(super) set_timeouts_sql: Option<&'s Arc<str>>,
    pub(super) storage_usage: &'s StorageUsage,
}

impl Runner<'_> {
    /// Returns true if a statement stays prepared on its connection. Behind a pooler, the next one may be in another
    /// session.
    fn can_persist_statements(&self) -> bool {
        self.set_timeouts_sql.is_none()
    }

    async fn begin<'c>(
        &self,
        connection: &'c mut PgConnection,
    ) -> Result<Transaction<'c, Postgres>, StoreError> {
        let mut transaction = connection.begin().await.map_err(to_store_error)?;
        if let Some(limit) = self.set_timeouts_sql {
            let set = sqlx::raw_sql(AssertSqlSafe(&**limit)).execute(&mut *transaction).await;
            set.map_err(to_store_error)?;
        }
        Ok(transaction)
    }

    pub(super) async fn read(&self, read: &Read) -> Result<StatementResult, StoreError> {
        self.with_connection(async |connection| {
            select_rows(connection, self.scope, read, self.can_persist_statements()).await
        })
        .await
    }

    /// Returns the catalog of a project, or `None` if there is no such project.
    pub(super) async fn catalog(&self, project: &ProjectRef) -> Result<Option<Catalog>, StoreError> {
        self.with_connection(async |connection| {
            schema::catalog(connection, project, self.can_persist_statements()).await
        })
        .await
    }

    /// Reads rows by their ids in one statement. The reads have one
    /// [`LookupShape`](super::lookup_batcher::LookupShape).
    pub(super) async fn look_up(
        &self,
        reads: &[&Read],
    ) -> Result<Vec<Result<StatementResult, StoreError>>, StoreError> {
        self.with_connection(async |connection| {
            lookup::look_up_rows(connection, self.scope, reads, self.can_persist_statements()).await
        })
        .await
    }

    /// Runs `read` on a connection with a time limit for statements.
    async fn with_connection<T>(
        &self,
        read: impl AsyncFnOnce(&mut PgConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut conn = self.pool.acquire(Some(self.project)).await?;
        let done = async {
            let mut limited = self.with_timeouts(&mut conn.connection).await?;
            let result = read(limited.connection()).await?;
            limited.finish().await?;
            Ok(result)
        };
        // Reads lock no rows: a conflict means that they waited too long for a change of the schema.
        let done = done
            .await
            .map_err(|error: StoreError| if error.is_write_conflict() { StoreError::Timeout } else { error });
        conn.release(done).await
    }

    /// Returns the connection with a time limit for statements.
    async fn with_timeouts<'c>(
        &self,
        connection: &'c mut PgConnection,
    ) -> Result<TimeoutScope<'c>, StoreError> {
        Ok(match self.set_timeouts_sql {
            None => TimeoutScope::Session(connection),
            Some(_) => TimeoutScope::Transaction(self.begin(connection).await?),
        })
    }

    pub(super) async fn write(&self, write: &Write) -> Result<StatementResult, StoreError> {
        let mut conn = self.pool.acquire(Some(self.project)).await?;
        let done = async {
            self.ensure_capacity_for(&mut conn.connection, write).await?;
            let result = if !write.needs_transaction() && self.set_timeouts_sql.is_none() {
                execute_write(&mut conn.connection, self.scope, write, self.can_persist_statements()).await?
            } else {
                self.write_in_transaction(&mut conn.connection, write).await?
            };
            self.storage_usage.record_write(self.project, write, &result);
            Ok(result)
        };
        let done = done.await;
        conn.release(done).await
    }

    /// Refuses a write if the rows of the project take as many bytes as they may.
    async fn ensure_capacity_for(
        &self,
        connection: &mut PgConnection,
        write: &Write,
    ) -> Result<(), StoreError> {
        match write.max_stored_bytes {
            Some(_) => {
                self.ensure_capacity(
                    connection,
                    write.max_stored_bytes,
                    write_size::estimate_write_bytes(write),
                )
                .await
            }
            None => Ok(()),
        }
    }

    /// Refuses to add this number of bytes if the project has no storage left for them. Measures on this connection if
    /// the usage is not known.
    pub(super) async fn ensure_capacity(
        &self,
        connection: &mut PgConnection,
        limit: Option<u64>,
        bytes: u64,
    ) -> Result<(), StoreError> {
        let Some(limit) = limit else { return Ok(()) };
        match self.storage_usage.reserve(self.project, limit, bytes) {
            CapacityCheck::Fits => Ok(()),
            CapacityCheck::Full => Err(StoreError::StorageFull { limit }),
            CapacityCheck::FitsStale => {
                self.refresh_usage(limit);
                Ok(())
            }
            CapacityCheck::Unknown => {
                let begun = self.storage_usage.begin_measurement(self.project);
                // Within a transaction, this is a savepoint.
                let mut transaction = self.begin(connection).await?;
                let measured = storage_usage::measure_bytes(
                    &mut transaction,
                    self.project,
                    limit,
                    self.can_persist_statements(),
                )
                .await?;
                transaction.commit().await.map_err(to_store_error)?;
                self.storage_usage.record_measurement(self.project, begun, Some(measured));
                match self.storage_usage.reserve(self.project, limit, bytes) {
                    CapacityCheck::Full => Err(StoreError::StorageFull { limit }),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Measures the usage in the background, while the write goes on.
    fn refresh_usage(&self, limit: u64) {
        let (pool, project, usage) = (self.pool.clone(), self.project.clone(), self.storage_usage.clone());
        let (scope, set) = (self.scope.clone(), self.set_timeouts_sql.cloned());
        tokio::spawn(async move {
            let runner = Runner {
                pool: &pool,
                scope: &scope,
                project: &project,
                set_timeouts_sql: set.as_ref(),
                storage_usage: &usage,
            };
            // If the measurement fails, the next write starts another one.
            let begun = usage.begin_measurement(&project);
            let measured = runner.measure(limit).await.ok();
            usage.record_measurement(&project, begun, measured);
        });
    }

    async fn measure(&self, enough: u64) -> Result<u64, StoreError> {
        let measure = async |connection: &mut PgConnection| {
            storage_usage::measure_bytes(connection, self.project, enough, self.can_persist_statements())
                .await
        };
        self.with_connection(measure).await
    }

    /// Measures the bytes that the rows take.
    pub(super) async fn stored_bytes(&self) -> Result<u64, StoreError> {
        self.measure(0).await
    }

    async fn write_in_transaction(
        &self,
        connection: &mut PgConnection,
        write: &Write,
    ) -> Result<StatementResult, StoreError> {
        let mut transaction = self.begin(connection).await?;
        // An error drops the transaction, which undoes it.
        let result =
            execute_write(&mut transaction, self.scope, write, self.can_persist_statements()).await?;
        outbox::add(&mut transaction, self.project, &write.outbox, Some(result.rows)).await?;
        transaction.commit().await.map_err(to_store_error)?;
        Ok(result)
    }

    pub(super) async fn write_all(&self, writes: &[Write]) -> Result<Vec<StatementResult>, StoreError> {
        let mut conn = self.pool.acquire(Some(self.project)).await?;
        let done = self.write_all_in_transaction(&mut conn.connection, writes).await;
        if !matches!(&done, Ok(_) | Err(StoreError::BatchWriteFailed { at: 0, .. })) {
            self.storage_usage.record_rollback(self.project);
        }
        conn.release(done).await
    }

    async fn write_all_in_transaction(
        &self,
        connection: &mut PgConnection,
        writes: &[Write],
    ) -> Result<Vec<StatementResult>, StoreError> {
        let mut transaction = self.begin(connection).await?;
        let mut results: Vec<StatementResult> = Vec::with_capacity(writes.len());
        let mut size = 0;
        for (at, write) in writes.iter().enumerate() {
            let failed = |source| StoreError::BatchWriteFailed { at, source: Box::new(source) };
            // An error drops the transaction, which undoes it.
            self.ensure_capacity_for(&mut transaction, write).await.map_err(failed)?;
            let result = execute_write(&mut transaction, self.scope, write, self.can_persist_statements())
                .await
                .map_err(failed)?;
            size += result.body.len();
            if size > write.max_bytes {
                return Err(failed(StoreError::ResultTooLarge { limit: write.max_bytes }));
            }
            outbox::add(&mut transaction, self.project, &write.outbox, Some(result.rows)).await?;
            results.push(result);
        }
        transaction.commit().await.map_err(to_store_error)?;
        for (write, result) in writes.iter().zip(&results) {
            self.storage_usage.record_write(self.project, write, result);
        }
        Ok(results)
    }

    pub(super) async fn import(&self, import: &Import) -> Result<u64, StoreError> {
        let mut conn = self.pool.acquire_for_import(self.project).await?;
        let done = self.import_in_transaction(&mut conn.connection, import).await;
        if done.is_err() {
            self.storage_usage.record_rollback(self.project);
        }
        conn.release(done).await
    }

    async fn import_in_transaction(
        &self,
        connection: &mut PgConnection,
        import: &Import,
    ) -> Result<u64, StoreError> {
        let refused = |error| StoreError::ImportRejected(Box::new(error));
        let (mut write, batches) = (import.write.clone(), (import.batches)().map_err(refused)?);
        let mut transaction = self.begin(connection).await?;
        let mut rows = 0;
        // An error drops the transaction, which undoes it.
        for batch in batches {
            write.rows = Some(batch.map_err(refused)?);
            self.ensure_capacity_for(&mut transaction, &write).await?;
            rows += execute_write(&mut transaction, self.scope, &write, self.can_persist_statements())
                .await?
                .rows;
        }
        outbox::add(&mut transaction, self.project, &import.outbox, Some(rows)).await?;
        transaction.commit().await.map_err(to_store_error)?;
        Ok(rows)
    }
}

/// The scope of the time limit of statements.
enum TimeoutScope<'c> {
    Session(&'c mut PgConnection),
    Transaction(Transaction<'c, Postgres>),
}

impl TimeoutScope<'_> {
    fn connection(&mut self) -> &mut PgConnection {
        match self {
            Self::Session(connection) => connection,
            Self::Transaction(transaction) => transaction,
        }
    }

    async fn finish(self) -> Result<(), StoreError> {
        match self {
            Self::Session(_) => Ok(()),
            Self::Transaction(transaction) => transaction.commit().await.map_err(to_store_error),
        }
    }
}
