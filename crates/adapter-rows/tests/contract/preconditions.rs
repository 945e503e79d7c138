//! Preconditions of writes to one row.

use std::sync::Arc;

use backend_data::{
    Access, ColumnType, Engine, Error, ErrorKind, Format, NewColumn, NewTable, RowTest, WriteOptions,
    WriteOutcome,
};
use serde_json::{Value as Json, json};

use crate::{
    contract,
    harness::{World, postgres, sqlite, text},
};

contract!(
    a_row_of_every_type_is_recognized,
    a_row_that_changed_is_not_written,
    of_simultaneous_writes_that_expect_the_same_row_one_succeeds,
    a_table_that_changed_is_not_changed,
);

async fn notes(world: &World) {
    let mut table = NewTable::new("notes");
    for (name, kind) in [
        ("title", ColumnType::Text),
        ("price", ColumnType::Real),
        ("qty", ColumnType::Integer),
        ("done", ColumnType::Boolean),
        ("due", ColumnType::Timestamp),
        ("tags", ColumnType::Json),
    ] {
        table = table.with_column(NewColumn::new(name, kind));
    }
    world.table(table).await;
}

async fn read(world: &World, id: &str) -> Result<Vec<u8>, Error> {
    let page = world.engine.get(&world.project, &Access::Owner, "notes", id, "", Format::Json).await?;
    Ok(page.body.to_vec())
}

/// Returns the engine that writes only the row with this text.
fn expecting(world: &World, row: &[u8]) -> Engine {
    let row = row.to_vec();
    world.engine.with_precondition(Arc::new(move |current| current == row))
}

async fn update(world: &World, engine: &Engine, id: &str, body: Json) -> Result<WriteOutcome, Error> {
    let (body, options) = (body.to_string(), WriteOptions::default());
    engine.update_by_id(&world.project, &Access::Owner, "notes", id, "", body.as_bytes(), &options).await
}

async fn delete(world: &World, engine: &Engine, id: &str) -> Result<WriteOutcome, Error> {
    let options = WriteOptions::default();
    engine.delete_by_id(&world.project, &Access::Owner, "notes", id, "", &options).await
}

fn kind(outcome: Result<WriteOutcome, Error>) -> ErrorKind {
    outcome.unwrap_err().kind()
}

async fn a_row_of_every_type_is_recognized(world: World) {
    notes(&world).await;
    let rows = json!([
        {"id": "nulls", "title": null, "price": null, "qty": null, "done": null, "due": null, "tags": null},
        {
            "id": "values", "title": "Tea \"☕\" \\ \u{1}", "price": 0.1, "qty": i64::MAX, "done": false,
            "due": "2026-11-21T11:58:00.123456Z", "tags": {"b": [1, 2.50, {"c": null}], "a": "é"},
        },
        {
            "id": "limits", "title": "", "price": -1.797_693_134_862_315_7e308, "qty": i64::MIN, "done": true,
            "due": "0001-01-01T00:00:00Z", "tags": [],
        },
        {
            "id": "others", "title": "x", "price": -0.0, "qty": 0, "done": true,
            "due": "9999-12-31T23:59:59.999999Z", "tags": "text",
        },
    ]);
    world.insert("notes", &rows.to_string()).await.unwrap();
    for id in ["nulls", "values", "limits", "others"] {
        let row = read(&world, id).await.unwrap();
        let written = update(&world, &expecting(&world, &row), id, json!({"title": "new"})).await.unwrap();
        let after = read(&world, id).await.unwrap();
        assert_eq!(text(&written).as_bytes(), after, "the response is the row as it is read");
        assert_eq!(kind(delete(&world, &expecting(&world, &row), id).await), ErrorKind::PreconditionFailed);
        delete(&world, &expecting(&world, &after), id).await.unwrap();
        assert_eq!(read(&world, id).await.unwrap_err().kind(), ErrorKind::NotFound);
    }
}

