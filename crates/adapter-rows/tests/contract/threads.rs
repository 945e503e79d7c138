//! On which thread a read of SQLite runs: a small row by its id on the caller's own, anything else on a reader.

use std::{pin::pin, sync::Arc, time::Duration};

use adapter_rows::{SqliteOptions, SqliteRows};
use backend_data::{Access, ColumnType, Engine, Format, NewColumn, NewTable, ReadOptions, WriteOptions};
use futures::{FutureExt as _, poll};
use serde_json::json;

use crate::harness::{fresh_project, noise};

#[tokio::test]
async fn only_small_rows_are_read_on_the_callers_thread() {
    let directory = tempfile::tempdir().unwrap();
    let options = SqliteOptions {
        readers: 1,
        statement_limit: Duration::from_secs(2),
        ..SqliteOptions::new(directory.path())
    };
    let engine = Engine::with_system(Arc::new(SqliteRows::open(options).unwrap()));
    let (project, owner) = (fresh_project(), Access::Owner);
    engine.create_project(&project).await.unwrap();
    let table = NewTable::new("notes")
        .with(NewColumn::new("body", ColumnType::Text))
        .with(NewColumn::new("meta", ColumnType::Json));
    engine.create_table(&project, &owner, table).await.unwrap();
    let write = WriteOptions { minimal: true, ..WriteOptions::default() };
    for (id, length) in [("small", 10), ("large", 500_000_u32)] {
        let row = json!({"id": id, "body": noise(length), "meta": {"a": noise(length)}}).to_string();
        engine.insert(&project, &owner, "notes", "", row.as_bytes(), &write).await.unwrap();
    }
    // The only reader is busy for two seconds.
    let (slow, read) = ("body=match.[ab]{0,250}a[ab]{200}[^ab]", ReadOptions::default());
    let mut busy = pin!(engine.list(&project, &owner, "notes", slow, &read).boxed());
    assert!(poll!(&mut busy).is_pending());
    let get = |id, query| engine.get(&project, &owner, "notes", id, query, Format::Json);
    for (id, query, at_once) in [
        ("small", "", true),
        ("small", "select=id,body,meta", true),
        ("large", "select=id", true),
        ("large", "", false),
        ("large", "select=meta", false),
        ("small", "select=meta->a", false),
        ("large", "select=meta->a", false),
        ("small", "select=a:body,b:body", false),
        ("small", "select=body::json", false),
    ] {
        let mut read = pin!(get(id, query).boxed());
        assert_eq!(poll!(&mut read).is_ready(), at_once, "{id} {query}");
    }
    assert_eq!(busy.await.unwrap_err().code(), "statement_timeout");
    assert_eq!(get("large", "select=meta->a").await.unwrap().rows, 1);
}
