//! A fresh database for each test.

use std::{
    env,
    path::Path,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    thread,
};

use anyhow::{Context as _, Result, bail};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use tokio::sync::OnceCell;
use url::Url;

/// Where a server keeps its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    /// Embedded, in the server's data directory.
    Sqlite,
    /// A database of its own in the cluster of `QALA_TEST_POSTGRES_URL`, cloned from a migrated template.
    Postgres,
    /// An existing database, which is left as it is at the end; for load tests.
    Existing(String),
}

/// Serialises the making of the template among all test programs. The number means nothing.
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
        // A cluster that outlives a test run may hold what a killed program of the same number left.
        execute_statement(&mut connection, format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await?;
        // Nothing waits for the disk in a test cluster, so that copying files costs a tenth of writing blocks to the log.
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
        // The test's own runtime may be on its way out, so this has one of its own.
        let dropping = thread::spawn(move || -> Result<()> {
            tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
                let mut connection = connect(&cluster).await?;
                execute_statement(&mut connection, statement).await
            })
        });
        // What is left behind goes with the cluster.
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
    // Every name in these statements is made here, of letters, digits and underscores.
    connection.execute(AssertSqlSafe(statement)).await?;
    Ok(())
}

fn database_url(cluster: &Url, name: &str) -> String {
    let mut url = cluster.clone();
    url.set_path(name);
    url.into()
}

/// Makes the migrated template, once for a cluster and a build of the binary; returns its name.
async fn create_template(cluster: &Url, qala: &Path) -> Result<String> {
    let template = template_name(qala)?;
    let mut connection = connect(cluster).await?;
    sqlx::query("SELECT pg_advisory_lock($1)").bind(TEMPLATE_LOCK).execute(&mut connection).await?;
    let exists = sqlx::query_scalar::<_, bool>("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
        .bind(&template)
        .fetch_one(&mut connection)
        .await?;
    if !exists {
        // It gets its name when it is whole: a migration that fails leaves nothing that looks like a template.
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

async fn migrate(qala: &Path, url: String) -> Result<()> {
    let mut command = Command::new(qala);
    command.args(["migrate", "--database-url"]).arg(url);
    let output =
        tokio::task::spawn_blocking(move || command.output()).await?.context("cannot start qala migrate")?;
    if !output.status.success() {
        let printed = [output.stdout, output.stderr].concat();
        bail!("qala migrate ended with {}:\n{}", output.status, String::from_utf8_lossy(&printed));
    }
    Ok(())
}

/// Another build may have other migrations, so the name tells builds apart.
fn template_name(qala: &Path) -> Result<String> {
    let metadata = qala.metadata().with_context(|| format!("no qala binary at {}", qala.display()))?;
    let built = metadata.modified()?.duration_since(std::time::UNIX_EPOCH)?;
    Ok(format!("qala_template_{:x}_{:x}", built.as_nanos(), metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_named_in_the_path() {
        let cluster = "postgres://postgres@127.0.0.1:5432/postgres".parse().unwrap();
        assert_eq!(database_url(&cluster, "qala_test_1"), "postgres://postgres@127.0.0.1:5432/qala_test_1");
    }

    #[test]
    fn a_template_has_a_plain_name_of_its_build() {
        let folder = tempfile::tempdir().unwrap();
        let binary = folder.path().join("qala");
        std::fs::write(&binary, "one").unwrap();
        let one = template_name(&binary).unwrap();
        std::fs::write(&binary, "another").unwrap();
        assert_ne!(template_name(&binary).unwrap(), one);
        assert!(one.len() < 50 && one.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{one}");
    }
}