async fn a_row_that_changed_is_not_written(world: World) {
    notes(&world).await;
    world.insert("notes", r#"{"id":"a","title":"first"}"#).await.unwrap();
    let row = read(&world, "a").await.unwrap();
    let stale = expecting(&world, &row);
    update(&world, &world.engine, "a", json!({"qty": 1})).await.unwrap();
    let refused = update(&world, &stale, "a", json!({"title": "lost"})).await.unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (ErrorKind::PreconditionFailed, "changed_meanwhile"));
    assert_eq!(world.list("select=title,qty").await.unwrap(), r#"[{"title":"first","qty":1}]"#);
    // What is gone or was never there is not found.
    delete(&world, &world.engine, "a").await.unwrap();
    assert_eq!(kind(update(&world, &stale, "a", json!({"qty": 2})).await), ErrorKind::NotFound);
    assert_eq!(kind(delete(&world, &stale, "b").await), ErrorKind::NotFound);
}

async fn of_simultaneous_writes_that_expect_the_same_row_one_succeeds(world: World) {
    notes(&world).await;
    world.insert("notes", r#"{"id":"a","qty":0}"#).await.unwrap();
    let world = Arc::new(world);
    for round in 1..=5 {
        let row = read(&world, "a").await.unwrap();
        let mut writes = tokio::task::JoinSet::new();
        for number in 0..8 {
            let (world, row) = (Arc::clone(&world), row.clone());
            let body = json!({"qty": round * 10 + number});
            writes.spawn(async move { update(&world, &expecting(&world, &row), "a", body).await });
        }
        let outcomes = writes.join_all().await;
        let succeeded = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        let refused = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
        assert!(refused.clone().all(|error| error.kind() == ErrorKind::PreconditionFailed), "{outcomes:?}");
        assert_eq!((succeeded, refused.count()), (1, 7));
    }
}

/// The test itself changes the row, between the read and the statement of the write.
async fn a_change_between_the_comparison_and_the_write_is_noticed(world: World) {
    notes(&world).await;
    let world = Arc::new(world);
    for (id, tags) in [("text", json!(null)), ("json", json!({"a": 1}))] {
        let row = json!({"id": id, "title": "first", "tags": tags});
        world.insert("notes", &row.to_string()).await.unwrap();
        let other = Arc::clone(&world);
        let test: RowTest = Arc::new(move |_| {
            let body = if id == "json" { json!({"tags": {"a": 2}}) } else { json!({"title": "theirs"}) };
            let change = update(&other, &other.engine, id, body);
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(change)).is_ok()
        });
        let engine = world.engine.with_precondition(test);
        let write = async { update(&world, &engine, id, json!({"title": "mine"})).await };
        assert_eq!(kind(write.await), ErrorKind::PreconditionFailed, "{id}");
        let title = if id == "json" { "first" } else { "theirs" };
        let stored: Json = serde_json::from_slice(&read(&world, id).await.unwrap()).unwrap();
        assert_eq!(stored["title"], title);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_between_is_noticed_on_sqlite() {
    a_change_between_the_comparison_and_the_write_is_noticed(sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_between_is_noticed_on_postgres() {
    a_change_between_the_comparison_and_the_write_is_noticed(postgres().await).await;
}

async fn a_table_that_changed_is_not_changed(world: World) {
    notes(&world).await;
    let seen = world.engine.schema(&world.project, &Access::Owner).await.unwrap().remove(0);
    let expecting = world.engine.with_table_precondition(Arc::new(move |table| *table == seen));
    let (project, owner) = (&world.project, &Access::Owner);
    // Of simultaneous changes that expect the same table, one succeeds.
    let renames =
        ["a", "b", "c", "d"].map(|name| expecting.rename_column(project, owner, "notes", "title", name));
    let outcomes = futures::future::join_all(renames).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let refusals = [
        expecting.set_rules(project, owner, "notes", Vec::new()).await.unwrap_err(),
        expecting.drop_column(project, owner, "notes", "price").await.unwrap_err(),
        expecting.rename_column(project, owner, "notes", "price", "price").await.unwrap_err(),
        expecting
            .add_column(project, owner, "notes", NewColumn::new("more", ColumnType::Text))
            .await
            .unwrap_err(),
        expecting.set_public_read(project, owner, "notes", true).await.unwrap_err(),
        expecting.drop_index(project, owner, "notes", "ix1").await.unwrap_err(),
        expecting.drop_table(project, owner, "notes").await.unwrap_err(),
    ];
    for refusal in refusals {
        assert_eq!(refusal.kind(), ErrorKind::PreconditionFailed, "{refusal}");
    }
    // Without an expectation, a change that others overtook finds what they left.
    let index = backend_data::NewIndex { columns: vec!["qty".into()], unique: false };
    let engine = &world.engine;
    engine.add_index(project, owner, "notes", index).await.unwrap();
    let drops = (0..4).map(|_| engine.drop_index(project, owner, "notes", "ix1"));
    let drops = futures::future::join_all(drops).await;
    assert_eq!(drops.iter().filter(|drop| drop.is_ok()).count(), 1, "{drops:?}");
    assert!(drops.iter().flat_map(|drop| drop.as_ref().err()).all(|error| error.code() == "index_not_found"));
    let drops = (0..4).map(|_| engine.drop_column(project, owner, "notes", "price"));
    let drops = futures::future::join_all(drops).await;
    assert!(
        drops.iter().flat_map(|drop| drop.as_ref().err()).all(|error| error.code() == "column_not_found")
    );
    let missing = expecting.drop_table(project, owner, "others").await.unwrap_err();
    assert_eq!(missing.code(), "table_not_found");
}
