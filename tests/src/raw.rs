//! The database beneath a server, for what only time would bring about.

use anyhow::{Context as _, Result};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, SqliteConnection};

use crate::Server;

impl Server {
    /// Changes rows behind the server's back.
    ///
    /// # Errors
    ///
    /// What the database says.
    pub async fn execute(&self, sql: &str) -> Result<()> {
        let sql = AssertSqlSafe(sql.to_owned());
        match self.database_url() {
            Some(url) => {
                let mut connection = PgConnection::connect(url).await?;
                connection.execute(sql).await?;
                connection.close().await?;
            }
            None => {
                let file = self.data_dir().join("qala.db");
                let url = format!("sqlite://{}", file.to_str().context("the path is text")?);
                let mut connection = SqliteConnection::connect(&url).await?;
                connection.execute(sql).await?;
                connection.close().await?;
            }
        }
        Ok(())
    }
}
