//! A store with one PostgreSQL schema per project.
//!
//! Several processes may share the database. The catalog of each project is a row of the table `qala_rows.catalog`;
//! every statement reports in the same round trip if it ran under the version that it was compiled for. Names are
//! always qualified. Behind a transaction pooler, statements rely on no state of the session, not even on prepared
//! statements.

mod bind;
mod contention;
mod error;
mod lock_order;
mod lookup;
mod lookup_batcher;
mod outbox;
mod pool;
mod row_json;
mod runner;
mod schema;
mod select;
mod storage_usage;
mod version_check;
mod write;

use std::{str::FromStr, sync::Arc, time::Duration};

use async_trait::async_trait;
use backend_data::{
    Catalog, Dialect, ProjectRef, RowStore, StoreError,
    store::{Import, OutboxRecord, Read, SchemaChange, StatementResult, TableScope, Write},
};
use sqlx::{Connection as _, PgConnection, Row as _, postgres::PgConnectOptions};

use contention::Contention;
use error::to_store_error;
use lookup_batcher::LookupBatcher;
use pool::Pool;
use runner::Runner;
use storage_usage::StorageUsage;

/// Options of a [`PgRows`].
#[derive(Clone, Debug)]
pub struct PgOptions {
    /// The URL of the database: `postgres://…`
    pub url: String,
    /// Maximum number of open connections; 16 by default, at least 1. At most half of them are used for one share
    /// at a time ([`ProjectRef::share`]).
    pub max_connections: u32,
    /// Time limit of a statement; 5 seconds by default. A statement waits for a lock for half of it.
    pub statement_timeout: Duration,
    /// Maximum time that a request waits for a connection; 5 seconds by default.
    pub acquire_timeout: Duration,
    /// True if the URL is that of a transaction pooler, which keeps no settings of a session. Each statement is then
    /// prepared anew and runs in a transaction that sets its time limit, which costs round trips. False by default: the
    /// store then detects a pooler when it connects.
    pub is_transaction_pooled: bool,
    /// Age after which an idle connection is not used again; 30 minutes by default. A server process keeps a cache
    /// entry for every table that it has touched, and frees them when the connection ends.
    pub max_lifetime: Duration,
}

impl PgOptions {
    /// Creates the default options for a database.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            max_connections: 16,
            statement_timeout: Duration::from_secs(5),
            acquire_timeout: Duration::from_secs(5),
            is_transaction_pooled: false,
            max_lifetime: Duration::from_secs(30 * 60),
        }
    }
}

/// A store with one PostgreSQL schema per project, in one database for all shards. A clone shares the connections.
///
/// Rows are in the schema `data_{project}`, catalogs and outboxes in the schema `qala_rows`. Several processes may
/// share the database. A write that conflicts with others (deadlock, serialization failure, lock timeout) is retried,
/// up to five attempts within twice [`PgOptions::statement_timeout`].
#[derive(Clone, Debug)]
pub struct PgRows {
    pool: Pool,
    /// The statement that sets the time limits in a transaction; `None` if the session has them.
    set_timeouts_sql: Option<Arc<str>>,
    lookups: LookupBatcher,
    contention: Contention,
    storage_usage: StorageUsage,
    /// Time after which a write is not retried.
    retry_budget: Duration,
}

/// Key of the advisory lock under which a process creates the tables of this crate; any fixed number does.
const SETUP_LOCK: i64 = 0x7161_6c61_726f_7773;

const SETUP: &str = "\
    CREATE SCHEMA IF NOT EXISTS \"qala_rows\"; \
    CREATE TABLE IF NOT EXISTS \"qala_rows\".\"catalog\" (\
        \"project\" text COLLATE \"C\" PRIMARY KEY, \"version\" bigint NOT NULL, \"body\" text NOT NULL); \
    CREATE TABLE IF NOT EXISTS \"qala_rows\".\"outbox\" (\
        \"project\" text COLLATE \"C\" NOT NULL, \"id\" text COLLATE \"C\" NOT NULL, \"shard\" integer NOT NULL, \
        \"body\" text NOT NULL, \"rows\" bigint, \"at\" timestamptz NOT NULL DEFAULT clock_timestamp(), \
        PRIMARY KEY (\"project\", \"id\"))";

