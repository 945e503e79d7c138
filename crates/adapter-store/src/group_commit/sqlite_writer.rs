//! The writer of SQLite, with a connection of its own: statements run where they are called, on the writer's thread,
//! without a message to another thread and back for each.

use std::path::Path;

use ::group_commit::{BatchWriter, Checkpointer, DurabilityWaiter, FsyncQueue, SyncHealth, WalFile};
use kernel::StoreError;
use rusqlite::{
    CachedStatement, Connection, ToSql,
    config::DbConfig,
    types::{ToSqlOutput, ValueRef},
};
use sea_orm::{DbBackend, Value};

use super::{
    app_health::ObservationCache,
    batch::{Batch, BatchOutcome, WriteOp},
    checkpointer,
    replies::{Replies, clone_error},
    signature_cache::SignatureCache,
};
use crate::{
    error::sqlite_store_error,
    pool::{BUSY_TIMEOUT, STATEMENT_CACHE_CAPACITY, WAL_AUTOCHECKPOINT_PAGES, WriteLock},
    sql::{Fields, SqlExecutor, SqlRow},
};

/// Page cache of the writer, in KiB: it writes where it wrote last. More would cost it time, since SQLite looks at
/// every page it keeps whenever a commit has split one.
const CACHE_KIB: i64 = 4096;

/// The writer on SQLite.
pub(super) struct SqliteWriter {
    connection: WriterConnection,
    write_lock: WriteLock,
    checkpointer: Checkpointer,
    fsync_queue: FsyncQueue,
    signature_cache: SignatureCache,
    observation_cache: ObservationCache,
    replies: Replies,
}

impl SqliteWriter {
    /// Opens a writer on a database that exists.
    pub(super) fn open(path: &Path, write_lock: WriteLock, replies: Replies) -> Result<Self, StoreError> {
        let mut wal_file = WalFile::for_database(path);
        let fsync_queue = FsyncQueue::start(move || wal_file.sync());
        Ok(Self {
            connection: WriterConnection::open(path)?,
            write_lock,
            checkpointer: checkpointer::start(path)?,
            fsync_queue: fsync_queue.map_err(|error| StoreError::Unavailable(error.into()))?,
            signature_cache: SignatureCache::default(),
            observation_cache: ObservationCache::default(),
            replies,
        })
    }

    /// The health of the disk.
    pub(super) fn sync_health(&self) -> SyncHealth {
        self.fsync_queue.health()
    }
}

impl BatchWriter for SqliteWriter {
    type Op = WriteOp;
    type Outcome = BatchOutcome;
    type Error = StoreError;

    const LINGER_ROUNDS: u32 = 2;

    async fn write(&mut self, ops: &[WriteOp]) -> Result<BatchOutcome, StoreError> {
        let batch = Batch::from_ops(ops);
        if let Some(written) = batch.outcome_if_idle(&self.connection).await? {
            return Ok(written);
        }
        self.sync_health().check().map_err(|failed| StoreError::Unavailable(failed.into()))?;
        self.signature_cache.load_once(&self.connection, &batch.accept).await?;
        let _guard = self.write_lock.acquire().await?;
        let tx = self.connection.begin()?;
        let (signatures, slots) = (Some(&self.signature_cache), &*self.replies.slots);
        let written = batch.perform(&self.connection, signatures, &self.observation_cache, slots).await?;
        tx.commit()?;
        self.observation_cache.insert_committed(&written.observed);
        self.signature_cache.insert_committed(&batch.accept, &written.outcomes);
        self.checkpointer.record_commit();
        Ok(written)
    }

    fn reply(
        &mut self,
        ops: impl Iterator<Item = WriteOp>,
        written: BatchOutcome,
    ) -> Option<DurabilityWaiter> {
        self.replies.reply(ops, written)
    }

    fn on_durable(&self, waiter: DurabilityWaiter) {
        self.fsync_queue.enqueue(waiter);
    }

    fn fail(op: WriteOp, error: &StoreError) {
        op.fail(clone_error(error));
    }

    fn is_unavailable(error: &StoreError) -> bool {
        matches!(error, StoreError::Unavailable(_))
    }
}

/// A connection that one thread has.
struct WriterConnection(Connection);

