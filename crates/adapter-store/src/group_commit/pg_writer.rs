//! The writer of PostgreSQL, with a connection of its own: each statement is prepared once, and its plan does not depend on how
//! full a table was at that moment. See `docs/decisions/0176-give-each-postgresql-writer-a-connection.md`.

use ::group_commit::{BatchWriter, DurabilityWaiter};
use kernel::StoreError;
use sea_orm::{DbBackend, Value};
use sqlx::{AssertSqlSafe, Executor as _, PgConnection, postgres::PgConnectOptions};
use tokio::{sync::Mutex, time::Instant};

use super::{
    app_health::ObservationCache,
    batch::{Batch, BatchOutcome, WriteOp},
    pg_params::to_arguments,
    replies::{Replies, clone_error},
};
use crate::{
    connect::{self, MAX_LIFETIME},
    error::OrStoreError as _,
    sql::{SqlExecutor, SqlRow},
};

/// Maximum number of attempts at a batch that the database gives up in favour of another transaction.
const MAX_ATTEMPTS: u32 = 4;
/// Settings under which the writer's statements find their rows by an index in every state of the tables. A plan is kept, and
/// one that was made for an empty queue reads all of it once it is long.
const PLAN_SETTINGS: &str = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off";

/// The writer on PostgreSQL.
pub(super) struct PgWriter {
    options: PgConnectOptions,
    /// `None` before the first batch, and after an error that may have left a transaction open.
    connection: Option<WriterConnection>,
    replies: Replies,
    observation_cache: ObservationCache,
}

/// Reason why a batch was not written.
enum Failure {
    /// Nothing was written.
    BeforeCommit(StoreError),
    /// The database did not confirm the commit. If it did not say why, the batch may have been written.
    AtCommit(StoreError),
}

impl Failure {
    fn into_error(self) -> StoreError {
        match self {
            Self::BeforeCommit(error) | Self::AtCommit(error) => error,
        }
    }
}

impl PgWriter {
    /// Returns a writer that connects when it writes for the first time.
    pub(super) fn new(options: PgConnectOptions, replies: Replies) -> Self {
        Self { options, connection: None, replies, observation_cache: ObservationCache::default() }
    }

    /// Takes the connection, or opens one. Whoever leaves the transaction of a batch closed puts it back.
    async fn take_connection(&mut self) -> Result<WriterConnection, StoreError> {
        match self.connection.take() {
            Some(connection) if connection.opened_at.elapsed() < MAX_LIFETIME => Ok(connection),
            _ => WriterConnection::open(&self.options).await,
        }
    }

    async fn write_once(&mut self, batch: &Batch<'_>) -> Result<BatchOutcome, Failure> {
        let connection = self.take_connection().await.map_err(Failure::BeforeCommit)?;
        let idle = batch.outcome_if_idle(&connection).await.map_err(Failure::BeforeCommit)?;
        if let Some(written) = idle {
            self.connection = Some(connection);
            return Ok(written);
        }
        connection.control("BEGIN").await.map_err(Failure::BeforeCommit)?;
        match batch.perform(&connection, None, &self.observation_cache, &self.replies.slots).await {
            Ok(written) => {
                connection.control("COMMIT").await.map_err(Failure::AtCommit)?;
                self.connection = Some(connection);
                Ok(written)
            }
            Err(error) => {
                // A connection that is dropped takes its transaction with it.
                if !Self::is_unavailable(&error) && connection.control("ROLLBACK").await.is_ok() {
                    self.connection = Some(connection);
                }
                Err(Failure::BeforeCommit(error))
            }
        }
    }

    /// Writes a batch, again if the database gave it up in favour of another transaction. The other transaction goes on, so
    /// this one needs no pause to get its turn. A connection that is cut before the commit is replaced once: it may have been
    /// cut while nothing was written.
    async fn write_repeatedly(&mut self, batch: &Batch<'_>) -> Result<BatchOutcome, StoreError> {
        let mut is_replaced = false;
        let mut attempt = 1;
        loop {
            let had_connection = self.connection.is_some();
            let failure = match self.write_once(batch).await {
                Ok(written) => return Ok(written),
                Err(failure) => failure,
            };
            match &failure {
                Failure::BeforeCommit(error) | Failure::AtCommit(error)
                    if error.is_retryable() && attempt < MAX_ATTEMPTS =>
                {
                    attempt += 1;
                    tracing::debug!("the database rolled a batch back; trying again");
                }
                Failure::BeforeCommit(error)
                    if had_connection && !is_replaced && Self::is_unavailable(error) =>
                {
                    is_replaced = true;
                    tracing::warn!(
                        error = error as &dyn std::error::Error,
                        "a writer lost its connection; trying again on a new one"
                    );
                }
                _ => return Err(failure.into_error()),
            }
        }
    }
}

impl BatchWriter for PgWriter {
    type Op = WriteOp;
    type Outcome = BatchOutcome;
    type Error = StoreError;

    async fn write(&mut self, ops: &[WriteOp]) -> Result<BatchOutcome, StoreError> {
        let written = self.write_repeatedly(&Batch::from_ops(ops)).await?;
        self.observation_cache.insert_committed(&written.observed);
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
        // PostgreSQL answers a commit once it is.
        waiter(Ok(()));
    }

    fn fail(op: WriteOp, error: &StoreError) {
        op.fail(clone_error(error));
    }

    fn is_unavailable(error: &StoreError) -> bool {
        matches!(error, StoreError::Unavailable(_))
    }
}

/// A connection that one writer has. Statements run one after the other, so the lock is always free.
struct WriterConnection {
    connection: Mutex<PgConnection>,
    opened_at: Instant,
}

impl WriterConnection {
    async fn open(options: &PgConnectOptions) -> Result<Self, StoreError> {
        let connection = connect::connect_postgres_writer(options).await?;
        let opened = Self { connection: Mutex::new(connection), opened_at: Instant::now() };
        opened.control(PLAN_SETTINGS).await?;
        Ok(opened)
    }

    /// Runs statements without values, which are not prepared.
    async fn control(&self, statements: &'static str) -> Result<(), StoreError> {
        self.connection.lock().await.execute(statements).await.or_store_error()?;
        Ok(())
    }
}

impl SqlExecutor for WriterConnection {
    fn backend(&self) -> DbBackend {
        DbBackend::Postgres
    }

    fn takes_arrays(&self) -> bool {
        true
    }

    async fn execute(&self, text: String, values: Vec<Value>) -> Result<u64, StoreError> {
        let statement = sqlx::query_with(AssertSqlSafe(text), to_arguments(values)?);
        let executed = statement.execute(&mut *self.connection.lock().await).await;
        Ok(executed.or_store_error()?.rows_affected())
    }

    async fn fetch_all(&self, text: String, values: Vec<Value>) -> Result<Vec<SqlRow>, StoreError> {
        let statement = sqlx::query_with(AssertSqlSafe(text), to_arguments(values)?);
        let rows = statement.fetch_all(&mut *self.connection.lock().await).await.or_store_error()?;
        Ok(rows.into_iter().map(|row| SqlRow::Pooled(row.into())).collect())
    }
}
