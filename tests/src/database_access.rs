//! Direct access to a server's database, for states that only time would bring about and for searches of stored data.

use anyhow::{Context as _, Result};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, Row as _, SqliteConnection};

use crate::{Server, database::SQLITE_FILE};

impl Server {
    /// Runs a statement on the control plane's database, bypassing the server.
    pub async fn execute_sql(&self, sql: &str) -> Result<()> {
        let sql = AssertSqlSafe(sql.to_owned());
        match self.database_url() {
            Some(url) => {
                let mut connection = PgConnection::connect(url).await?;
                connection.execute(sql).await?;
                connection.close().await?;
            }
            None => {
                let mut connection = self.connect_to_sqlite().await?;
                connection.execute(sql).await?;
                connection.close().await?;
            }
        }
        Ok(())
    }

    /// Returns the number that a query of the control plane's database finds. The server need not run.
    pub async fn query_number(&self, sql: &str) -> Result<i64> {
        let sql = AssertSqlSafe(sql.to_owned());
        Ok(match self.database_url() {
            Some(url) => sqlx::query_scalar(sql).fetch_one(&mut PgConnection::connect(url).await?).await?,
            None => sqlx::query_scalar(sql).fetch_one(&mut self.connect_to_sqlite().await?).await?,
        })
    }

    async fn connect_to_sqlite(&self) -> Result<SqliteConnection> {
        let file = self.data_dir().join(SQLITE_FILE);
        let url = format!("sqlite://{}", file.to_str().context("the path is not UTF-8")?);
        Ok(SqliteConnection::connect(&url).await?)
    }

    /// Returns everything that the control plane stores, as bytes to be searched: with SQLite every file in the data
    /// directory, with PostgreSQL every row as text, in which bytes are hexadecimal.
    pub async fn dump_data_at_rest(&self) -> Result<Vec<u8>> {
        let Some(url) = self.database_url() else { return read_files_recursively(self.data_dir()) };
        let mut connection = PgConnection::connect(url).await?;
        let tables = "SELECT format('%I', tablename) FROM pg_tables WHERE schemaname = 'public'";
        let mut all = Vec::new();
        for table in sqlx::query(tables).fetch_all(&mut connection).await? {
            let rows = format!("SELECT row::text FROM {} AS row", table.try_get::<String, _>(0)?);
            for row in sqlx::query(AssertSqlSafe(rows)).fetch_all(&mut connection).await? {
                all.extend(row.try_get::<String, _>(0)?.into_bytes());
                all.push(b'\n');
            }
        }
        connection.close().await?;
        Ok(all)
    }
}

fn read_files_recursively(folder: &std::path::Path) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            all.extend(read_files_recursively(&path)?);
        } else {
            all.extend(std::fs::read(path)?);
        }
    }
    Ok(all)
}
