//! Opening the databases.
//! See `docs/decisions/0080-build-sqlite-without-shared-caches.md`.

use std::{path::Path, time::Duration};

use kernel::StoreError;
use migrations::{SchemaError, SchemaStatus};
use sea_orm::{DatabaseConnection, DbBackend, SqlxPostgresConnector, SqlxSqliteConnector};
use sqlx::{
    ConnectOptions as _, Connection as _, PgConnection, PgPool, Row as _,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use tokio::time::timeout;

use crate::{
    error::{OrStoreError as _, store_error},
    pool::{ACQUIRE_TIMEOUT, BUSY_TIMEOUT, Connections, STATEMENT_CACHE_CAPACITY, WAL_AUTOCHECKPOINT_PAGES},
};

/// Location of the control plane's data.
#[derive(Debug, Clone)]
pub enum DatabaseUrl {
    /// A file.
    Sqlite(std::path::PathBuf),
    /// A server.
    Postgres(Box<PgConnectOptions>),
}

/// Reasons why a database URL is invalid.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseUrlError {
    /// The scheme is neither `sqlite://` nor `postgres://`.
    #[error("it must start with sqlite:// or postgres://")]
    UnknownScheme,
    /// The part after the scheme is invalid.
    #[error("it is malformed: {0}")]
    Malformed(String),
}

impl std::str::FromStr for DatabaseUrl {
    type Err = DatabaseUrlError;

    fn from_str(text: &str) -> Result<Self, DatabaseUrlError> {
        if let Some(path) = text.strip_prefix("sqlite://") {
            let path = path.split('?').next().unwrap_or_default();
            if path.is_empty() {
                return Err(DatabaseUrlError::Malformed("the path is missing".to_owned()));
            }
            return Ok(Self::Sqlite(path.into()));
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            // The text may hold a password: the error names the place and not the text.
            let options = text.parse::<PgConnectOptions>().map_err(|error| match error {
                sqlx::Error::Configuration(error) => DatabaseUrlError::Malformed(error.to_string()),
                _ => DatabaseUrlError::Malformed("it does not parse".to_owned()),
            })?;
            return Ok(Self::Postgres(Box::new(options)));
        }
        Err(DatabaseUrlError::UnknownScheme)
    }
}

/// Lifetime of a PostgreSQL connection. A backend that has touched many tables grows; a new one now and then keeps it
/// small.
pub(crate) const MAX_LIFETIME: Duration = Duration::from_secs(30 * 60);
/// Connections of the pool on PostgreSQL. With those of the group commit's writers there are sixteen.
const POSTGRES_POOL_SIZE: u32 = 12;
/// Idle time after which a connection is pinged before it is used.
const PING_AFTER_IDLE: Duration = Duration::from_secs(1);
/// Key of the advisory lock that serialises migrations of several nodes. The number means nothing.
const MIGRATION_LOCK_KEY: i64 = 7_420_742_074_207_420;

/// Behaviour when there is no database file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfMissing {
    Create,
    Fail,
}

pub(crate) async fn connect(url: &DatabaseUrl, missing: IfMissing) -> Result<Connections, StoreError> {
    match url {
        DatabaseUrl::Sqlite(path) => connect_sqlite(path, missing).await,
        DatabaseUrl::Postgres(options) => connect_postgres(options).await,
    }
}

async fn connect_sqlite(path: &Path, missing: IfMissing) -> Result<Connections, StoreError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if missing == IfMissing::Fail && !path.exists() {
        return Err(StoreError::Unavailable(format!("there is no database at {}", path.display()).into()));
    }
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(StoreError::Unavailable(format!("there is no directory {}", folder.display()).into()));
    }
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(missing == IfMissing::Create)
        .journal_mode(SqliteJournalMode::Wal)
        // What was answered with success is on the disk.
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true)
        .pragma("cache_size", "-4096")
        .pragma("temp_store", "memory")
        // Other writes must not make checkpoints for the group commit while they hold the write lock.
        .pragma("wal_autocheckpoint", WAL_AUTOCHECKPOINT_PAGES.to_string())
        .optimize_on_close(true, None)
        .statement_cache_capacity(STATEMENT_CACHE_CAPACITY)
        .disable_statement_logging();
    let pool = || {
        SqlitePoolOptions::new()
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
    };
    let unavailable = |error: sqlx::Error| StoreError::Unavailable(error.into());
    let write = pool().max_connections(1).connect_with(options.clone()).await.map_err(unavailable)?;
    let readers = options.pragma("query_only", "on");
    let read = pool().max_connections(4).connect_with(readers).await.map_err(unavailable)?;
    Ok(Connections {
        write: SqlxSqliteConnector::from_sqlx_sqlite_pool(write),
        read: SqlxSqliteConnector::from_sqlx_sqlite_pool(read),
    })
}

