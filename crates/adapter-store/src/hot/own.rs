//! The hot path's own connection of SQLite: statements run where they are called, on the lane's thread, without a
//! message to another thread and back for each.

use std::path::Path;

use kernel::StoreError;
use rusqlite::{
    CachedStatement, Connection, ErrorCode, ToSql,
    config::DbConfig,
    types::{ToSqlOutput, ValueRef},
};
use sea_orm::{DbBackend, Value};

use super::{
    Batch, Lane, Written,
    checkpoint::Checkpoints,
    promises::{Disk, Promise, Promises},
    signatures::Signatures,
};
use crate::{
    connect::{BUSY_TIMEOUT, LOG_PAGES, STATEMENTS},
    sql::{Db, Fields, SqlRow},
    store::Turns,
};

/// The pages that the lane keeps, in KiB: it writes where it wrote last. More would cost it time, since SQLite looks at
/// every page it keeps whenever a commit has split one.
const CACHE_KIB: i64 = 4096;

/// The lane on SQLite.
pub(super) struct OwnLane {
    own: Own,
    turns: Turns,
    checkpoints: Checkpoints,
    promises: Promises,
    signatures: Signatures,
}

impl OwnLane {
    /// A lane on a database that exists.
    pub(super) fn open(path: &Path, turns: Turns) -> Result<Self, StoreError> {
        Ok(Self {
            own: Own::open(path)?,
            turns,
            checkpoints: Checkpoints::start(path)?,
            promises: Promises::start(path)?,
            signatures: Signatures::default(),
        })
    }

    /// What is known of the disk.
    pub(super) fn disk(&self) -> Disk {
        self.promises.disk()
    }
}

impl Lane for OwnLane {
    const NAPS: u32 = 2;

    async fn write(&mut self, batch: &Batch<'_>) -> Result<Written, StoreError> {
        if let Some(written) = batch.idle(&self.own).await? {
            return Ok(written);
        }
        self.promises.disk().check()?;
        self.signatures.load(&self.own, &batch.accept).await?;
        let _turn = self.turns.take().await?;
        let tx = self.own.begin()?;
        let written = batch.perform(&self.own, Some(&self.signatures)).await?;
        tx.commit()?;
        self.signatures.remember(&batch.accept, &written.verdicts);
        self.checkpoints.committed();
        Ok(written)
    }

    fn once_durable(&self, promise: Promise) {
        self.promises.give(promise);
    }
}

/// A connection that one thread has.
struct Own(Connection);

impl Own {
    /// Opens a database that exists.
    fn open(path: &Path) -> Result<Self, StoreError> {
        let open = || {
            let connection = Connection::open(path)?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            // A prepared statement stays as it is: otherwise it is prepared anew whenever a bound value changes.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
            connection.set_prepared_statement_cache_capacity(STATEMENTS);
            // A commit does not wait for the disk: what is promised does (see `promises`).
            connection.execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; \
                 PRAGMA temp_store = memory",
            )?;
            connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
            connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
            Ok(connection)
        };
        open().map(Self).map_err(failed)
    }

    /// Begins a transaction with the write lock.
    fn begin(&self) -> Result<OwnTx<'_>, StoreError> {
        self.run("BEGIN IMMEDIATE")?;
        Ok(OwnTx { own: self, over: false })
    }

    fn run(&self, text: &str) -> Result<(), StoreError> {
        self.0.prepare_cached(text).and_then(|mut statement| statement.execute([])).map_err(failed)?;
        Ok(())
    }

    fn prepare(&self, text: &str, values: &[Value]) -> Result<CachedStatement<'_>, StoreError> {
        let mut statement = self.0.prepare_cached(text).map_err(failed)?;
        for (index, value) in values.iter().enumerate() {
            // `Sql` numbers its values in the order of their places.
            statement.raw_bind_parameter(index + 1, Bound(value)).map_err(failed)?;
        }
        Ok(statement)
    }
}

impl Db for Own {
    fn backend(&self) -> DbBackend {
        DbBackend::Sqlite
    }

    fn takes_one_row(&self) -> bool {
        true
    }

    async fn execute(&self, text: String, values: Vec<Value>) -> Result<u64, StoreError> {
        let changed = self.prepare(&text, &values)?.raw_execute().map_err(failed)?;
        Ok(changed as u64)
    }

    async fn execute_each(&self, text: String, rows: &[Fields<'_>]) -> Result<Vec<bool>, StoreError> {
        let mut statement = self.0.prepare_cached(&text).map_err(failed)?;
        let mut changed = Vec::with_capacity(rows.len());
        for fields in rows {
            for (place, field) in (1..).zip(fields.iter()) {
                statement.raw_bind_parameter(place, field).map_err(failed)?;
            }
            changed.push(statement.raw_execute().map_err(failed)? > 0);
        }
        Ok(changed)
    }

    async fn rows(&self, text: String, values: Vec<Value>) -> Result<Vec<SqlRow>, StoreError> {
        let mut statement = self.prepare(&text, &values)?;
        let columns = statement.column_count();
        let mut found = statement.raw_query();
        let mut rows = Vec::new();
        while let Some(row) = found.next().map_err(failed)? {
            let values = (0..columns).map(|index| row.get(index));
            rows.push(SqlRow::Own(values.collect::<Result<_, _>>().map_err(failed)?));
        }
        Ok(rows)
    }
}

/// A transaction under way. Dropping it undoes everything.
struct OwnTx<'o> {
    own: &'o Own,
    over: bool,
}

impl OwnTx<'_> {
    fn commit(mut self) -> Result<(), StoreError> {
        self.own.run("COMMIT")?;
        self.over = true;
        Ok(())
    }
}

impl Drop for OwnTx<'_> {
    fn drop(&mut self) {
        // After some failures SQLite has rolled back by itself.
        if !self.over
            && !self.own.0.is_autocommit()
            && let Err(error) = self.own.run("ROLLBACK")
        {
            tracing::error!(error = &error as &dyn std::error::Error, "a batch cannot be rolled back");
        }
    }
}

/// A value as SQLite takes it, which is how the pools' driver writes it too.
struct Bound<'v>(&'v Value);

impl ToSql for Bound<'_> {
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

pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error().map(|error| (error.code, error.extended_code)) {
        Some((_, rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE | rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY)) => {
            StoreError::Duplicate
        }
        Some((
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::CannotOpen
            | ErrorCode::OperationInterrupted,
            _,
        )) => StoreError::Unavailable(error.into()),
        _ => StoreError::Failed(error.into()),
    }
}