impl WriterConnection {
    /// Opens a database that exists.
    fn open(path: &Path) -> Result<Self, StoreError> {
        let open = || {
            let connection = Connection::open(path)?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            // A prepared statement stays as it is: otherwise it is prepared anew whenever a bound value changes.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
            connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_CAPACITY);
            // A commit does not wait for the disk: outcomes that callers outside rely on do (see `on_durable`).
            connection.execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; \
                 PRAGMA temp_store = memory",
            )?;
            connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
            connection.pragma_update(None, "wal_autocheckpoint", WAL_AUTOCHECKPOINT_PAGES)?;
            Ok(connection)
        };
        open().map(Self).map_err(sqlite_store_error)
    }

    /// Begins a transaction with the write lock.
    fn begin(&self) -> Result<WriterTransaction<'_>, StoreError> {
        self.execute_statement("BEGIN IMMEDIATE")?;
        Ok(WriterTransaction { connection: self, is_committed: false })
    }

    fn execute_statement(&self, text: &str) -> Result<(), StoreError> {
        self.0
            .prepare_cached(text)
            .and_then(|mut statement| statement.execute([]))
            .map_err(sqlite_store_error)?;
        Ok(())
    }

    fn prepare(&self, text: &str, values: &[Value]) -> Result<CachedStatement<'_>, StoreError> {
        let mut statement = self.0.prepare_cached(text).map_err(sqlite_store_error)?;
        for (index, value) in values.iter().enumerate() {
            // `Sql` numbers its values in the order of their places.
            statement.raw_bind_parameter(index + 1, SqliteParam(value)).map_err(sqlite_store_error)?;
        }
        Ok(statement)
    }
}

impl SqlExecutor for WriterConnection {
    fn backend(&self) -> DbBackend {
        DbBackend::Sqlite
    }

    fn prefers_single_rows(&self) -> bool {
        true
    }

    async fn execute(&self, text: String, values: Vec<Value>) -> Result<u64, StoreError> {
        let changed = self.prepare(&text, &values)?.raw_execute().map_err(sqlite_store_error)?;
        Ok(changed as u64)
    }

    async fn execute_many(&self, text: String, rows: &[Fields<'_>]) -> Result<Vec<bool>, StoreError> {
        let mut statement = self.0.prepare_cached(&text).map_err(sqlite_store_error)?;
        let mut changed = Vec::with_capacity(rows.len());
        for fields in rows {
            for (parameter, field) in (1..).zip(fields.iter()) {
                statement.raw_bind_parameter(parameter, field).map_err(sqlite_store_error)?;
            }
            changed.push(statement.raw_execute().map_err(sqlite_store_error)? > 0);
        }
        Ok(changed)
    }

    async fn fetch_all(&self, text: String, values: Vec<Value>) -> Result<Vec<SqlRow>, StoreError> {
        let mut statement = self.prepare(&text, &values)?;
        let columns = statement.column_count();
        let mut found = statement.raw_query();
        let mut rows = Vec::new();
        while let Some(row) = found.next().map_err(sqlite_store_error)? {
            let values = (0..columns).map(|index| row.get(index));
            rows.push(SqlRow::Sqlite(values.collect::<Result<_, _>>().map_err(sqlite_store_error)?));
        }
        Ok(rows)
    }
}

/// A transaction under way. Dropping it undoes everything.
struct WriterTransaction<'o> {
    connection: &'o WriterConnection,
    is_committed: bool,
}

impl WriterTransaction<'_> {
    fn commit(mut self) -> Result<(), StoreError> {
        self.connection.execute_statement("COMMIT")?;
        self.is_committed = true;
        Ok(())
    }
}

impl Drop for WriterTransaction<'_> {
    fn drop(&mut self) {
        // After some failures SQLite has rolled back by itself.
        if !self.is_committed
            && !self.connection.0.is_autocommit()
            && let Err(error) = self.connection.execute_statement("ROLLBACK")
        {
            tracing::error!(error = &error as &dyn std::error::Error, "a batch cannot be rolled back");
        }
    }
}

/// A value as SQLite takes it, which is how the pools' driver writes it too.
struct SqliteParam<'v>(&'v Value);

impl ToSql for SqliteParam<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let integer = |number: Option<i64>| number.map_or(ValueRef::Null, ValueRef::Integer);
        let value = match self.0 {
            Value::Bool(value) => integer(value.map(i64::from)),
            Value::TinyInt(value) => integer(value.map(i64::from)),
            Value::SmallInt(value) => integer(value.map(i64::from)),
            Value::Int(value) => integer(value.map(i64::from)),
            Value::BigInt(value) => integer(*value),
            Value::Unsigned(value) => integer(value.map(i64::from)),
            Value::Double(value) => value.map_or(ValueRef::Null, ValueRef::Real),
            Value::String(value) => {
                value.as_ref().map_or(ValueRef::Null, |text| ValueRef::Text(text.as_bytes()))
            }
            Value::Bytes(value) => value.as_ref().map_or(ValueRef::Null, |bytes| ValueRef::Blob(bytes)),
            Value::Uuid(value) => value.as_ref().map_or(ValueRef::Null, |id| ValueRef::Blob(id.as_bytes())),
            other => {
                let what = format!("the hot path binds no {:?}", std::mem::discriminant(other));
                return Err(rusqlite::Error::ToSqlConversionFailure(what.into()));
            }
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}
