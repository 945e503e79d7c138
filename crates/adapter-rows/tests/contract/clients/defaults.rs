//! Defaults of columns.

use super::*;
use crate::contract;

contract!(a_column_that_is_left_out_gets_its_default, a_default_fits_its_column, defaults_meet_the_rules,);

async fn with_defaults(world: &World) {
    let table = NewTable::new("notes")
        .with_column(NewColumn::new("title", ColumnType::Text).with_default(json!("new")))
        .with_column(NewColumn::new("done", ColumnType::Boolean).required().with_default(json!(false)))
        .with_column(NewColumn::new("qty", ColumnType::Integer).with_default(json!(i64::MAX)))
        .with_column(NewColumn::new("price", ColumnType::Real).with_default(json!(0.1)))
        .with_column(
            NewColumn::new("due", ColumnType::Timestamp).with_default(json!("2026-01-02T03:04:05+05:00")),
        )
        .with_column(NewColumn::new("meta", ColumnType::Json).with_default(json!({"b": [1, null], "a": "x"})))
        .with_column(NewColumn::new("owner", ColumnType::Text));
    world.table(table).await;
}

async fn a_column_that_is_left_out_gets_its_default(world: World) {
    with_defaults(&world).await;
    let owner = Access::Owner;
    let whole = "select=title,done,qty,price,due,meta,owner";
    let wanted = json!({"title": "new", "done": false, "qty": i64::MAX, "price": 0.1,
        "due": "2026-01-01T22:04:05.000000Z", "meta": {"a": "x", "b": [1, null]}, "owner": null});
    let plain = WriteOptions::default();
    let made = insert(&world, &owner, whole, &json!({}), &plain).await.unwrap();
    assert_eq!(serde_json::from_str::<Json>(&made).unwrap(), json!([wanted]));
    // A null that is sent stays null.
    let made = insert(&world, &owner, "select=title,done", &json!({"title": null}), &plain).await.unwrap();
    assert_eq!(made, r#"[{"title":null,"done":false}]"#);
    assert_eq!(code(insert(&world, &owner, "", &json!({"done": null}), &plain).await), "value_required");
    // A column of `columns` is null in a row that leaves it out, unless the options request defaults.
    let rows = json!([{"id": "1", "title": "a"}, {"id": "2", "qty": 1}]);
    let query = "columns=id,title,qty&select=id,title,qty,done";
    let made = insert(&world, &owner, query, &rows, &plain).await.unwrap();
    assert_eq!(
        made,
        r#"[{"id":"1","title":"a","qty":null,"done":false},{"id":"2","title":null,"qty":1,"done":false}]"#
    );
    let missing =
        WriteOptions { missing_default: true, resolution: Some(Resolution::MergeDuplicates), ..plain };
    let merged = insert(&world, &owner, query, &rows, &missing).await.unwrap();
    let most = i64::MAX;
    assert_eq!(
        merged,
        format!(
            r#"[{{"id":"1","title":"a","qty":{most},"done":false}},{{"id":"2","title":"new","qty":1,"done":false}}]"#
        )
    );
    let required = json!([{"id": "3", "done": true}, {"id": "4"}]);
    assert_eq!(code(insert(&world, &owner, "columns=id,done", &required, &plain).await), "value_required");
    let missing = WriteOptions { resolution: None, ..missing };
    assert!(insert(&world, &owner, "columns=id,done", &required, &missing).await.is_ok());
    // A merge does not change columns that it does not name.
    update(&world, &owner, "id=eq.1", r#"{"title":"kept"}"#).await.unwrap();
    let merged = upsert(&world, &owner, "select=title,qty", &json!({"id": "1", "qty": 5})).await.unwrap();
    assert_eq!(merged, r#"[{"title":"kept","qty":5}]"#);
    assert_eq!(put(&world, &owner, "id=eq.put&select=title", "{}").await.unwrap().0, r#"[{"title":"new"}]"#);
    let csv = WriteOptions { csv_body: true, ..plain };
    let made = world
        .engine
        .insert(&world.project, &owner, "notes", "select=title,done,qty", b"qty\n4\n5,6\n", &csv)
        .await;
    assert!(made.is_err(), "a row of the CSV has too many fields");
    let made = world
        .engine
        .insert(&world.project, &owner, "notes", "select=title,qty", b"id,qty\nx,4\ny,\n", &csv)
        .await
        .unwrap();
    assert_eq!(text(&made), r#"[{"title":"new","qty":4},{"title":"new","qty":null}]"#);
    let file = bytes::Bytes::from("qty\n41\n");
    let options = backend_data::ImportOptions::default();
    world.engine.import(&world.project, &owner, "notes", std::sync::Arc::new(file), &options).await.unwrap();
    assert_eq!(world.list("qty=eq.41&select=title,done").await.unwrap(), r#"[{"title":"new","done":false}]"#);
    let operation = Operation {
        kind: OperationKind::Insert,
        table: "notes",
        id: None,
        query: "select=title",
        body: b"{}",
        options: plain,
    };
    let done = world.engine.batch(&world.project, &owner, vec![operation]).await.unwrap();
    assert_eq!(text(&done[0]), r#"[{"title":"new"}]"#);
}

async fn a_default_fits_its_column(world: World) {
    use ColumnType::{Boolean, Integer, Json as Document, Real, Text, Timestamp};
    let bad = [
        (Integer, json!("many")),
        (Integer, json!(1.5)),
        (Integer, json!(true)),
        (Text, json!(7)),
        (Text, json!("a\0b")),
        (Boolean, json!(1)),
        (Timestamp, json!("tomorrow")),
        (Timestamp, json!(7)),
        (Real, json!("NaN")),
        (Text, json!("x".repeat(5_000))),
        (Document, json!("x".repeat(5_000))),
    ];
    for (kind, default) in bad {
        let table = NewTable::new("bad").with_column(NewColumn::new("c", kind).with_default(default.clone()));
        let refused = world.engine.create_table(&world.project, &Access::Owner, table).await;
        assert_eq!(code(refused), "invalid_value", "{kind:?} {default}");
    }
    notes(&world).await;
    world.insert("notes", r#"{"id":"old"}"#).await.unwrap();
    let add = async |column: NewColumn| {
        world.engine.add_column(&world.project, &Access::Owner, "notes", column).await
    };
    assert_eq!(code(add(NewColumn::new("stars", Integer).with_default(json!("x"))).await), "invalid_value");
    let table = add(NewColumn::new("stars", Integer).with_default(json!(3))).await.unwrap();
    assert_eq!(table.column("stars").unwrap().default, Some(json!(3)));
    world.insert("notes", r#"{"id":"young"}"#).await.unwrap();
    let rows = world.list("select=id,stars&order=id").await.unwrap();
    assert_eq!(rows, r#"[{"id":"old","stars":null},{"id":"young","stars":3}]"#);
    let required = add(NewColumn::new("needed", Integer).required().with_default(json!(1))).await;
    assert_eq!(code(required), "column_needs_value");
    delete(&world, &Access::Owner, "id=not.is.null").await.unwrap();
    add(NewColumn::new("needed", Integer).required().with_default(json!(1))).await.unwrap();
    world.insert("notes", r#"{"id":"last"}"#).await.unwrap();
    assert_eq!(world.list("select=stars,needed").await.unwrap(), r#"[{"stars":3,"needed":1}]"#);
}

async fn defaults_meet_the_rules(world: World) {
    with_defaults(&world).await;
    let open = json!({"t": "cmp", "column": "done", "op": "eq", "value": {"k": "lit", "v": false}});
    let mut add = rule("add", &["insert"], &open);
    add["columns"] = json!(["title", "done"]);
    set_rules(&world, json!([add])).await;
    let plain = WriteOptions::default();
    // A default is not written by the caller, so no rule has to cover its column.
    insert(&world, &mia(), "", &json!({"title": "hers"}), &plain).await.unwrap();
    assert_eq!(code(insert(&world, &mia(), "", &json!({"done": true}), &plain).await), "forbidden");
    assert_eq!(code(insert(&world, &mia(), "", &json!({"qty": 1}), &plain).await), "forbidden");
    assert_eq!(
        world.list("select=title,done,price").await.unwrap(),
        r#"[{"title":"hers","done":false,"price":0.1}]"#
    );
}
