//! A fresh database for each test: SQLite in the server's data directory, or a PostgreSQL database. Each is a copy of a migrated
//! template.

use std::{
    env, fs,
    path::Path,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    thread,
};

use anyhow::{Context as _, Result, bail, ensure};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, SqliteConnection};
use tokio::sync::OnceCell;
use url::Url;

/// The database of a server's control plane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    /// Embedded, in the server's data directory.
    Sqlite,
    /// A new database in the cluster of `QALA_TEST_POSTGRES_URL`, cloned from a migrated template.
    Postgres,
    /// The URL of an existing database, which is kept afterwards; for load tests.
    Existing(String),
}

/// Name of the embedded database in a data directory.
pub(crate) const SQLITE_FILE: &str = "qala.db";
/// Advisory lock that serialises the creation of the template among test programs. The number is arbitrary.
const TEMPLATE_LOCK: i64 = 0x51A1_A000;

/// A database in the test cluster; dropping it drops the database.
#[derive(Debug)]
pub(crate) struct PostgresDatabase {
    cluster: Url,
    name: String,
}

impl PostgresDatabase {
    pub(crate) async fn create(qala: &Path) -> Result<Self> {
        static TEMPLATE: OnceCell<String> = OnceCell::const_new();
        static COUNT: AtomicU32 = AtomicU32::new(0);

        let cluster = cluster_url()?;
        let template = TEMPLATE.get_or_try_init(|| create_template(&cluster, qala)).await?;
        let name = format!("qala_test_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let mut connection = connect(&cluster).await?;
        // A cluster that outlives a test run may hold the database of a killed process with the same id.
        execute_statement(&mut connection, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await?;
        // A test cluster does not sync, so copying files takes a tenth of the time of writing blocks to the WAL.
        let clone = format!("CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY");
        execute_statement(&mut connection, clone).await?;
        connection.close().await?;
        Ok(Self { cluster, name })
    }

    pub(crate) fn url(&self) -> String {
        database_url(&self.cluster, &self.name)
    }
}

impl Drop for PostgresDatabase {
    fn drop(&mut self) {
        let statement = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let cluster = self.cluster.clone();
        // The test's runtime may be shutting down, so this uses another one.
        let dropping = thread::spawn(move || -> Result<()> {
            tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
                let mut connection = connect(&cluster).await?;
                execute_statement(&mut connection, statement).await
            })
        });
        // If it fails, the database is removed with the cluster.
        let _ = dropping.join();
    }
}

fn cluster_url() -> Result<Url> {
    let url = env::var("QALA_TEST_POSTGRES_URL")
        .context("this test needs PostgreSQL (QALA_TEST_POSTGRES_URL is not set): run `cargo xtask test`")?;
    url.parse().context("QALA_TEST_POSTGRES_URL is not a URL")
}

async fn connect(cluster: &Url) -> Result<PgConnection> {
    PgConnection::connect(cluster.as_str()).await.with_context(|| format!("cannot connect to {cluster}"))
}

async fn execute_statement(connection: &mut PgConnection, statement: String) -> Result<()> {
    // Safe: every name in these statements is built here from letters, digits and underscores.
    connection.execute(AssertSqlSafe(statement)).await?;
    Ok(())
}

fn database_url(cluster: &Url, name: &str) -> String {
    let mut url = cluster.clone();
    url.set_path(name);
    url.into()
}

/// Creates the migrated template, once per cluster and build of the binary, and returns its name.
async fn create_template(cluster: &Url, qala: &Path) -> Result<String> {
    let template = template_name(qala)?;
    let mut connection = connect(cluster).await?;
    sqlx::query("SELECT pg_advisory_lock($1)").bind(TEMPLATE_LOCK).execute(&mut connection).await?;
    let exists = sqlx::query_scalar::<_, bool>("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
        .bind(&template)
        .fetch_one(&mut connection)
        .await?;
    if !exists {
        // It is renamed when it is complete, so that a failed migration leaves nothing that looks like a template.
        let unfinished = format!("{template}_unfinished");
        execute_statement(&mut connection, format!("DROP DATABASE IF EXISTS {unfinished} WITH (FORCE)"))
            .await?;
        execute_statement(&mut connection, format!("CREATE DATABASE {unfinished}")).await?;
        migrate(qala, database_url(cluster, &unfinished)).await?;
        execute_statement(&mut connection, format!("ALTER DATABASE {unfinished} RENAME TO {template}"))
            .await?;
    }
    // Closing the session releases the lock.
    connection.close().await?;
    Ok(template)
}

/// Puts a migrated database into the data directory of a server that has not started yet. The first start would bring an empty
/// one up to date, in half of the processor time of such a start.
pub(crate) async fn create_sqlite_database(qala: &Path, data_dir: &Path) -> Result<()> {
    static TEMPLATE: OnceCell<Vec<u8>> = OnceCell::const_new();
    let template = TEMPLATE.get_or_try_init(|| read_sqlite_template(qala)).await?;
    fs::write(data_dir.join(SQLITE_FILE), template).context("cannot write the database of a test")
}

/// Migrates a database and returns its file.
async fn read_sqlite_template(qala: &Path) -> Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join(SQLITE_FILE);
    let url = format!("sqlite://{}", file.display());
    migrate(qala, url.clone()).await?;
    // A process that ends may leave a part in the log, which goes into the file with the last connection.
    let mut connection = SqliteConnection::connect(&url).await?;
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").await?;
    connection.close().await?;
    let files = fs::read_dir(folder.path())?.count();
    ensure!(files == 1, "the migrated database is not in one file");
    Ok(fs::read(file)?)
}

async fn migrate(qala: &Path, url: String) -> Result<()> {
    let mut command = Command::new(qala);
    command.args(["migrate", "--database-url"]).arg(url);
    let output =
        tokio::task::spawn_blocking(move || command.output()).await?.context("cannot start qala migrate")?;
    if !output.status.success() {
        let log = [output.stdout, output.stderr].concat();
        bail!("qala migrate ended with {}:\n{}", output.status, String::from_utf8_lossy(&log));
    }
    Ok(())
}

/// Returns a name that identifies the build, since another build may have other migrations.
fn template_name(qala: &Path) -> Result<String> {
    let metadata = qala.metadata().with_context(|| format!("no qala binary at {}", qala.display()))?;
    let built = metadata.modified()?.duration_since(std::time::UNIX_EPOCH)?;
    Ok(format!("qala_template_{:x}_{:x}", built.as_nanos(), metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_names_the_database_in_its_path() {
        let cluster = "postgres://postgres@127.0.0.1:5432/postgres".parse().unwrap();
        assert_eq!(database_url(&cluster, "qala_test_1"), "postgres://postgres@127.0.0.1:5432/qala_test_1");
    }

    #[test]
    fn the_name_of_a_template_identifies_its_build() {
        let folder = tempfile::tempdir().unwrap();
        let binary = folder.path().join("qala");
        std::fs::write(&binary, "one").unwrap();
        let one = template_name(&binary).unwrap();
        std::fs::write(&binary, "another").unwrap();
        assert_ne!(template_name(&binary).unwrap(), one);
        assert!(one.len() < 50 && one.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{one}");
    }
}
