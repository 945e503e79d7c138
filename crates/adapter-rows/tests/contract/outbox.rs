//! The outbox: entries that changes add in their own transaction.

use std::sync::Arc;

use adapter_rows::{SqliteOptions, SqliteRows};
use backend_data::{
    Access, ColumnType, Engine, Error, FileFormat, ImportOptions, NewColumn, NewTable, ProjectRef,
    WriteOptions, store::OutboxEntry,
};
use bytes::Bytes;
use sqlx::{Connection as _, PgConnection};

use crate::{
    contract,
    harness::{self, World, fresh_project},
};

contract!(
    a_change_leaves_its_entries_until_they_are_cleared,
    a_change_that_fails_leaves_none,
    a_batch_leaves_its_entry_once,
    entries_of_two_projects_never_mix,
    concurrent_writes_leave_one_entry_each,
);

fn entry(id: &str) -> OutboxEntry {
    OutboxEntry { id: id.to_owned(), body: format!("{{\"what\":\"{id}\"}}") }
}

fn recording(world: &World, id: &str) -> Engine {
    world.engine.with_outbox(vec![entry(id)])
}

fn notes() -> NewTable {
    NewTable::new("notes").with_column(NewColumn::new("title", ColumnType::Text).required())
}

async fn insert(engine: &Engine, project: &ProjectRef, rows: &str) -> Result<(), Error> {
    let options = WriteOptions::default();
    engine.insert(project, &Access::Owner, "notes", "", rows.as_bytes(), &options).await.map(drop)
}

/// Returns the ids of the entries in the outbox, with their numbers of rows.
async fn left(engine: &Engine, project: &ProjectRef) -> Vec<(String, Option<u64>)> {
    let records = engine.read_outbox(project).await.unwrap();
    for record in &records {
        assert_eq!(record.entry, entry(&record.entry.id));
    }
    records.into_iter().map(|record| (record.entry.id, record.rows)).collect()
}

fn is(id: &str, rows: Option<u64>) -> (String, Option<u64>) {
    (id.to_owned(), rows)
}

