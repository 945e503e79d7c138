//! Renaming and dropping columns.

use std::sync::atomic::{AtomicBool, Ordering};

use backend_data::{
    Access, ColumnType, Error, ErrorKind, NewColumn, NewIndex, NewTable, ReadOptions, Resolution, Rule,
    Scope, Table, WriteOptions,
};
use serde_json::json;
use tokio::task::yield_now;

use crate::{
    contract,
    harness::{World, text},
};

contract!(
    a_renamed_column_keeps_its_values_and_what_names_it,
    a_dropped_column_is_gone_with_its_values,
    a_column_that_is_named_elsewhere_is_not_dropped,
    only_those_who_may_change_the_schema_change_columns,
    readers_and_writers_meet_the_old_name_or_the_new_one,
    two_renames_at_once_leave_one_name,
);

async fn notes(world: &World) {
    let table = NewTable::new("notes")
        .with_column(NewColumn::new("title", ColumnType::Text).with_default(json!("untitled")))
        .with_column(NewColumn::new("qty", ColumnType::Integer))
        .with_column(NewColumn::new("done", ColumnType::Boolean))
        .with_column(NewColumn::new("meta", ColumnType::Json));
    world.table(table).await;
    let rows = r#"[{"id":"a","title":"A","qty":1,"done":true,"meta":{"n":1}},
        {"id":"b","title":"B","qty":2,"done":false,"meta":null}]"#;
    world.insert("notes", rows).await.unwrap();
}

async fn rename(world: &World, from: &str, to: &str) -> Result<Table, Error> {
    world.engine.rename_column(&world.project, &Access::Owner, "notes", from, to).await
}

async fn drop_column(world: &World, column: &str) -> Result<Table, Error> {
    world.engine.drop_column(&world.project, &Access::Owner, "notes", column).await
}

async fn add_index(world: &World, index: NewIndex) {
    world.engine.add_index(&world.project, &Access::Owner, "notes", index).await.unwrap();
}

async fn set_rule(world: &World) {
    let rule = json!([{
        "id": "done", "audience": {"kind": "anyone"}, "actions": ["read"], "columns": ["title"],
        "where": {"t": "cmp", "column": "done", "op": "eq", "value": {"k": "lit", "v": true}},
    }]);
    let rules: Vec<Rule> = serde_json::from_value(rule).unwrap();
    world.engine.set_rules(&world.project, &Access::Owner, "notes", rules).await.unwrap();
}

