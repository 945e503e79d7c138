//! One PostgreSQL schema a project.
//!
//! Several processes may share the database. The catalog of each project is a row of our own table; every
//! statement says in the same round trip whether it ran under the catalog it was made for. Names are always
//! qualified, and behind a transaction pooler no state of a session is relied on, prepared statements neither.

mod answer;
mod bind;
mod contention;
mod lookup;
mod outbox;
mod pool;
mod run;
mod schema;
mod stored;
mod together;

use std::{str::FromStr, sync::Arc, time::Duration};

use async_trait::async_trait;
use backend_data::{
    Catalog, Dialect, ProjectRef, RowStore, StoreError,
    store::{Answer, Import, OutboxRecord, Place, Read, SchemaChange, Write},
};
use sqlx::{Connection as _, PgConnection, Row as _, postgres::PgConnectOptions};

use contention::Contention;
use pool::Pool;
use run::{Runner, failed};
use stored::Stored;
use together::Lookups;

/// How a [`PgRows`] works.
#[derive(Clone, Debug)]
pub struct PgOptions {
    /// Where the database is: `postgres://…`
    pub url: String,
    /// How many connections are open at most.
    pub connections: u32,
    /// How long one statement may take.
    pub statement_limit: Duration,
    /// How long a request waits for a connection.
    pub wait_limit: Duration,
    /// Whether the address is a transaction pooler's, which keeps no setting of a session: then each statement is
    /// prepared and has its time limit set in a transaction of its own, which costs round trips. Found out where it is
    /// not said.
    pub pooled: bool,
    /// How long a connection lives. A server process remembers every table it touched; this lets it forget.
    pub lifetime: Duration,
}

impl PgOptions {
    /// The usual options for a database.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            connections: 16,
            statement_limit: Duration::from_secs(5),
            wait_limit: Duration::from_secs(5),
            pooled: false,
            lifetime: Duration::from_secs(30 * 60),
        }
    }
}

/// A store of one PostgreSQL schema a project. Every shard is in the one database it was opened with.
#[derive(Clone, Debug)]
pub struct PgRows {
    pool: Pool,
    /// What sets the time limit of a transaction, where the session does not have it.
    limit: Option<Arc<str>>,
    lookups: Lookups,
    contention: Contention,
    stored: Stored,
    /// The time within which a write may be retried.
    patience: Duration,
}

/// Serialises the making of our own tables among processes; any fixed number does.
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
    /// Connects, and makes the tables of this crate where there are none.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the address is wrong or the database does not answer.
    pub async fn connect(options: &PgOptions) -> Result<Self, StoreError> {
        let plain = PgConnectOptions::from_str(&options.url)
            .map_err(|error| StoreError::Unavailable(error.into()))?
            .application_name("qala-rows");
        let limit = options.statement_limit.as_millis().to_string();
        // Half of it for a lock, so that a write that waits for another is run again rather than given up.
        let wait = (options.statement_limit / 2).as_millis().max(1).to_string();
        let limited =
            plain.clone().options([("statement_timeout", limit.as_str()), ("lock_timeout", wait.as_str())]);
        let pooled = options.pooled || !keeps_limit(&limited, &limit).await?;
        let pool = Pool::new(if pooled { plain } else { limited }, options);
        let set = || format!("SET LOCAL statement_timeout = {limit}; SET LOCAL lock_timeout = {wait}").into();
        let limit = pooled.then(set);
        let mut lent = pool.take(None).await?;
        let done = set_up(&mut lent.connection).await;
        lent.settle(done).await?;
        let (lookups, contention, stored) = (Lookups::default(), Contention::default(), Stored::default());
        Ok(Self { pool, limit, lookups, contention, stored, patience: options.statement_limit * 2 })
    }

    /// Where statements run.
    fn runner<'s>(&'s self, project: &'s ProjectRef, place: &'s Place) -> Runner<'s> {
        Runner { pool: &self.pool, place, project, limit: self.limit.as_ref(), stored: &self.stored }
    }

    /// Closes every connection.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// Makes the tables of this crate where there are none.
async fn set_up(connection: &mut PgConnection) -> Result<(), StoreError> {
    let mut transaction = connection.begin().await.map_err(failed)?;
    let lock = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(SETUP_LOCK).persistent(false);
    lock.execute(&mut *transaction).await.map_err(failed)?;
    sqlx::raw_sql(SETUP).execute(&mut *transaction).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)
}

