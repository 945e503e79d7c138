//! The migrations that a database records as applied.
//!
//! The table has the name and the columns that `sea-orm-migration` gave it, with which Qala 0.1 began.

use std::collections::BTreeSet;

use sea_orm::{ConnectionTrait, DbBackend, DbErr, Statement};

const TABLE: &str = "seaql_migrations";
/// Table with the names of the migrations that a program must know.
const BREAKING_TABLE: &str = "breaking_migrations";

/// Creates the table if there is none.
pub(crate) async fn create(db: &impl ConnectionTrait) -> Result<(), DbErr> {
    let sql = format!(
        "CREATE TABLE IF NOT EXISTS {TABLE} (version varchar NOT NULL PRIMARY KEY, applied_at bigint NOT NULL)"
    );
    db.execute_unprepared(&sql).await.map(drop)
}

/// Returns the names of the migrations that were applied; none if the database is new.
pub(crate) async fn applied(db: &impl ConnectionTrait) -> Result<BTreeSet<String>, DbErr> {
    names(db, TABLE).await
}

/// Returns the names of the migrations that a program must know.
pub(crate) async fn breaking(db: &impl ConnectionTrait) -> Result<BTreeSet<String>, DbErr> {
    names(db, BREAKING_TABLE).await
}

/// Records a migration, with the seconds since 1970 on the database's clock.
pub(crate) async fn record(db: &impl ConnectionTrait, name: &str) -> Result<(), DbErr> {
    let backend = db.get_database_backend();
    let sql = match backend {
        DbBackend::Sqlite => format!("INSERT INTO {TABLE} VALUES (?, unixepoch())"),
        _ => format!("INSERT INTO {TABLE} VALUES ($1, extract(epoch from now())::bigint)"),
    };
    db.execute_raw(Statement::from_sql_and_values(backend, sql, [name.into()])).await.map(drop)
}

async fn names(db: &impl ConnectionTrait, table: &str) -> Result<BTreeSet<String>, DbErr> {
    if !has_table(db, table).await? {
        return Ok(BTreeSet::new());
    }
    let sql = format!("SELECT version FROM {table}");
    let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), sql)).await?;
    rows.iter().map(|row| row.try_get_by_index(0)).collect()
}

/// True if statements that name the table find it. On PostgreSQL that depends on the search path.
async fn has_table(db: &impl ConnectionTrait, table: &str) -> Result<bool, DbErr> {
    let backend = db.get_database_backend();
    let sql = match backend {
        DbBackend::Sqlite => "SELECT count(*) > 0 FROM sqlite_schema WHERE type = 'table' AND name = ?",
        _ => "SELECT to_regclass($1) IS NOT NULL",
    };
    let row = db.query_one_raw(Statement::from_sql_and_values(backend, sql, [table.into()])).await?;
    row.map_or(Ok(false), |row| row.try_get_by_index(0))
}
