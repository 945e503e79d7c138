//! Placeholders for what SQLite and PostgreSQL call differently.

use sea_orm::{ConnectionTrait, DbBackend, DbErr};

/// Runs the statements of `sql`, with these placeholders replaced:
///
/// | placeholder | SQLite | PostgreSQL |
/// | --- | --- | --- |
/// | `$uuid` | `BLOB` | `uuid` |
/// | `$bytes` | `BLOB` | `bytea` |
/// | `$serial` | `INTEGER PRIMARY KEY AUTOINCREMENT` | `bigserial PRIMARY KEY` |
/// | `$clustered` | `WITHOUT ROWID`: rows are stored in the primary key's tree | nothing |
pub(crate) async fn execute(db: &impl ConnectionTrait, sql: &str) -> Result<(), DbErr> {
    let sqlite = db.get_database_backend() == DbBackend::Sqlite;
    let words = [
        ("$uuid", "BLOB", "uuid"),
        ("$bytes", "BLOB", "bytea"),
        ("$serial", "INTEGER PRIMARY KEY AUTOINCREMENT", "bigserial PRIMARY KEY"),
        ("$clustered", "WITHOUT ROWID", ""),
    ];
    let sql = words.iter().fold(sql.to_owned(), |sql, (word, for_sqlite, for_postgres)| {
        sql.replace(word, if sqlite { for_sqlite } else { for_postgres })
    });
    db.execute_unprepared(&sql).await.map(drop)
}