/// Whether a session keeps the time limit it is opened with. A transaction pooler refuses it, or passes over it.
async fn keeps_limit(options: &PgConnectOptions, limit: &str) -> Result<bool, StoreError> {
    let mut connection = match PgConnection::connect_with(options).await {
        Ok(connection) => connection,
        // A protocol violation is what poolers call a parameter that they do not pass on.
        Err(error) if run::sqlstate(&error).as_deref() == Some("08P01") => return Ok(false),
        Err(error) => return Err(failed(error)),
    };
    let setting = "SELECT setting FROM pg_settings WHERE name = 'statement_timeout'";
    let kept = sqlx::raw_sql(setting).fetch_optional(&mut connection).await.map_err(failed)?;
    let kept: Option<String> = kept.map(|row| row.try_get(0)).transpose().map_err(failed)?;
    // Whether it says goodbye in order is of no matter.
    let _ = connection.close().await;
    Ok(kept.as_deref() == Some(limit))
}

#[async_trait]
impl RowStore for PgRows {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn place(&self, project: &ProjectRef) -> Place {
        let id = &project.id;
        Place {
            prefix: format!("\"{}\".", schema::name(project)),
            // The id's alphabet has no quote.
            guard: Some(format!(
                "(SELECT \"version\" FROM \"qala_rows\".\"catalog\" WHERE \"project\" = '{id}')"
            )),
        }
    }

    async fn create_project(&self, project: &ProjectRef) -> Result<(), StoreError> {
        let mut lent = self.pool.take(Some(&project.id)).await?;
        let done = schema::create(&mut lent.connection, project).await;
        lent.settle(done).await
    }

    async fn drop_project(&self, project: &ProjectRef) -> Result<(), StoreError> {
        self.stored.forget(project);
        let mut lent = self.pool.take(Some(&project.id)).await?;
        let done = schema::delete(&mut lent.connection, project).await;
        lent.settle(done).await
    }

    async fn catalog(&self, project: &ProjectRef) -> Result<Option<Catalog>, StoreError> {
        self.runner(project, &self.place(project)).catalog(project).await
    }

    async fn change(&self, project: &ProjectRef, change: SchemaChange) -> Result<(), StoreError> {
        let mut lent = self.pool.take(Some(&project.id)).await?;
        let place = self.place(project);
        let done = async {
            let runner = self.runner(project, &place);
            runner.has_room(&mut lent.connection, change.max_stored, 0).await?;
            schema::change(&mut lent.connection, project, change).await
        };
        let done = done.await;
        self.stored.forget(project);
        lent.settle(done).await
    }

    async fn read(&self, project: &ProjectRef, read: Read) -> Result<Answer, StoreError> {
        if read.point.is_some() {
            let place = || self.place(project);
            return self
                .lookups
                .read((&self.pool, project, &self.stored), self.limit.as_ref(), place, read)
                .await;
        }
        self.runner(project, &self.place(project)).read(&read).await
    }

    async fn write(&self, project: &ProjectRef, write: Write) -> Result<Answer, StoreError> {
        let place = self.place(project);
        let mut tries = self.contention.tries(project, !write.single, self.patience);
        loop {
            let turn = tries.turn().await;
            let done = self.runner(project, &place).write(&write).await;
            drop(turn);
            if let Some(done) = tries.judge(done).await {
                return done;
            }
        }
    }

    async fn write_all(&self, project: &ProjectRef, writes: Vec<Write>) -> Result<Vec<Answer>, StoreError> {
        let place = self.place(project);
        let mut tries = self.contention.tries(project, true, self.patience);
        loop {
            let turn = tries.turn().await;
            let done = self.runner(project, &place).write_all(&writes).await;
            drop(turn);
            if let Some(done) = tries.judge(done).await {
                return done;
            }
        }
    }

    async fn import(&self, project: &ProjectRef, import: Import) -> Result<u64, StoreError> {
        let place = self.place(project);
        let mut tries = self.contention.tries_of_import(project, self.patience);
        loop {
            let turn = tries.turn().await;
            let done = self.runner(project, &place).import(&import).await;
            drop(turn);
            if let Some(done) = tries.judge(done).await {
                return done;
            }
        }
    }

    async fn stored_bytes(&self, project: &ProjectRef) -> Result<u64, StoreError> {
        self.runner(project, &self.place(project)).stored().await
    }

    async fn outboxes(&self) -> Result<Vec<ProjectRef>, StoreError> {
        let mut lent = self.pool.take(None).await?;
        let done = outbox::holders(&mut lent.connection).await;
        lent.settle(done).await
    }

    async fn outbox(&self, project: &ProjectRef) -> Result<Vec<OutboxRecord>, StoreError> {
        let mut lent = self.pool.take(Some(&project.id)).await?;
        let done = outbox::oldest(&mut lent.connection, project).await;
        lent.settle(done).await
    }

    async fn clear_outbox(&self, project: &ProjectRef, ids: Vec<String>) -> Result<(), StoreError> {
        let mut lent = self.pool.take(Some(&project.id)).await?;
        let done = outbox::clear(&mut lent.connection, project, &ids).await;
        lent.settle(done).await
    }
}
