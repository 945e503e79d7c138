//! Time limits: slow statements are stopped, and their threads and connections still work.

use std::{sync::Arc, time::Duration};

use adapter_rows::{PgOptions, PgRows, SqliteOptions, SqliteRows};
use backend_data::{
    Access, ColumnType, Engine, ErrorKind, NewColumn, NewTable, ProjectRef, ReadOptions, RowStore,
    WriteOptions,
};

use crate::harness;

const LIMIT: Duration = Duration::from_millis(300);

/// Inserts texts that make a search with a pattern backtrack for minutes, unless it is stopped.
async fn fill(store: Arc<dyn RowStore>, project: &ProjectRef) {
    let engine = Engine::with_system(store);
    engine.create_project(project).await.unwrap();
    let notes = NewTable::new("notes")
        .with_column(NewColumn::new("title", ColumnType::Text))
        .with_column(NewColumn::new("qty", ColumnType::Integer));
    engine.create_table(project, &Access::Owner, notes).await.unwrap();
    let row = format!(r#"{{"title":"{}","qty":1}}"#, "a".repeat(20_000));
    let rows = format!("[{}]", vec![row; 50].join(","));
    for _ in 0..20 {
        let options = WriteOptions { minimal: true, ..WriteOptions::default() };
        engine.insert(project, &Access::Owner, "notes", "", rows.as_bytes(), &options).await.unwrap();
    }
}

async fn is_stopped(store: Arc<dyn RowStore>, project: &ProjectRef) {
    let engine = Engine::with_system(store);
    let (owner, read, write) = (Access::Owner, ReadOptions::default(), WriteOptions::default());
    let slow = format!("title=like.*{}b*", "a".repeat(2_000));
    // Repeatedly, since a connection in a bad state would fail the next statement.
    for _ in 0..3 {
        let refused = engine.list(project, &owner, "notes", &slow, &read).await.unwrap_err();
        assert_eq!((refused.kind(), refused.code()), (ErrorKind::Timeout, "statement_timeout"));
        assert_eq!(refused.pgrst_code(), "57014");
        let body = br#"{"qty":2}"#;
        let refused = engine.update(project, &owner, "notes", &slow, body, &write).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Timeout);
        let counted = ReadOptions { include_count: true, ..read };
        let page =
            engine.list(project, &owner, "notes", "qty=eq.1&limit=1&select=id", &counted).await.unwrap();
        assert_eq!(page.total, Some(1_000), "a stopped statement changes nothing");
        engine.insert(project, &owner, "notes", "select=id", br#"{"qty":3}"#, &write).await.unwrap();
        engine.delete(project, &owner, "notes", "qty=eq.3&select=id", &write).await.unwrap();
    }
}

#[tokio::test]
async fn sqlite_stops_slow_statements() {
    let directory = tempfile::tempdir().unwrap();
    let project = harness::fresh_project();
    fill(Arc::new(SqliteRows::open(SqliteOptions::new(directory.path())).unwrap()), &project).await;
    // One thread of each kind, so that the next statement runs on the one that was interrupted.
    let options = SqliteOptions {
        statement_timeout: LIMIT,
        readers: 1,
        writers: 1,
        ..SqliteOptions::new(directory.path())
    };
    is_stopped(Arc::new(SqliteRows::open(options).unwrap()), &project).await;
}

async fn postgres_stops_slow_statements(pooled: bool) {
    let project = harness::fresh_project();
    fill(Arc::new(harness::pg_store().await), &project).await;
    let options = PgOptions {
        statement_timeout: LIMIT,
        max_connections: 1,
        is_transaction_pooled: pooled,
        ..harness::pg_options()
    };
    is_stopped(Arc::new(PgRows::connect(&options).await.unwrap()), &project).await;
}

#[tokio::test]
async fn postgres_stops_slow_statements_by_its_session() {
    postgres_stops_slow_statements(false).await;
}

#[tokio::test]
async fn postgres_stops_slow_statements_without_settings_of_the_session() {
    postgres_stops_slow_statements(true).await;
}

/// Expressions that take exponential time in backtracking engines.
#[tokio::test]
async fn expressions_that_backtrack_elsewhere_are_linear_or_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let sqlite: Arc<dyn RowStore> = Arc::new(SqliteRows::open(SqliteOptions::new(directory.path())).unwrap());
    let postgres: Arc<dyn RowStore> = Arc::new(harness::pg_store().await);
    for store in [sqlite, postgres] {
        let project = harness::fresh_project();
        let engine = Engine::with_system(store);
        engine.create_project(&project).await.unwrap();
        let notes = NewTable::new("notes").with_column(NewColumn::new("title", ColumnType::Text));
        engine.create_table(&project, &Access::Owner, notes).await.unwrap();
        let row = format!(r#"{{"title":"{}"}}"#, "a".repeat(5_000));
        let write = WriteOptions::default();
        engine.insert(&project, &Access::Owner, "notes", "", row.as_bytes(), &write).await.unwrap();
        for evil in [
            "^(a%2B)%2B$b",
            "(a*)*b",
            "(a|aa)%2Bb",
            "(a|a?)%2Bb",
            "^(([a-z])%2B.)%2B[A-Z]$",
            "(.*)(.*)(.*)(.*)b",
        ] {
            let begun = std::time::Instant::now();
            let query = format!("title=match.{evil}&select=id");
            let done = engine.list(&project, &Access::Owner, "notes", &query, &ReadOptions::default()).await;
            match done {
                Ok(page) => assert_eq!(&page.body[..], b"[]", "{evil}"),
                Err(error) => assert!(
                    matches!(error.kind(), ErrorKind::Timeout | ErrorKind::Invalid),
                    "{evil}: {error}"
                ),
            }
            assert!(begun.elapsed() < Duration::from_secs(10), "{evil} took {:?}", begun.elapsed());
        }
    }
}

/// Runs every kind of expression on a row that makes it slow, with a short time limit.
async fn slow_expressions_are_stopped(store: Arc<dyn RowStore>, open: Arc<dyn RowStore>) {
    let (project, owner) = (harness::fresh_project(), Access::Owner);
    let engine = Engine::with_system(open);
    engine.create_project(&project).await.unwrap();
    let notes = NewTable::new("notes")
        .with_column(NewColumn::new("title", ColumnType::Text))
        .with_column(NewColumn::new("meta", ColumnType::Json));
    engine.create_table(&project, &owner, notes).await.unwrap();
    let text = harness::noise(400_000);
    let numbers: Vec<u32> = (0..60_000).collect();
    let row = row_again(&text, &numbers);
    let write = WriteOptions { minimal: true, ..WriteOptions::default() };
    engine.insert(&project, &owner, "notes", "", row.as_bytes(), &write).await.unwrap();
    let engine = Engine::with_system(store);
    let wanted: Vec<String> = (0..2_000).map(|n| (n + 59_000).to_string()).collect();
    for slow in [
        "title=match.a[ab]{240}[^ab]".to_owned(),
        "title=match.[ab]{0,250}a[ab]{200}[^ab]".to_owned(),
        "title=not.imatch.[ab]{0,250}a[ab]{200}[^ab]".to_owned(),
        "or=(title.match.a[ab]{240}c,title.match.b[ab]{240}c)".to_owned(),
        format!("meta=cs.[{}]", wanted.join(",")),
        format!("meta=cs.[{}]", wanted[..100].join(",")),
        format!("meta=cd.[{}]", wanted[..100].join(",")),
        format!("title=like.*{}c*", "ab".repeat(1_000)),
    ] {
        // Some take very different times on the two databases; what matters is that none runs for long.
        let begun = std::time::Instant::now();
        for done in [
            engine.list(&project, &owner, "notes", &slow, &ReadOptions::default()).await.map(drop),
            engine.delete(&project, &owner, "notes", &format!("{slow}&select=id"), &write).await.map(drop),
        ] {
            if let Err(error) = done {
                assert!(matches!(error.kind(), ErrorKind::Timeout | ErrorKind::Invalid), "{slow}: {error}");
            }
        }
        assert!(begun.elapsed() < LIMIT * 20, "{slow} took {:?}", begun.elapsed());
        let row = engine.get(&project, &owner, "notes", "a", "select=id", Default::default()).await;
        if row.is_err() {
            engine
                .insert(&project, &owner, "notes", "", row_again(&text, &numbers).as_bytes(), &write)
                .await
                .unwrap();
        }
    }
}

fn row_again(text: &str, numbers: &[u32]) -> String {
    serde_json::json!({"id": "a", "title": text, "meta": numbers}).to_string()
}

#[tokio::test]
async fn slow_expressions_are_stopped_on_sqlite() {
    let directory = tempfile::tempdir().unwrap();
    let open = SqliteOptions::new(directory.path());
    let limited = SqliteOptions { statement_timeout: LIMIT, ..open.clone() };
    let (limited, open) = (SqliteRows::open(limited).unwrap(), SqliteRows::open(open).unwrap());
    slow_expressions_are_stopped(Arc::new(limited), Arc::new(open)).await;
}

#[tokio::test]
async fn slow_expressions_are_stopped_on_postgres() {
    let limited = PgOptions { statement_timeout: LIMIT, ..harness::pg_options() };
    let limited = PgRows::connect(&limited).await.unwrap();
    slow_expressions_are_stopped(Arc::new(limited), Arc::new(harness::pg_store().await)).await;
}