impl PgRows {
    /// Connects, and creates the tables of this crate if they do not exist.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the URL is invalid or the database does not respond.
    pub async fn connect(options: &PgOptions) -> Result<Self, StoreError> {
        let plain = PgConnectOptions::from_str(&options.url)
            .map_err(|error| StoreError::Unavailable(error.into()))?
            .application_name("qala-rows");
        let limit = options.statement_timeout.as_millis().to_string();
        // Half of it for a lock, so that a write that waits for another one is retried before it times out.
        let wait = (options.statement_timeout / 2).as_millis().max(1).to_string();
        let limited =
            plain.clone().options([("statement_timeout", limit.as_str()), ("lock_timeout", wait.as_str())]);
        let pooled = options.is_transaction_pooled || !keeps_session_settings(&limited, &limit).await?;
        let pool = Pool::new(if pooled { plain } else { limited }, options);
        let set = || format!("SET LOCAL statement_timeout = {limit}; SET LOCAL lock_timeout = {wait}").into();
        let set_timeouts_sql = pooled.then(set);
        let mut conn = pool.acquire(None).await?;
        let done = create_tables(&mut conn.connection).await;
        conn.release(done).await?;
        Ok(Self {
            pool,
            set_timeouts_sql,
            lookups: LookupBatcher::default(),
            contention: Contention::default(),
            storage_usage: StorageUsage::default(),
            retry_budget: options.statement_timeout * 2,
        })
    }

    /// Returns a runner of statements on a project.
    fn runner<'s>(&'s self, project: &'s ProjectRef, scope: &'s TableScope) -> Runner<'s> {
        Runner {
            pool: &self.pool,
            scope,
            project,
            set_timeouts_sql: self.set_timeouts_sql.as_ref(),
            storage_usage: &self.storage_usage,
        }
    }

    /// Closes the idle connections and lends no more: later requests are [`StoreError::Unavailable`].
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// Creates the tables of this crate if they do not exist.
async fn create_tables(connection: &mut PgConnection) -> Result<(), StoreError> {
    let mut transaction = connection.begin().await.map_err(to_store_error)?;
    let lock = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(SETUP_LOCK).persistent(false);
    lock.execute(&mut *transaction).await.map_err(to_store_error)?;
    sqlx::raw_sql(SETUP).execute(&mut *transaction).await.map_err(to_store_error)?;
    transaction.commit().await.map_err(to_store_error)
}

/// Returns true if a session keeps the time limit that it is opened with. A transaction pooler refuses or ignores it.
async fn keeps_session_settings(options: &PgConnectOptions, limit: &str) -> Result<bool, StoreError> {
    let mut connection = match PgConnection::connect_with(options).await {
        Ok(connection) => connection,
        // Poolers report a parameter that they do not support as a protocol violation.
        Err(error) if error::sqlstate(&error).as_deref() == Some("08P01") => return Ok(false),
        Err(error) => return Err(to_store_error(error)),
    };
    let setting = "SELECT setting FROM pg_settings WHERE name = 'statement_timeout'";
    let setting_row = sqlx::raw_sql(setting).fetch_optional(&mut connection).await.map_err(to_store_error)?;
    let kept: Option<String> = setting_row.map(|row| row.try_get(0)).transpose().map_err(to_store_error)?;
    // The server notices a closed connection even without a proper end.
    let _ = connection.close().await;
    Ok(kept.as_deref() == Some(limit))
}

#[async_trait]
impl RowStore for PgRows {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn table_scope(&self, project: &ProjectRef) -> TableScope {
        let id = &project.id;
        TableScope {
            prefix: format!("\"{}\".", schema::schema_name(project)),
            // An id has no quotes.
            schema_version_check: Some(format!(
                "(SELECT \"version\" FROM \"qala_rows\".\"catalog\" WHERE \"project\" = '{id}')"
            )),
        }
    }

