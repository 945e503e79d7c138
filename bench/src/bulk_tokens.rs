//! A million tokens and ten thousand workspaces beside the measured ones, inserted directly into the database.

use ::tests::Server;
use anyhow::Result;
use sqlx::{ConnectOptions as _, Connection as _, postgres::PgConnection, sqlite::SqliteConnectOptions};

const WORKSPACES: u32 = 10_000;
const TOKENS: u32 = 1_000_000;
/// Tokens per transaction, so that the server can write in between.
const BATCH_SIZE: u32 = 50_000;

pub(super) async fn insert(server: &Server) -> Result<()> {
    match server.database_url() {
        Some(url) => {
            let mut db = PgConnection::connect(url).await?;
            for statement in statements("gen_random_uuid()", "decode(md5(random()::text), 'hex')") {
                sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&mut db).await?;
            }
            sqlx::raw_sql("ANALYZE").execute(&mut db).await?;
        }
        None => {
            let options = SqliteConnectOptions::new().filename(server.data_dir().join("qala.db"));
            let mut db = options.busy_timeout(std::time::Duration::from_secs(60)).connect().await?;
            for statement in statements("randomblob(16)", "randomblob(36)") {
                sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&mut db).await?;
            }
        }
    }
    Ok(())
}

fn statements(id: &str, digest: &str) -> Vec<String> {
    let count =
        |to: u32| format!("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {to})");
    let workspaces = format!(
        "{} INSERT INTO workspaces (id, slug, name, profile, team_size, intents, locale, timezone, currency, \
         hourly_cost_minor, plan, revision, created_at) SELECT {id}, 'crowd-' || i, 'Crowd', 'global', 'solo', '[]', \
         'en', 'UTC', 'USD', 2500, 'free', 1, 0 FROM n",
        count(WORKSPACES)
    );
    let tokens = format!(
        "{} INSERT INTO tokens (id, digest, workspace_id, user_id, name, scopes, prefix, last4, created_at) \
         SELECT {id}, {digest}, (SELECT id FROM workspaces WHERE slug = 'crowd-' || (i % {WORKSPACES} + 1)), \
         (SELECT id FROM users LIMIT 1), 'crowd', 'read', 'qat_crwd', 'crwd', 0 FROM n",
        count(BATCH_SIZE)
    );
    std::iter::once(workspaces).chain((0..TOKENS / BATCH_SIZE).map(|_| tokens.clone())).collect()
}
