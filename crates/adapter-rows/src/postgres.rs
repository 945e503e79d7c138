//! One PostgreSQL schema a project.
//!
//! Several processes may share the database. The catalog of each project is a row of our own table; every
//! statement says in the same round trip whether it ran under the catalog it was made for. Names are always
//! qualified and no session state is kept, so that transaction poolers work.

mod answer;
mod bind;
mod run;

use std::{str::FromStr, time::Duration};

use async_trait::async_trait;
use backend_data::{
    Catalog, Dialect, ProjectRef, RowStore, StoreError,
    store::{Answer, Place, Read, SchemaChange, Write},
};
use sha2::{Digest, Sha256};
use sqlx::{
    AssertSqlSafe, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use run::failed;

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
            lifetime: Duration::from_secs(30 * 60),
        }
    }
}

/// A store of one PostgreSQL schema a project. Every shard is in the one database it was opened with.
#[derive(Clone, Debug)]
pub struct PgRows {
    pool: PgPool,
}

/// Serialises the making of our own tables among processes; any fixed number does.
const SETUP_LOCK: i64 = 0x7161_6c61_726f_7773;

const SETUP: &str = "\
    CREATE SCHEMA IF NOT EXISTS \"qala_rows\"; \
    CREATE TABLE IF NOT EXISTS \"qala_rows\".\"catalog\" (\
        \"project\" text COLLATE \"C\" PRIMARY KEY, \"version\" bigint NOT NULL, \"body\" text NOT NULL)";

impl PgRows {
    /// Connects, and makes the tables of this crate where there are none.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when the address is wrong or the database does not answer.
    pub async fn connect(options: &PgOptions) -> Result<Self, StoreError> {
        let limit = options.statement_limit.as_millis().to_string();
        let connect = PgConnectOptions::from_str(&options.url)
            .map_err(|error| StoreError::Unavailable(error.into()))?
            .application_name("qala-rows")
            .options([("statement_timeout", limit.as_str()), ("lock_timeout", limit.as_str())]);
        let pool = PgPoolOptions::new()
            .max_connections(options.connections)
            .acquire_timeout(options.wait_limit)
            .max_lifetime(options.lifetime)
            .connect_with(connect)
            .await
            .map_err(failed)?;
        let mut transaction = pool.begin().await.map_err(failed)?;
        sqlx::query("SELECT pg_advisory_xact_lock($1)")
            .bind(SETUP_LOCK)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        sqlx::raw_sql(SETUP).execute(&mut *transaction).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)?;
        Ok(Self { pool })
    }

    /// Closes every connection.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// The schema of a project, within PostgreSQL's 63 bytes.
fn schema(project: &ProjectRef) -> String {
    const WHOLE: usize = 56;
    let id = project.id.as_str();
    if id.len() <= WHOLE {
        return format!("data_{id}");
    }
    // Longer than any whole one, so that the two kinds cannot meet.
    let digest: String = Sha256::digest(id).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("data_{}_{digest}", id.get(..24).unwrap_or_default())
}

#[async_trait]
impl RowStore for PgRows {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn place(&self, project: &ProjectRef) -> Place {
        let id = &project.id;
        Place {
            prefix: format!("\"{}\".", schema(project)),
            // The id's alphabet has no quote.
            guard: Some(format!(
                "(SELECT \"version\" FROM \"qala_rows\".\"catalog\" WHERE \"project\" = '{id}')"
            )),
        }
    }

    async fn create_project(&self, project: &ProjectRef) -> Result<(), StoreError> {
        // Versions begin at the time, so that a project made again never repeats those of its predecessor.
        sqlx::query(
            "INSERT INTO \"qala_rows\".\"catalog\" \
             VALUES ($1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, '{\"tables\":[]}') \
             ON CONFLICT DO NOTHING",
        )
        .bind(project.id.as_str())
        .execute(&self.pool)
        .await
        .map_err(failed)?;
        Ok(())
    }

    async fn drop_project(&self, project: &ProjectRef) -> Result<(), StoreError> {
        let mut transaction = self.pool.begin().await.map_err(failed)?;
        sqlx::query("DELETE FROM \"qala_rows\".\"catalog\" WHERE \"project\" = $1")
            .bind(project.id.as_str())
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
        let drop = format!("DROP SCHEMA IF EXISTS \"{}\" CASCADE", schema(project));
        sqlx::raw_sql(AssertSqlSafe(drop)).execute(&mut *transaction).await.map_err(failed)?;
        transaction.commit().await.map_err(failed)
    }

    async fn catalog(&self, project: &ProjectRef) -> Result<Option<Catalog>, StoreError> {
        let found: Option<(i64, String)> = sqlx::query_as(
            "SELECT \"version\", \"body\" FROM \"qala_rows\".\"catalog\" WHERE \"project\" = $1",
        )
        .bind(project.id.as_str())
        .fetch_optional(&self.pool)
        .await
        .map_err(failed)?;
        let Some((version, body)) = found else { return Ok(None) };
        let version = u64::try_from(version).map_err(run::internal)?;
        Catalog::from_json(version, &body).map(Some).map_err(run::internal)
    }

    async fn change(&self, project: &ProjectRef, change: SchemaChange) -> Result<(), StoreError> {
        let mut transaction = self.pool.begin().await.map_err(failed)?;
        // First the row of the catalog: two changes of one project wait for each other here.
        let signed = |version| i64::try_from(version).map_err(run::internal);
        let replaced = sqlx::query(
            "UPDATE \"qala_rows\".\"catalog\" SET \"version\" = $1, \"body\" = $2 \
             WHERE \"project\" = $3 AND \"version\" = $4",
        )
        .bind(signed(change.catalog.version)?)
        .bind(change.catalog.to_json().map_err(run::internal)?)
        .bind(project.id.as_str())
        .bind(signed(change.from_version)?)
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
        if replaced.rows_affected() != 1 {
            return Err(StoreError::Stale);
        }
        let make = format!("CREATE SCHEMA IF NOT EXISTS \"{}\"", schema(project));
        let make = (!change.statements.is_empty()).then_some(make);
        for statement in make.into_iter().chain(change.statements) {
            let done = sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut *transaction).await;
            done.map_err(|error| match run::sqlstate(&error).as_deref() {
                // A column that is not nullable, added to a table with rows.
                Some("23502") => StoreError::TableNotEmpty,
                _ => failed(error),
            })?;
        }
        transaction.commit().await.map_err(failed)
    }

    async fn read(&self, project: &ProjectRef, read: Read) -> Result<Answer, StoreError> {
        run::read(&self.pool, &self.place(project), read).await
    }

    async fn write(&self, project: &ProjectRef, write: Write) -> Result<Answer, StoreError> {
        run::write(&self.pool, &self.place(project), write).await
    }

    async fn write_all(&self, project: &ProjectRef, writes: Vec<Write>) -> Result<Vec<Answer>, StoreError> {
        run::write_all(&self.pool, &self.place(project), &writes).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_names_fit_and_differ() {
        let name = |id: &str| schema(&ProjectRef::new(id.parse().unwrap(), 0));
        let (a, b) = (format!("{}a", "x".repeat(63)), format!("{}b", "x".repeat(63)));
        assert_eq!(name("proj_1"), "data_proj_1");
        assert_ne!(name(&a), name(&b));
        assert!(name(&a).len() <= 63 && name(&"y".repeat(56)).len() < name(&a).len());
    }
}