async fn a_renamed_column_keeps_its_values_and_what_names_it(world: World) {
    notes(&world).await;
    add_index(&world, NewIndex::unique("title")).await;
    add_index(&world, NewIndex::on(&["done", "qty"])).await;
    set_rule(&world).await;
    for (from, to) in [("title", "heading"), ("qty", "amount"), ("done", "ready"), ("meta", "extra")] {
        let table = rename(&world, from, to).await.unwrap();
        assert!(table.column(to).is_some() && table.column(from).is_none());
    }
    let query = "select=id,heading,amount,ready,extra&order=id";
    let expected = r#"[{"id":"a","heading":"A","amount":1,"ready":true,"extra":{"n":1}},{"id":"b","heading":"B","amount":2,"ready":false,"extra":null}]"#;
    assert_eq!(world.list(query).await.unwrap(), expected);
    for old in ["select=title", "qty=eq.1", "order=done", "meta->n=eq.1"] {
        assert_eq!(world.list(old).await.unwrap_err().code(), "column_not_found", "{old}");
    }
    // The rule shows the same column of the same rows.
    assert_eq!(world.list_as(&Access::Visitor, "").await.unwrap(), r#"[{"heading":"A"}]"#);
    let table = &world.engine.schema(&world.project, &Access::Owner).await.unwrap()[0];
    assert_eq!(table.rules[0].sentence, "Anyone may read heading of rows where ready is true.");
    assert_eq!(table.indexes[1].columns, ["ready", "amount"]);

    // The unique index and the check of booleans still hold, and the default is kept.
    let twice = world.insert("notes", r#"{"id":"c","heading":"A"}"#).await.unwrap_err();
    assert_eq!(twice.code(), "value_exists");
    let merge = WriteOptions { resolution: Some(Resolution::MergeDuplicates), ..WriteOptions::default() };
    let body = br#"{"heading":"A","amount":7}"#;
    let merged = world
        .engine
        .insert(&world.project, &Access::Owner, "notes", "on_conflict=heading&select=id,amount", body, &merge)
        .await
        .unwrap();
    assert_eq!(text(&merged), r#"[{"id":"a","amount":7}]"#);
    let created = world.insert("notes", r#"{"id":"d","ready":false}"#).await.unwrap();
    assert!(created.contains(r#""heading":"untitled""#), "{created}");
    world.engine.drop_index(&world.project, &Access::Owner, "notes", "ix2").await.unwrap();

    // The name of a column is free again once the column has another one.
    assert_eq!(rename(&world, "heading", "amount").await.unwrap_err().code(), "column_exists");
    rename(&world, "heading", "qty").await.unwrap();
    let before = world.engine.schema(&world.project, &Access::Owner).await.unwrap();
    assert_eq!(rename(&world, "qty", "qty").await.unwrap(), before[0], "its own name changes nothing");
}

async fn a_dropped_column_is_gone_with_its_values(world: World) {
    notes(&world).await;
    for column in ["done", "meta", "qty"] {
        assert!(drop_column(&world, column).await.unwrap().column(column).is_none());
        assert_eq!(drop_column(&world, column).await.unwrap_err().kind(), ErrorKind::NotFound);
    }
    let rows = world.list("select=id,title&order=id").await.unwrap();
    assert_eq!(rows, r#"[{"id":"a","title":"A"},{"id":"b","title":"B"}]"#);
    assert_eq!(world.list("done=is.true").await.unwrap_err().code(), "column_not_found");
    world.insert("notes", r#"{"id":"c","title":"C"}"#).await.unwrap();
    // A new column of the name has none of the old values.
    let again = NewColumn::new("qty", ColumnType::Text);
    world.engine.add_column(&world.project, &Access::Owner, "notes", again).await.unwrap();
    assert_eq!(world.list("select=qty&limit=1").await.unwrap(), r#"[{"qty":null}]"#);
}

async fn a_column_that_is_named_elsewhere_is_not_dropped(world: World) {
    notes(&world).await;
    add_index(&world, NewIndex::on(&["qty"])).await;
    set_rule(&world).await;
    let before = world.engine.schema(&world.project, &Access::Owner).await.unwrap();
    for (column, user) in [("title", "rule \"done\""), ("done", "rule \"done\""), ("qty", "index \"ix1\"")] {
        let refused = drop_column(&world, column).await.unwrap_err();
        assert_eq!((refused.kind(), refused.code()), (ErrorKind::Conflict, "column_in_use"));
        assert!(refused.message().contains(user), "{refused}");
    }
    for column in ["id", "created_at"] {
        assert_eq!(drop_column(&world, column).await.unwrap_err().code(), "system_column");
        assert_eq!(rename(&world, column, "other").await.unwrap_err().code(), "system_column");
    }
    assert_eq!(world.engine.schema(&world.project, &Access::Owner).await.unwrap(), before);
    world.engine.set_rules(&world.project, &Access::Owner, "notes", Vec::new()).await.unwrap();
    world.engine.drop_index(&world.project, &Access::Owner, "notes", "ix1").await.unwrap();
    for column in ["title", "done", "qty"] {
        drop_column(&world, column).await.unwrap();
    }
}

async fn only_those_who_may_change_the_schema_change_columns(world: World) {
    notes(&world).await;
    let World { engine, project, .. } = &world;
    let elsewhere = Access::Service { scopes: vec![Scope::SchemaWrite], tables: Some(vec!["other".into()]) };
    for (access, kind) in [
        (Access::Visitor, ErrorKind::Forbidden),
        (Access::service([Scope::RowsRead, Scope::RowsWrite]), ErrorKind::Forbidden),
        (elsewhere, ErrorKind::NotFound),
    ] {
        let renamed = engine.rename_column(project, &access, "notes", "qty", "amount").await;
        assert_eq!(renamed.unwrap_err().kind(), kind, "{access:?}");
        let dropped = engine.drop_column(project, &access, "notes", "qty").await;
        assert_eq!(dropped.unwrap_err().kind(), kind, "{access:?}");
    }
    let service = Access::service([Scope::SchemaWrite]);
    engine.rename_column(project, &service, "notes", "qty", "amount").await.unwrap();
    engine.drop_column(project, &service, "notes", "amount").await.unwrap();
}

async fn readers_and_writers_meet_the_old_name_or_the_new_one(world: World) {
    notes(&world).await;
    let (owner, read, write) = (Access::Owner, ReadOptions::default(), WriteOptions::default());
    let over = AtomicBool::new(false);
    let renames = async {
        for _ in 0..10 {
            rename(&world, "qty", "amount").await.unwrap();
            rename(&world, "amount", "qty").await.unwrap();
        }
        over.store(true, Ordering::Relaxed);
    };
    // A change may overtake the second attempt too, which is a conflict and no failure of the server.
    let is_named_otherwise = |error: Error| {
        assert!(matches!(error.code(), "column_not_found" | "schema_changed"), "{error:?}");
    };
    let reader = async |query: &'static str| {
        while !over.load(Ordering::Relaxed) {
            match world.engine.list(&world.project, &owner, "notes", query, &read).await {
                Ok(page) => assert_eq!(page.rows, 2, "{query}"),
                Err(error) => is_named_otherwise(error),
            }
            // A request that is refused by the catalog in memory waits for nothing.
            yield_now().await;
        }
    };
    let writer = async {
        while !over.load(Ordering::Relaxed) {
            let body = br#"{"qty":3}"#;
            let written = world.engine.update(&world.project, &owner, "notes", "id=eq.a", body, &write).await;
            written.map_or_else(is_named_otherwise, drop);
            yield_now().await;
        }
    };
    tokio::join!(renames, reader("select=id,qty"), reader("select=id,amount"), reader(""), writer);
    assert_eq!(world.list("select=qty&id=eq.b").await.unwrap(), r#"[{"qty":2}]"#);
}

async fn two_renames_at_once_leave_one_name(world: World) {
    notes(&world).await;
    let (one, two) = tokio::join!(rename(&world, "qty", "first"), rename(&world, "qty", "second"));
    let refused = match (one, two) {
        (Ok(_), Err(refused)) | (Err(refused), Ok(_)) => refused,
        both => panic!("{both:?}"),
    };
    assert_eq!((refused.kind(), refused.code()), (ErrorKind::NotFound, "column_not_found"));
}
