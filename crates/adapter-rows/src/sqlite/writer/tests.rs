//! A group of writes on a disk that is full.

use std::{path::Path, sync::Arc};

use backend_data::{
    Access, ColumnType, Engine, ErrorKind, NewColumn, NewTable, ProjectRef, ReadOptions, WriteOptions,
};
use futures::future::join_all;

use super::WriteLease;
use crate::{SqliteOptions, SqliteRows};

const WRITES: usize = 64;
/// Pages that the file may still grow by: enough for the short rows, and for none of the long ones.
const FREE_PAGES: i64 = 16;

fn open(directory: &Path) -> (Arc<SqliteRows>, Engine) {
    let rows = Arc::new(SqliteRows::open(SqliteOptions::new(directory)).unwrap());
    (Arc::clone(&rows), Engine::with_system(rows))
}

/// Bounds the pages of a file that nobody has written since it was opened. Beyond them SQLite reports a full disk.
fn fill_disk(rows: &SqliteRows, project: &ProjectRef) {
    let mut lease = WriteLease::new(&rows.shared, project);
    let connection = &lease.find_connection().unwrap().unwrap().connection;
    let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    let limit = pages + FREE_PAGES;
    let set = connection.query_row(&format!("PRAGMA max_page_count = {limit}"), [], |row| row.get(0));
    assert_eq!(set, Ok(limit));
}

/// The row of a write: one in eight is long.
fn row(number: usize) -> (bool, String) {
    let is_long = number.is_multiple_of(8);
    let note = if is_long { "x".repeat(200_000) } else { "short".to_owned() };
    (is_long, format!(r#"{{"number":{number},"note":"{note}"}}"#))
}

#[tokio::test]
async fn a_full_disk_fails_the_writes_that_do_not_fit() {
    let directory = tempfile::tempdir().unwrap();
    let project = ProjectRef::new("full".parse().unwrap(), 0);
    {
        let (_rows, engine) = open(directory.path());
        engine.create_project(&project).await.unwrap();
        let notes = NewTable::new("notes")
            .with_column(NewColumn::new("number", ColumnType::Integer))
            .with_column(NewColumn::new("note", ColumnType::Text));
        engine.create_table(&project, &Access::Owner, notes).await.unwrap();
    }
    let options = WriteOptions::default();
    let insert = async |engine: &Engine, number: usize| {
        let (is_long, row) = row(number);
        let rows = format!("[{row}]");
        let written = engine.insert(&project, &Access::Owner, "notes", "", rows.as_bytes(), &options).await;
        (is_long, written.map(drop).map_err(|error| error.kind()))
    };
    {
        let (rows, engine) = open(directory.path());
        fill_disk(&rows, &project);
        for (is_long, written) in join_all((0..WRITES).map(|number| insert(&engine, number))).await {
            assert_eq!(written, if is_long { Err(ErrorKind::Unavailable) } else { Ok(()) });
        }
        // What comes later is not held back by what failed.
        assert_eq!(insert(&engine, WRITES + 1).await, (false, Ok(())));
    }
    let (_rows, engine) = open(directory.path());
    let read = ReadOptions::default();
    let kept = engine.list(&project, &Access::Owner, "notes", "select=number", &read).await.unwrap();
    let kept: Vec<serde_json::Value> = serde_json::from_slice(&kept.body).unwrap();
    assert_eq!(kept.len(), WRITES - WRITES / 8 + 1);
    // With room again, the long ones fit.
    assert_eq!(insert(&engine, 0).await, (true, Ok(())));
}