async fn connect_postgres(options: &PgConnectOptions) -> Result<Connections, StoreError> {
    let options = session_options(options);
    let server = server_address(&options);
    let pool = PgPoolOptions::new()
        .max_connections(POSTGRES_POOL_SIZE)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .max_lifetime(MAX_LIFETIME)
        // A sign of life before every use would be a round trip each time.
        .test_before_acquire(false)
        .before_acquire(|connection, known| {
            Box::pin(async move {
                if known.idle_for > PING_AFTER_IDLE {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        .connect_with(options)
        .await
        .map_err(|error| no_answer(&server, error))?;
    refuse_transaction_pooler(&pool, &server).await?;
    let connection = SqlxPostgresConnector::from_sqlx_postgres_pool(pool);
    Ok(Connections { write: connection.clone(), read: connection })
}

/// Fails if two open connections share a process of the server, or one changes its process: a pooler then gives each transaction
/// a session of its choice, in which neither locks nor prepared statements nor settings stay. One that has a session for each
/// connection is not noticed, and does no harm.
async fn refuse_transaction_pooler(pool: &PgPool, server: &str) -> Result<(), StoreError> {
    let (mut one, mut other) =
        (pool.acquire().await.or_store_error()?, pool.acquire().await.or_store_error()?);
    let before = session_process(&mut one).await?;
    if before != session_process(&mut other).await? && before == session_process(&mut one).await? {
        return Ok(());
    }
    let what = format!(
        "{server} is a transaction pooler: connect to PostgreSQL itself, or to a pooler in session mode. The rows may stay \
         behind a transaction pooler (--rows-url)"
    );
    Err(StoreError::Unavailable(what.into()))
}

/// Returns the process that serves a connection. The statement is not prepared, so that it works behind every pooler.
async fn session_process(connection: &mut PgConnection) -> Result<i32, StoreError> {
    let row = sqlx::raw_sql("SELECT pg_backend_pid()").fetch_one(connection).await.or_store_error()?;
    row.try_get(0).or_store_error()
}

/// Opens a connection that is not one of the pool's.
pub(crate) async fn connect_postgres_writer(options: &PgConnectOptions) -> Result<PgConnection, StoreError> {
    let options = session_options(options).application_name("qala writer");
    let server = server_address(&options);
    match timeout(ACQUIRE_TIMEOUT, PgConnection::connect_with(&options)).await {
        Ok(connected) => connected.map_err(|error| no_answer(&server, error)),
        Err(elapsed) => Err(no_answer(&server, elapsed)),
    }
}

fn session_options(options: &PgConnectOptions) -> PgConnectOptions {
    let options = options.clone().application_name("qala");
    options.statement_cache_capacity(STATEMENT_CACHE_CAPACITY).disable_statement_logging()
}

fn server_address(options: &PgConnectOptions) -> String {
    format!("{}:{}", options.get_host(), options.get_port())
}

/// "Pool timed out" does not say which server was called.
fn no_answer(server: &str, error: impl std::fmt::Display) -> StoreError {
    StoreError::Unavailable(format!("PostgreSQL at {server} does not answer: {error}").into())
}

/// Brings the schema up to date; returns the number of migrations that took.
///
/// Several nodes may start at once on PostgreSQL: a session lock lets one of them migrate while the others wait.
pub(crate) async fn migrate(connections: &Connections) -> Result<usize, StoreError> {
    let schema = load_schema_status(&connections.read).await?;
    if !schema.unknown_migrations().is_empty() {
        tracing::warn!(
            migrations = %schema.unknown_migrations().join(", "),
            "a newer version migrated this database; its migrations only add, so this one runs on"
        );
    }
    if schema.pending_count() == 0 {
        return Ok(0);
    }
    let db = &connections.write;
    if db.get_database_backend() != DbBackend::Postgres {
        return apply_pending_migrations(db).await;
    }
    let pool = db.get_postgres_connection_pool();
    let mut lock = pool.acquire().await.map_err(|error| StoreError::Unavailable(error.into()))?;
    let failed = |error: sqlx::Error| StoreError::Failed(error.into());
    sqlx::query("SELECT pg_advisory_lock($1)")
        .bind(MIGRATION_LOCK_KEY)
        .execute(&mut *lock)
        .await
        .map_err(failed)?;
    let migrated = apply_pending_migrations(db).await;
    sqlx::query("SELECT pg_advisory_unlock($1)")
        .bind(MIGRATION_LOCK_KEY)
        .execute(&mut *lock)
        .await
        .map_err(failed)?;
    migrated
}

async fn apply_pending_migrations(db: &DatabaseConnection) -> Result<usize, StoreError> {
    // Another node may have run them while this one waited.
    let schema = load_schema_status(db).await?;
    schema.migrate(db).await.or_store_error()?;
    Ok(schema.pending_count())
}

async fn load_schema_status(db: &DatabaseConnection) -> Result<SchemaStatus, StoreError> {
    SchemaStatus::load(db).await.map_err(|error| match error {
        SchemaError::Database(error) => store_error(error),
        too_new @ SchemaError::TooNew { .. } => StoreError::Failed(too_new.into()),
    })
}

/// Fails unless this program can run on the schema and has nothing to do to it. Writes nothing.
pub(crate) async fn check_schema(connections: &Connections) -> Result<(), StoreError> {
    match load_schema_status(&connections.read).await?.pending_count() {
        0 => Ok(()),
        pending => {
            let what = format!("{pending} migrations are pending: run `qala migrate`, or start the server");
            Err(StoreError::Unavailable(what.into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_its_database() {
        assert!(
            matches!("sqlite:///var/q.db".parse(), Ok(DatabaseUrl::Sqlite(path)) if path == Path::new("/var/q.db"))
        );
        assert!(
            matches!("sqlite://q.db?x=1".parse(), Ok(DatabaseUrl::Sqlite(path)) if path == Path::new("q.db"))
        );
        assert!(matches!("postgres://u:p@h/d".parse(), Ok(DatabaseUrl::Postgres(_))));
        for bad in ["", "sqlite://", "mysql://h/d", "q.db"] {
            assert!(bad.parse::<DatabaseUrl>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_malformed_url_does_not_repeat_its_password() {
        let error = "postgres://u:hunter2@h:notaport/d".parse::<DatabaseUrl>().unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}
