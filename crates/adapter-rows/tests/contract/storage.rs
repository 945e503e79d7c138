//! The storage limit of a project: writes that add to its rows are refused, deletes are not.

use std::sync::Arc;

use backend_data::{
    Access, ColumnType, Engine, Error, ErrorKind, ImportOptions, NewColumn, NewIndex, NewTable, Operation,
    OperationKind, ReadOptions, Resolution, WriteOptions,
};
use bytes::Bytes;
use serde_json::json;

use crate::{
    contract,
    harness::{self, World, noise},
};

contract!(
    a_full_project_refuses_writes_but_not_reads_and_deletes,
    a_batch_is_refused_as_a_whole,
    an_import_beyond_the_limit_is_refused,
    large_documents_count_until_they_are_deleted,
    concurrent_inserts_exceed_the_limit_only_slightly,
    without_a_limit_nothing_is_refused,
    an_unknown_project_has_no_size,
);

/// Storage limit of the projects of these tests in bytes.
const MOST: u64 = 2 << 20;
/// Approximate size of a row in bytes.
const ROW: usize = 20_000;

/// Returns text that no database compresses much, different for each number.
fn bulky(number: u32, length: usize) -> String {
    let mut state = u64::from(number) << 32 | 0x9e37_79b9;
    let letter = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b' ' + 14 + u8::try_from((state >> 33) % 64).unwrap())
    };
    (0..length).map(letter).filter(|letter| !matches!(letter, '"' | '\\')).collect()
}

fn row(number: u32) -> String {
    json!({"id": format!("r{number}"), "title": bulky(number, ROW), "qty": number}).to_string()
}

async fn notes(world: &World) -> Engine {
    let table = NewTable::new("notes")
        .with_column(NewColumn::new("title", ColumnType::Text))
        .with_column(NewColumn::new("qty", ColumnType::Integer))
        .with_column(NewColumn::new("meta", ColumnType::Json));
    world.table(table).await;
    world.engine.with_storage_limit(Some(MOST))
}

async fn add(engine: &Engine, world: &World, rows: &str) -> Result<u64, Error> {
    let options = WriteOptions { minimal: true, ..WriteOptions::default() };
    let done = engine.insert(&world.project, &Access::Owner, "notes", "", rows.as_bytes(), &options).await;
    done.map(|written| written.rows)
}

/// Inserts rows until the project is full, and returns their number.
async fn fill(engine: &Engine, world: &World) -> u32 {
    for number in 0..1_000 {
        if let Err(error) = add(engine, world, &row(number)).await {
            full(&error);
            return number;
        }
    }
    panic!("a thousand rows of {ROW} bytes fit into {MOST}");
}

fn full(error: &Error) {
    assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, "storage_full"), "{error:?}");
    assert_eq!(error.pgrst_code(), "53100");
    assert!(error.message().contains("2 MiB") && error.hint().is_some(), "{error}");
}

async fn clear(engine: &Engine, world: &World) -> u64 {
    let options = WriteOptions { minimal: true, ..WriteOptions::default() };
    let all = "id=not.is.null";
    engine.delete(&world.project, &Access::Owner, "notes", all, &options).await.unwrap().rows
}