async fn a_change_leaves_its_entries_until_they_are_cleared(world: World) {
    let (project, owner, options) = (&world.project, Access::Owner, WriteOptions::default());
    assert_eq!(left(&world.engine, project).await, []);
    recording(&world, "made").create_table(project, &owner, notes()).await.unwrap();
    insert(&recording(&world, "two"), project, r#"[{"id":"a","title":"a"},{"id":"b","title":"b"}]"#)
        .await
        .unwrap();
    let change = br#"{"title":"c"}"#;
    recording(&world, "one").update_by_id(project, &owner, "notes", "a", "", change, &options).await.unwrap();
    insert(&world.engine, project, r#"{"title":"without"}"#).await.unwrap();

    let all = [is("made", None), is("two", Some(2)), is("one", Some(1))];
    assert_eq!(left(&world.engine, project).await, all);
    world.engine.clear_outbox(project, vec!["two".to_owned(), "unknown".to_owned()]).await.unwrap();
    assert_eq!(left(&world.engine, project).await, [is("made", None), is("one", Some(1))]);
    world.engine.clear_outbox(project, vec!["made".to_owned(), "one".to_owned()]).await.unwrap();
    assert_eq!(left(&world.engine, project).await, []);
    assert_eq!(
        world.ids("title=eq.without").await.len(),
        36,
        "the row that was written without entries exists"
    );
}

async fn a_change_that_fails_leaves_none(world: World) {
    let (project, owner) = (&world.project, Access::Owner);
    world.table(notes()).await;
    insert(&world.engine, project, r#"{"id":"a","title":"a"}"#).await.unwrap();
    let refused = recording(&world, "refused");
    insert(&refused, project, r#"[{"id":"b","title":"b"},{"id":"a","title":"again"}]"#).await.unwrap_err();
    insert(&refused, project, r#"{"nothing":"like it"}"#).await.unwrap_err();
    refused.create_table(project, &owner, notes()).await.unwrap_err();
    assert_eq!(left(&world.engine, project).await, []);
    assert_eq!(world.ids("").await, "a");
}

async fn a_batch_leaves_its_entry_once(world: World) {
    let (project, owner) = (&world.project, Access::Owner);
    world.table(notes()).await;
    let rows: String = (0..2500).map(|n| format!("{{\"title\":\"{n}\"}}\n")).collect();
    let source = Arc::new(Bytes::from(rows));
    let options = ImportOptions { format: FileFormat::JsonLines, ..ImportOptions::default() };
    let import = recording(&world, "imported").import(project, &owner, "notes", source, &options).await;
    assert_eq!(import.unwrap().rows, 2500);
    assert_eq!(left(&world.engine, project).await, [is("imported", Some(2500))]);
    let broken = Arc::new(Bytes::from_static(
        b"{\"title\":\"x\"}
{\"title\":1}
",
    ));
    let import = recording(&world, "broken").import(project, &owner, "notes", broken, &options).await;
    import.unwrap_err();
    assert_eq!(left(&world.engine, project).await, [is("imported", Some(2500))]);
}

async fn entries_of_two_projects_never_mix(world: World) {
    let other = fresh_project();
    world.engine.create_project(&other).await.unwrap();
    for project in [&world.project, &other] {
        recording(&world, "same").create_table(project, &Access::Owner, notes()).await.unwrap();
    }
    world.engine.clear_outbox(&other, vec!["same".to_owned()]).await.unwrap();
    assert_eq!(left(&world.engine, &other).await, []);
    assert_eq!(left(&world.engine, &world.project).await, [is("same", None)]);
}

async fn concurrent_writes_leave_one_entry_each(world: World) {
    world.table(notes()).await;
    let world = Arc::new(world);
    let tasks: Vec<_> = (0..40)
        .map(|number| {
            let world = Arc::clone(&world);
            tokio::spawn(async move {
                // Every fourth write is refused, within a transaction that it may share with others.
                let id = if number % 4 == 0 { "taken".to_owned() } else { format!("r{number}") };
                let engine = recording(&world, &format!("e{number:02}"));
                insert(&engine, &world.project, &format!(r#"{{"id":"{id}","title":"x"}}"#)).await.is_ok()
            })
        })
        .collect();
    let mut made = 0;
    for task in tasks {
        made += usize::from(task.await.unwrap());
    }
    assert_eq!(made, 31);
    let left = left(&world.engine, &world.project).await;
    assert_eq!(left.len(), made);
    assert!(left.iter().all(|(_, rows)| *rows == Some(1)), "{left:?}");
}

/// The next process finds the entries of one that ended between the change and the delivery.
#[tokio::test]
async fn sqlite_lists_outboxes_of_an_earlier_process() {
    let directory = tempfile::tempdir().unwrap();
    let open = || {
        let options = SqliteOptions::new(directory.path());
        Engine::with_system(Arc::new(SqliteRows::open(options).unwrap()))
    };
    let (with, without) = (fresh_project(), fresh_project());
    {
        let engine = open();
        for project in [&with, &without] {
            engine.create_project(project).await.unwrap();
            engine.create_table(project, &Access::Owner, notes()).await.unwrap();
        }
        insert(&engine.with_outbox(vec![entry("left")]), &with, r#"{"title":"x"}"#).await.unwrap();
        let cleared = engine.with_outbox(vec![entry("cleared")]);
        insert(&cleared, &without, r#"{"title":"x"}"#).await.unwrap();
        engine.clear_outbox(&without, vec!["cleared".to_owned()]).await.unwrap();
    }
    let engine = open();
    assert_eq!(engine.pending_outboxes().await.unwrap(), std::slice::from_ref(&with));
    assert_eq!(left(&engine, &with).await, [is("left", Some(1))]);
    engine.clear_outbox(&with, vec!["left".to_owned()]).await.unwrap();
    assert_eq!(engine.pending_outboxes().await.unwrap(), []);
}

/// Recent entries are left to the process that added them.
#[tokio::test]
async fn postgres_lists_an_outbox_after_a_while() {
    let world = harness::postgres().await;
    recording(&world, "left").create_table(&world.project, &Access::Owner, notes()).await.unwrap();
    let holds = async || world.engine.pending_outboxes().await.unwrap().contains(&world.project);
    assert!(!holds().await);
    let mut connection = PgConnection::connect(harness::pg_options().url.as_str()).await.unwrap();
    sqlx::query("UPDATE qala_rows.outbox SET at = at - interval '1 minute' WHERE project = $1")
        .bind(world.project.id.as_str())
        .execute(&mut connection)
        .await
        .unwrap();
    assert!(holds().await);
    world.engine.clear_outbox(&world.project, vec!["left".to_owned()]).await.unwrap();
    assert!(!holds().await);
}