    async fn create_project(&self, project: &ProjectRef) -> Result<(), StoreError> {
        let mut conn = self.pool.acquire(Some(project)).await?;
        let done = schema::create(&mut conn.connection, project).await;
        conn.release(done).await
    }

    async fn drop_project(&self, project: &ProjectRef) -> Result<(), StoreError> {
        self.storage_usage.invalidate(project);
        let mut conn = self.pool.acquire(Some(project)).await?;
        let done = schema::delete(&mut conn.connection, project).await;
        conn.release(done).await
    }

    async fn catalog(&self, project: &ProjectRef) -> Result<Option<Catalog>, StoreError> {
        self.runner(project, &self.table_scope(project)).catalog(project).await
    }

    async fn apply_schema_change(
        &self,
        project: &ProjectRef,
        change: SchemaChange,
    ) -> Result<(), StoreError> {
        let mut conn = self.pool.acquire(Some(project)).await?;
        let scope = self.table_scope(project);
        let done = async {
            let runner = self.runner(project, &scope);
            runner.ensure_capacity(&mut conn.connection, change.max_stored_bytes, 0).await?;
            schema::change(&mut conn.connection, project, change).await
        };
        let done = done.await;
        self.storage_usage.invalidate(project);
        conn.release(done).await
    }

    async fn read(&self, project: &ProjectRef, read: Read) -> Result<StatementResult, StoreError> {
        if read.id_placeholder.is_some() {
            let scope = || self.table_scope(project);
            return self
                .lookups
                .read((&self.pool, project, &self.storage_usage), self.set_timeouts_sql.as_ref(), scope, read)
                .await;
        }
        self.runner(project, &self.table_scope(project)).read(&read).await
    }

    async fn write(&self, project: &ProjectRef, write: Write) -> Result<StatementResult, StoreError> {
        let scope = self.table_scope(project);
        let mut retry = self.contention.retry(project, !write.is_single_row, self.retry_budget);
        loop {
            let permit = retry.acquire_permit().await;
            let done = self.runner(project, &scope).write(&write).await;
            drop(permit);
            if let Some(done) = retry.finish_or_backoff(done).await {
                return done;
            }
        }
    }

    async fn write_all(
        &self,
        project: &ProjectRef,
        writes: Vec<Write>,
    ) -> Result<Vec<StatementResult>, StoreError> {
        let scope = self.table_scope(project);
        let mut retry = self.contention.retry(project, true, self.retry_budget);
        loop {
            let permit = retry.acquire_permit().await;
            let done = self.runner(project, &scope).write_all(&writes).await;
            drop(permit);
            if let Some(done) = retry.finish_or_backoff(done).await {
                return done;
            }
        }
    }

    async fn import(&self, project: &ProjectRef, import: Import) -> Result<u64, StoreError> {
        let scope = self.table_scope(project);
        let mut retry = self.contention.retry_import(project, self.retry_budget);
        loop {
            let permit = retry.acquire_permit().await;
            let done = self.runner(project, &scope).import(&import).await;
            drop(permit);
            if let Some(done) = retry.finish_or_backoff(done).await {
                return done;
            }
        }
    }

    async fn stored_bytes(&self, project: &ProjectRef) -> Result<u64, StoreError> {
        self.runner(project, &self.table_scope(project)).stored_bytes().await
    }

    async fn pending_outboxes(&self) -> Result<Vec<ProjectRef>, StoreError> {
        let mut conn = self.pool.acquire(None).await?;
        let done = outbox::list_projects(&mut conn.connection).await;
        conn.release(done).await
    }

    async fn read_outbox(&self, project: &ProjectRef) -> Result<Vec<OutboxRecord>, StoreError> {
        let mut conn = self.pool.acquire(Some(project)).await?;
        let done = outbox::read_oldest(&mut conn.connection, project).await;
        conn.release(done).await
    }

    async fn clear_outbox(&self, project: &ProjectRef, ids: Vec<String>) -> Result<(), StoreError> {
        let mut conn = self.pool.acquire(Some(project)).await?;
        let done = outbox::clear(&mut conn.connection, project, &ids).await;
        conn.release(done).await
    }
}