async fn a_full_project_refuses_writes_but_not_reads_and_deletes(world: World) {
    let (engine, project, owner) = (notes(&world).await, &world.project, Access::Owner);
    let rows = fill(&engine, &world).await;
    // Most of it are the rows themselves.
    assert!((80..=115).contains(&rows), "{rows} rows of {ROW} bytes fit into {MOST}");
    let stored = engine.stored_bytes(project).await.unwrap();
    assert!((MOST * 8 / 10..MOST * 11 / 10).contains(&stored), "{stored}");
    let write = WriteOptions::default();
    let update =
        |query: &'static str| engine.update(project, &owner, "notes", query, br#"{"title":"short"}"#, &write);
    full(&update("id=eq.r1").await.unwrap_err());
    let by_id = engine.update_by_id(project, &owner, "notes", "r1", "", br#"{"qty":0}"#, &write).await;
    full(&by_id.unwrap_err());
    for resolution in [Resolution::MergeDuplicates, Resolution::IgnoreDuplicates] {
        let options = WriteOptions { resolution: Some(resolution), ..write };
        let merged = engine.insert(project, &owner, "notes", "", row(1).as_bytes(), &options).await;
        full(&merged.unwrap_err());
    }
    full(&engine.add_index(project, &owner, "notes", NewIndex::on(&["qty"])).await.unwrap_err());
    let read = ReadOptions { include_count: true, ..ReadOptions::default() };
    let page = engine.list(project, &owner, "notes", "select=id", &read).await.unwrap();
    assert_eq!(page.total, Some(rows.into()), "what was refused changed nothing");
    // The same project with a higher limit.
    let larger = engine.with_storage_limit(Some(2 * MOST));
    larger.update(project, &owner, "notes", "id=eq.r1", br#"{"qty":7}"#, &write).await.unwrap();
    assert_eq!(clear(&engine, &world).await, u64::from(rows));
    let stored = engine.stored_bytes(project).await.unwrap();
    assert!(stored < MOST / 2, "{stored} bytes of no rows");
    assert_eq!(add(&engine, &world, &row(0)).await.unwrap(), 1, "deletes make room");
    engine.add_index(project, &owner, "notes", NewIndex::on(&["qty"])).await.unwrap();
}

async fn a_batch_is_refused_as_a_whole(world: World) {
    let engine = notes(&world).await;
    let body = |from: u32| format!("[{}]", (from..from + 60).map(row).collect::<Vec<_>>().join(","));
    let bodies = [body(0), body(100), body(200)];
    let insert = |body| Operation {
        kind: OperationKind::Insert,
        table: "notes",
        id: None,
        query: "select=id",
        body,
        options: WriteOptions::default(),
    };
    let operations = bodies.iter().map(|body: &String| insert(body.as_bytes())).collect();
    let error = engine.batch(&world.project, &Access::Owner, operations).await.unwrap_err();
    full(&error);
    assert_eq!(error.details(), Some("In operation 2. Nothing was changed."));
    assert_eq!(world.ids("select=id").await, "");
    let delete = Operation { kind: OperationKind::Delete, query: "id=eq.r1", ..insert(&b""[..]) };
    fill(&engine, &world).await;
    let done = engine.batch(&world.project, &Access::Owner, vec![delete]).await.unwrap();
    assert_eq!(done[0].rows, 1, "a batch of deletes is not refused");
}

async fn an_import_beyond_the_limit_is_refused(world: World) {
    let engine = notes(&world).await;
    let file = |rows: u32| Bytes::from((0..rows).map(|number| row(number) + "\n").collect::<String>());
    let import = async |engine: &Engine, rows| {
        let options =
            ImportOptions { format: backend_data::FileFormat::JsonLines, ..ImportOptions::default() };
        engine.import(&world.project, &Access::Owner, "notes", Arc::new(file(rows)), &options).await
    };
    let error = import(&engine, 400).await.unwrap_err();
    full(&error);
    assert_eq!(error.details(), None, "it is no row's fault");
    assert_eq!(world.ids("select=id").await, "");
    assert_eq!(import(&engine, 50).await.unwrap().rows, 50);
    clear(&engine, &world).await;
    assert_eq!(import(&world.engine, 400).await.unwrap().rows, 400);
}

async fn large_documents_count_until_they_are_deleted(world: World) {
    let engine = notes(&world).await;
    let document = |number: u32| {
        json!({"id": format!("d{number}"), "meta": {"text": bulky(number, 900_000)}}).to_string()
    };
    let mut rows = 0;
    let refused = loop {
        match add(&engine, &world, &document(rows)).await {
            Ok(_) => rows += 1,
            Err(error) => break error,
        }
    };
    full(&refused);
    assert!((2..=3).contains(&rows), "{rows} documents of 0.9 MB fit into {MOST}");
    clear(&engine, &world).await;
    add(&engine, &world, &document(9)).await.unwrap();
}

async fn concurrent_inserts_exceed_the_limit_only_slightly(world: World) {
    let engine = notes(&world).await;
    let rows: Vec<String> = (0..300).map(row).collect();
    let done = futures::future::join_all(rows.iter().map(|row| add(&engine, &world, row))).await;
    let added = done.iter().filter(|done| done.is_ok()).count();
    done.iter().filter_map(|done| done.as_ref().err()).for_each(full);
    // As many writes as the store has writers may be accepted at once.
    assert!((80..=125).contains(&added), "{added} of 300 rows were added");
}

async fn without_a_limit_nothing_is_refused(world: World) {
    notes(&world).await;
    for number in 0..200 {
        add(&world.engine, &world, &row(number)).await.unwrap();
    }
    // Above the limit that is then set, no row is accepted.
    full(&add(&world.engine.with_storage_limit(Some(MOST)), &world, &row(999)).await.unwrap_err());
    add(&world.engine.with_storage_limit(None), &world, &row(999)).await.unwrap();
}

async fn an_unknown_project_has_no_size(world: World) {
    let nothing = world.engine.stored_bytes(&harness::fresh_project()).await.unwrap_err();
    assert_eq!(nothing.code(), "project_not_found");
    let empty = world.engine.stored_bytes(&world.project).await.unwrap();
    assert!(empty < 64 << 10, "{empty} bytes of nothing");
}

/// Another process fills the project, which this one learns when it measures again.
#[tokio::test]
async fn writes_of_another_process_count() {
    let here = harness::postgres().await;
    let engine = notes(&here).await;
    add(&engine, &here, &row(5_000)).await.unwrap();
    let there = Engine::with_system(Arc::new(harness::pg_store().await)).with_storage_limit(Some(MOST));
    fill(&there, &here).await;
    // A process that does not know the project measures before its first write.
    let third = Engine::with_system(Arc::new(harness::pg_store().await)).with_storage_limit(Some(MOST));
    full(&add(&third, &here, &row(6_000)).await.unwrap_err());
    let long = noise(64);
    let delete = WriteOptions::default();
    let (owner, project) = (Access::Owner, &here.project);
    there.delete(project, &owner, "notes", "qty=gte.0&select=id", &delete).await.unwrap();
    add(&there, &here, &json!({ "title": long }).to_string()).await.unwrap();
}

/// Behind a transaction pooler, every measurement is a transaction.
#[tokio::test]
async fn the_limit_holds_behind_a_pooler() {
    let options = adapter_rows::PgOptions { is_transaction_pooled: true, ..harness::pg_options() };
    let store = adapter_rows::PgRows::connect(&options).await.unwrap();
    let world = harness::world(Arc::new(store), None).await;
    let engine = notes(&world).await;
    fill(&engine, &world).await;
    clear(&engine, &world).await;
    add(&engine, &world, &row(0)).await.unwrap();
}
