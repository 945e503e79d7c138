//! The observer of writes hears of each table whose rows were changed.

use std::sync::{Arc, Mutex};

use backend_data::{
    Access, ColumnType, Engine, FileFormat, ImportOptions, NewColumn, NewTable, Operation, OperationKind,
    ProjectRef, WriteObserver, WriteOptions,
};
use bytes::Bytes;

use crate::{contract, harness::World};

contract!(every_write_that_changed_rows_is_observed);

#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

impl WriteObserver for Recorder {
    fn rows_written(&self, project: &ProjectRef, table: &str) {
        self.0.lock().unwrap().push(format!("{}/{table}", project.id));
    }
}

async fn every_write_that_changed_rows_is_observed(world: World) {
    let (project, owner, options) = (&world.project, Access::Owner, WriteOptions::default());
    let recorder = Arc::new(Recorder::default());
    let engine: Engine = world.engine.with_write_observer(Arc::clone(&recorder) as _);
    let expect = |tables: &[&str], what: &str| {
        let observed = std::mem::take(&mut *recorder.0.lock().unwrap());
        let expected: Vec<String> = tables.iter().map(|table| format!("{}/{table}", project.id)).collect();
        assert_eq!(observed, expected, "{what}");
    };
    for name in ["notes", "other"] {
        let table = NewTable::new(name).with_column(NewColumn::new("title", ColumnType::Text));
        engine.create_table(project, &owner, table).await.unwrap();
    }
    expect(&[], "the schema is no row");
    engine.insert(project, &owner, "notes", "", br#"{"id":"a","title":"x"}"#, &options).await.unwrap();
    expect(&["notes"], "an insert");
    engine.put(project, &owner, "notes", "id=eq.b", br#"{"title":"y"}"#, &options).await.unwrap();
    expect(&["notes"], "a put");
    engine.update(project, &owner, "notes", "id=eq.a", br#"{"title":"z"}"#, &options).await.unwrap();
    engine.update_by_id(project, &owner, "notes", "a", "", br#"{"title":"x"}"#, &options).await.unwrap();
    expect(&["notes", "notes"], "updates");
    engine.update(project, &owner, "notes", "id=eq.nothing", br#"{"title":"z"}"#, &options).await.unwrap();
    engine.delete(project, &owner, "notes", "id=eq.nothing", &options).await.unwrap();
    expect(&[], "writes of no row");
    engine.insert(project, &owner, "notes", "", br#"{"id":"a"}"#, &options).await.unwrap_err();
    expect(&[], "a write that failed");
    engine.delete(project, &owner, "notes", "id=eq.b", &options).await.unwrap();
    engine.delete_by_id(project, &owner, "notes", "a", "", &options).await.unwrap();
    expect(&["notes", "notes"], "deletes");

    let operation = |table, query: &'static str, body| Operation {
        kind: if query.is_empty() { OperationKind::Insert } else { OperationKind::Delete },
        table,
        id: None,
        query,
        body,
        options,
    };
    let operations = vec![
        operation("other", "", br#"{"id":"a"}"# as &[u8]),
        operation("notes", "", br#"{"id":"a"}"#),
        operation("notes", "id=eq.nothing", b""),
    ];
    engine.batch(project, &owner, operations).await.unwrap();
    expect(&["other", "notes"], "a batch");

    let rows = Arc::new(Bytes::from_static(b"{\"id\":\"c\"}\n{\"id\":\"d\"}\n"));
    let import = ImportOptions { format: FileFormat::JsonLines, ..ImportOptions::default() };
    engine
        .import(project, &owner, "other", rows.clone(), &ImportOptions { dry_run: true, ..import.clone() })
        .await
        .unwrap();
    expect(&[], "a check of a file");
    let audited = engine.with_outbox(Vec::new()).with_storage_limit(Some(1 << 30));
    audited.import(project, &owner, "other", rows, &import).await.unwrap();
    expect(&["other"], "an import through a clone of the engine");
    world.insert("notes", r#"{"id":"e"}"#).await.unwrap();
    expect(&[], "another engine");
}
