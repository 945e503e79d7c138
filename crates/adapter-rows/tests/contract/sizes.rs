//! Limits of requests, and of the size of results, which is checked value by value.

use std::{fmt::Write as _, sync::Arc};

use adapter_rows::{SqliteOptions, SqliteRows};
use backend_data::{
    Access, ColumnType, Engine, Error, Format, Limits, NewColumn, NewTable, Operation, OperationKind,
    ProjectRef, ReadOptions, RowStore, System, WriteOptions,
};
use serde_json::json;

use crate::{
    contract,
    filters::notes,
    harness::{World, fresh_project, pg_store},
};

contract!(
    a_query_beyond_a_limit_is_refused,
    a_column_is_selected_a_limited_number_of_times,
    lists_may_be_long
);

fn listed(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect::<Vec<_>>().join(",")
}

async fn a_query_beyond_a_limit_is_refused(world: World) {
    world.table(notes()).await;
    world.insert("notes", r#"{"id":"a","title":"x","meta":{"a":{"b":1}}}"#).await.unwrap();
    let columns = ["id", "title", "qty", "price", "done", "due", "meta", "created_at"];
    let select =
        |count| format!("select={}", listed(count, |n| format!("a{n}:{}", columns[n % columns.len()])));
    let order = |count| format!("order={}", listed(count, |n| format!("meta->a{n}")));
    let path = |steps| format!("select=meta{}", "->a".repeat(steps));
    let patterns = |count| format!("title=match(any).{{{}}}", listed(count, |n| format!("a{n}")));
    let each = |count| (0..count).map(|n| format!("title=match.a{n}")).collect::<Vec<_>>().join("&");
    let values = |count| format!("title=like(any).{{{}}}", listed(count, |_| "b".into()));
    for (fits, too_many) in [
        (order(100), order(101)),
        (order(100), order(2_500)),
        (path(64), path(65)),
        (path(64), path(5_000)),
        (patterns(10), patterns(11)),
        (each(10), each(11)),
        (values(500), values(501)),
        (select(160), select(201)),
        (select(160), select(1_900)),
    ] {
        world.list(&fits).await.unwrap_or_else(|error| panic!("{}: {error:?}", &fits[..40]));
        let error = world.list(&too_many).await.unwrap_err();
        assert_eq!(error.code(), "invalid_request", "{} {error}", &too_many[..40]);
    }
}

async fn a_column_is_selected_a_limited_number_of_times(world: World) {
    world.table(notes()).await;
    world.insert("notes", r#"{"id":"a","meta":{"a":{"b":1}}}"#).await.unwrap();
    for one in ["title", "meta->a", "meta->>a", "meta->a->b", "meta::text", "qty.sum()"] {
        let select = |count| format!("select={}", listed(count, |n| format!("x{n}:{one}")));
        world.list(&select(20)).await.unwrap();
        let many = select(21);
        assert_eq!(world.list(&many).await.unwrap_err().code(), "invalid_request", "{one}");
        if one.contains("sum") {
            continue;
        }
        let World { engine, project, .. } = &world;
        let (owner, options) = (Access::Owner, WriteOptions::default());
        let refused = [
            engine.get(project, &owner, "notes", "a", &many, Format::Json).await.map(drop),
            engine.insert(project, &owner, "notes", &many, br#"{"id":"b"}"#, &options).await.map(drop),
            engine
                .update_by_id(project, &owner, "notes", "a", &many, br#"{"qty":1}"#, &options)
                .await
                .map(drop),
            engine.delete_by_id(project, &owner, "notes", "a", &many, &options).await.map(drop),
        ];
        for refused in refused {
            assert_eq!(refused.unwrap_err().code(), "invalid_request", "{one}");
        }
    }
    assert_eq!(world.list("select=id,qty").await.unwrap(), r#"[{"id":"a","qty":null}]"#);
}

async fn lists_may_be_long(world: World) {
    world.table(notes()).await;
    world.insert("notes", r#"{"id":"a","title":"999"}"#).await.unwrap();
    let list = listed(1_000, |n| n.to_string());
    assert_eq!(world.ids(&format!("title=in.({list})&select=id")).await, "a");
    let deep = (0..7).fold("title.eq.999".to_owned(), |inner, _| format!("and({inner},title.eq.999)"));
    assert_eq!(world.ids(&format!("and=({deep})&select=id")).await, "a");
}

const MOST: usize = 100_000;

/// Creates a row of 40,000 bytes in an engine whose results have at most 100,000.
async fn small_results(store: Arc<dyn RowStore>) -> (Engine, ProjectRef) {
    let limits = Limits { max_response_bytes: MOST, ..Limits::default() };
    let (engine, project) = (Engine::new(store, Arc::new(System), Arc::new(System), limits), fresh_project());
    engine.create_project(&project).await.unwrap();
    let table = NewTable::new("notes")
        .with_column(NewColumn::new("body", ColumnType::Text))
        .with_column(NewColumn::new("meta", ColumnType::Json))
        .with_column(NewColumn::new("v", ColumnType::Integer));
    engine.create_table(&project, &Access::Owner, table).await.unwrap();
    let (body, options) = ("x".repeat(40_000), WriteOptions { minimal: true, ..WriteOptions::default() });
    for id in ["a", "b"] {
        let row = json!({"id": id, "body": body, "meta": {"a": [body]}, "v": 1}).to_string();
        engine.insert(&project, &Access::Owner, "notes", "", row.as_bytes(), &options).await.unwrap();
    }
    (engine, project)
}

async fn results_beyond_the_limit_are_refused(store: Arc<dyn RowStore>) {
    let (engine, project) = small_results(store).await;
    let owner = Access::Owner;
    let too_large = |done: Result<(), Error>, what: &str| match done {
        Ok(()) => panic!("{what} was returned"),
        Err(error) => assert_eq!(error.code(), "too_large", "{what}"),
    };
    for format in [Format::Json, Format::Stripped, Format::Csv] {
        let read = ReadOptions { format, ..ReadOptions::default() };
        let write = WriteOptions { format, ..WriteOptions::default() };
        for one in ["body", "meta", "meta->a", "meta->a->>0", "meta::text"] {
            for (count, fits) in [(2, true), (3, false), (20, false)] {
                let mut select = "select=id".to_owned();
                (0..count).for_each(|n| write!(select, ",x{n}:{one}").unwrap());
                let what = format!("{select} {format:?}");
                let one_row = format!("{select}&limit=1");
                let listed = engine.list(&project, &owner, "notes", &one_row, &read).await.map(drop);
                let found = engine.get(&project, &owner, "notes", "a", &select, format).await.map(drop);
                let all = format!("{select}&v=eq.1");
                let update =
                    engine.update(&project, &owner, "notes", &all, br#"{"v":2}"#, &write).await.map(drop);
                if fits {
                    listed.unwrap_or_else(|error| panic!("{what} {error}"));
                    found.unwrap_or_else(|error| panic!("{what} {error}"));
                } else {
                    too_large(listed, &what);
                    too_large(found, &what);
                }
                // Two rows of two such values each: the refused write changed nothing.
                too_large(update, &what);
            }
        }
    }
    let operation = |id| Operation {
        kind: OperationKind::Update,
        table: "notes",
        id: Some(id),
        query: "select=body,meta",
        body: br#"{"v":3}"#,
        options: WriteOptions::default(),
    };
    engine.batch(&project, &owner, vec![operation("a")]).await.unwrap();
    let error = engine.batch(&project, &owner, vec![operation("a"), operation("b")]).await.unwrap_err();
    assert_eq!(
        (error.code(), error.details().is_some_and(|text| text.contains("operation 1"))),
        ("too_large", true)
    );
    let (read, query) = (ReadOptions::default(), "select=v&order=id");
    let values = engine.list(&project, &owner, "notes", query, &read).await.unwrap();
    assert_eq!(&values.body[..], br#"[{"v":3},{"v":1}]"#);
}

#[tokio::test]
async fn sqlite_refuses_results_beyond_the_limit() {
    let directory = tempfile::tempdir().unwrap();
    results_beyond_the_limit_are_refused(Arc::new(
        SqliteRows::open(SqliteOptions::new(directory.path())).unwrap(),
    ))
    .await;
}

#[tokio::test]
async fn postgres_refuses_results_beyond_the_limit() {
    results_beyond_the_limit_are_refused(Arc::new(pg_store().await)).await;
}
