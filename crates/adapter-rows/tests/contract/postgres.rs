//! Tests of PostgreSQL alone: several processes, canceled requests, and batched reads by id.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use adapter_rows::{PgOptions, PgRows};
use backend_data::{Access, ColumnType, Engine, Format, NewColumn, NewTable, ReadOptions, WriteOptions};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};

use crate::harness;

#[tokio::test]
async fn another_process_sees_a_schema_change_at_once() {
    let here = harness::postgres().await;
    let there = Engine::with_system(Arc::new(harness::pg_store().await));
    let project = &here.project;
    let (owner, read, write) = (Access::Owner, ReadOptions::default(), WriteOptions::default());
    let list = async |query: &str| {
        let page = there.list(project, &owner, "notes", query, &read).await?;
        Ok::<_, backend_data::Error>(String::from_utf8(page.body.to_vec()).unwrap())
    };
    assert_eq!(list("").await.unwrap_err().code(), "table_not_found");
    here.table(NewTable::new("notes").public()).await;
    assert_eq!(list("").await.unwrap(), "[]");

    here.engine
        .add_column(project, &owner, "notes", NewColumn::new("qty", ColumnType::Integer))
        .await
        .unwrap();
    there.insert(project, &owner, "notes", "", br#"{"id":"a","qty":1}"#, &write).await.unwrap();
    assert_eq!(list("select=id,qty").await.unwrap(), r#"[{"id":"a","qty":1}]"#);

    // A rename is in effect at once, and a name that means another column is not served from an old statement.
    assert_eq!(list("select=qty").await.unwrap(), r#"[{"qty":1}]"#);
    here.engine.rename_column(project, &owner, "notes", "qty", "amount").await.unwrap();
    assert_eq!(list("select=amount").await.unwrap(), r#"[{"amount":1}]"#);
    assert_eq!(list("select=qty").await.unwrap_err().code(), "column_not_found");
    let qty = NewColumn::new("qty", ColumnType::Text);
    here.engine.add_column(project, &owner, "notes", qty).await.unwrap();
    assert_eq!(list("select=qty").await.unwrap(), r#"[{"qty":null}]"#);
    here.engine.drop_column(project, &owner, "notes", "qty").await.unwrap();
    assert_eq!(list("").await.unwrap().matches("qty").count(), 0);

    here.engine.set_public_read(project, &owner, "notes", false).await.unwrap();
    let hidden = there.list(project, &Access::Visitor, "notes", "", &read).await.unwrap_err();
    assert_eq!(hidden.code(), "table_not_found");

    // The same name with another type: no statement that was prepared for the old table may be used.
    here.engine.drop_table(project, &owner, "notes").await.unwrap();
    here.table(NewTable::new("notes").with_column(NewColumn::new("qty", ColumnType::Text))).await;
    here.insert("notes", r#"{"id":"a","qty":"one"}"#).await.unwrap();
    assert_eq!(list("select=id,qty").await.unwrap(), r#"[{"id":"a","qty":"one"}]"#);

    here.engine.drop_project(project).await.unwrap();
    assert_eq!(list("").await.unwrap_err().code(), "project_not_found");
}

#[tokio::test]
async fn a_canceled_request_leaves_no_result_for_the_next() {
    let options = PgOptions { max_connections: 1, ..harness::pg_options() };
    let here = harness::world(Arc::new(PgRows::connect(&options).await.unwrap()), None).await;
    here.table(NewTable::new("notes").public()).await;
    here.insert("notes", r#"[{"id":"a"},{"id":"b"}]"#).await.unwrap();
    let (owner, read) = (Access::Owner, ReadOptions::default());
    let list = |query: &'static str| here.engine.list(&here.project, &owner, "notes", query, &read);
    let mut other = PgConnection::connect(&options.url).await.unwrap();
    for _ in 0..5 {
        // Canceled while the statement waits for a lock.
        let mut locked = other.begin().await.unwrap();
        let lock = format!("LOCK TABLE \"data_{}\".\"notes\"", here.project.id);
        sqlx::raw_sql(AssertSqlSafe(lock)).execute(&mut *locked).await.unwrap();
        let mut given_up = Box::pin(list("id=eq.a"));
        assert!(futures::poll!(given_up.as_mut()).is_pending());
        drop(given_up);
        locked.rollback().await.unwrap();
        let page = list("id=eq.b&select=id").await.unwrap();
        assert_eq!(&page.body[..], br#"[{"id":"b"}]"#);
    }
}

/// Returns the number of statements that wait for the lock of a table.
async fn held_up(other: &mut PgConnection, table: &str) -> i64 {
    let count = format!(
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '{table}'::regclass AND mode = 'AccessShareLock'"
    );
    let count = sqlx::raw_sql(AssertSqlSafe(count)).fetch_one(other).await.unwrap();
    count.try_get(0).unwrap()
}

#[tokio::test]
async fn reads_by_id_share_statements() {
    let options = PgOptions { max_connections: 16, ..harness::pg_options() };
    let here = harness::world(Arc::new(PgRows::connect(&options).await.unwrap()), None).await;
    here.table(NewTable::new("notes").public()).await;
    here.insert("notes", r#"[{"id":"a"},{"id":"b"}]"#).await.unwrap();
    let owner = Access::Owner;
    let get =
        |id: &'static str| here.engine.get(&here.project, &owner, "notes", id, "select=id", Format::Json);
    get("a").await.unwrap();
    let table = format!("\"data_{}\".\"notes\"", here.project.id);
    let mut other = PgConnection::connect(&options.url).await.unwrap();
    let mut watcher = PgConnection::connect(&options.url).await.unwrap();
    let mut locked = other.begin().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(format!("LOCK TABLE {table}"))).execute(&mut *locked).await.unwrap();

    // The first read runs alone, two times sixteen reads fill a statement each, and seven wait.
    let mut reads: Vec<_> = (0..40).map(|at| Box::pin(get(["a", "b", "c"][at % 3]))).collect();
    for read in &mut reads {
        assert!(futures::poll!(read.as_mut()).is_pending());
    }
    while held_up(&mut watcher, &table).await < 3 {}
    assert_eq!(held_up(&mut watcher, &table).await, 3);
    // Canceling a read affects no other: the first one, one of a full statement, and one that waits.
    for at in [39, 5, 0] {
        drop(reads.remove(at));
    }
    locked.rollback().await.unwrap();
    let left = (0..40).filter(|at| ![39, 5, 0].contains(at));
    for (at, result) in left.zip(futures::future::join_all(reads).await) {
        match at % 3 {
            0 => assert_eq!(&result.unwrap().body[..], br#"{"id":"a"}"#),
            1 => assert_eq!(&result.unwrap().body[..], br#"{"id":"b"}"#),
            _ => assert_eq!(result.unwrap_err().code(), "row_not_found"),
        }
    }
}

#[tokio::test]
async fn reads_behind_a_locked_table_wait_for_one_limit() {
    const LIMIT: Duration = Duration::from_millis(300);
    let options = PgOptions { statement_timeout: LIMIT, ..harness::pg_options() };
    let here = harness::world(Arc::new(PgRows::connect(&options).await.unwrap()), None).await;
    here.table(NewTable::new("notes").public()).await;
    here.insert("notes", r#"{"id":"a"}"#).await.unwrap();
    let owner = Access::Owner;
    let get = || here.engine.get(&here.project, &owner, "notes", "a", "select=id", Format::Json);
    get().await.unwrap();
    let mut other = PgConnection::connect(&options.url).await.unwrap();
    let mut locked = other.begin().await.unwrap();
    let lock = format!("LOCK TABLE \"data_{}\".\"notes\"", here.project.id);
    sqlx::raw_sql(AssertSqlSafe(lock)).execute(&mut *locked).await.unwrap();
    let begun = Instant::now();
    // One statement for the first read, and one for the twelve that wait for it.
    for result in futures::future::join_all((0..13).map(|_| get())).await {
        assert_eq!(result.unwrap_err().code(), "statement_timeout");
    }
    assert!(begun.elapsed() < LIMIT * 8, "{:?}", begun.elapsed());
    locked.rollback().await.unwrap();
    get().await.unwrap();
}
