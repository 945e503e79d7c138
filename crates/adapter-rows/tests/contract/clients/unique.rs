//! Unique indexes, and upserts by them.

use super::*;
use crate::contract;

contract!(
    a_unique_column_has_a_value_once,
    upserts_find_rows_by_a_unique_column,
    rows_of_others_are_not_merged_by_their_value,
    an_upsert_with_a_repeated_value_is_refused,
    concurrent_upserts_of_one_value_create_one_row,
    a_unique_index_needs_unique_values,
);

async fn members(world: &World) {
    let table = NewTable::new("notes")
        .with_column(NewColumn::new("email", ColumnType::Text))
        .with_column(NewColumn::new("number", ColumnType::Integer))
        .with_column(NewColumn::new("ratio", ColumnType::Real))
        .with_column(NewColumn::new("owner", ColumnType::Text));
    world.table(table).await;
    for column in ["email", "number", "ratio"] {
        let table =
            world.engine.add_index(&world.project, &Access::Owner, "notes", NewIndex::unique(column)).await;
        assert!(table.unwrap().indexes.last().unwrap().unique);
    }
}

async fn a_unique_column_has_a_value_once(world: World) {
    members(&world).await;
    let rows = r#"[{"id":"1","email":"a@x","number":1},{"id":"2","email":null,"number":2},{"id":"3","email":null,"number":3}]"#;
    world.insert("notes", rows).await.unwrap();
    let refused = world.insert("notes", r#"{"email":"a@x"}"#).await.unwrap_err();
    assert_eq!(
        (refused.kind(), refused.code(), refused.pgrst_code()),
        (ErrorKind::Conflict, "value_exists", "23505")
    );
    assert_eq!(code(world.insert("notes", r#"[{"email":"b@x"},{"email":"b@x"}]"#).await), "value_exists");
    assert_eq!(code(world.insert("notes", r#"{"id":"1","email":"c@x"}"#).await), "row_exists");
    assert_eq!(code(update(&world, &Access::Owner, "id=eq.2", r#"{"email":"a@x"}"#).await), "value_exists");
    assert_eq!(
        code(upsert(&world, &Access::Owner, "", &json!({"id": "2", "email": "a@x"})).await),
        "value_exists"
    );
    // Values are compared exactly, case included.
    world.insert("notes", r#"[{"email":"A@x"},{"email":"a@x "},{"email":""}]"#).await.unwrap();
    let twice = Operation {
        kind: OperationKind::Insert,
        table: "notes",
        id: None,
        query: "",
        body: br#"{"email":"z@x"}"#,
        options: WriteOptions::default(),
    };
    let refused =
        world.engine.batch(&world.project, &Access::Owner, vec![twice.clone(), twice]).await.unwrap_err();
    assert_eq!(
        (refused.code(), refused.details()),
        ("value_exists", Some("In operation 1. Nothing was changed."))
    );
    assert_eq!(world.ids("email=eq.z@x").await, "");
    let file = std::sync::Arc::new(bytes::Bytes::from("email\nq@x\na@x\n"));
    let refused =
        world.engine.import(&world.project, &Access::Owner, "notes", file, &Default::default()).await;
    assert_eq!(code(refused), "value_exists");
    assert_eq!(world.ids("email=eq.q@x").await, "");
    let table = world.engine.drop_index(&world.project, &Access::Owner, "notes", "ix1").await.unwrap();
    assert_eq!(table.indexes.len(), 2);
    world.insert("notes", r#"{"email":"a@x"}"#).await.unwrap();
    assert_eq!(
        code(upsert(&world, &Access::Owner, "on_conflict=email", &json!({"email": "a@x"})).await),
        "not_unique"
    );
}

async fn upserts_find_rows_by_a_unique_column(world: World) {
    members(&world).await;
    let owner = Access::Owner;
    world
        .insert("notes", r#"[{"id":"1","email":"a@x","number":1},{"id":"2","email":"b@x","number":2}]"#)
        .await
        .unwrap();
    let rows = json!([{"email": "c@x", "owner": "n"}, {"email": "b@x", "owner": "o"}, {"email": "a@x", "owner": "p"}]);
    let merged = upsert(&world, &owner, "on_conflict=email&select=email,number,owner", &rows).await.unwrap();
    assert_eq!(
        merged,
        r#"[{"email":"c@x","number":null,"owner":"n"},{"email":"b@x","number":2,"owner":"o"},{"email":"a@x","number":1,"owner":"p"}]"#
    );
    // An existing row keeps its id, whatever id is sent.
    let merged = upsert(
        &world,
        &owner,
        "on_conflict=email&select=id,owner",
        &json!({"id": "9", "email": "a@x", "owner": "q"}),
    )
    .await;
    assert_eq!(merged.unwrap(), r#"[{"id":"1","owner":"q"}]"#);
    let made =
        upsert(&world, &owner, "on_conflict=email&select=id", &json!({"id": "9", "email": "d@x"})).await;
    assert_eq!(made.unwrap(), r#"[{"id":"9"}]"#);
    // One row has the value, another has the id.
    assert_eq!(
        code(upsert(&world, &owner, "on_conflict=email", &json!({"id": "1", "email": "new@x"})).await),
        "row_exists"
    );
    // Nothing to set: the row is returned and does not change.
    let same = upsert(&world, &owner, "on_conflict=email&select=id", &json!({"email": "a@x"})).await;
    assert_eq!(same.unwrap(), r#"[{"id":"1"}]"#);
    let numbers = json!([{"number": 30}, {"number": 2, "email": "bb@x"}]);
    assert_eq!(code(upsert(&world, &owner, "on_conflict=number", &numbers).await), "invalid_body");
    let merged =
        upsert(&world, &owner, "on_conflict=number&select=id,email", &json!({"number": 2, "email": "bb@x"}))
            .await;
    assert_eq!(merged.unwrap(), r#"[{"id":"2","email":"bb@x"}]"#);
    let ignore = WriteOptions { resolution: Some(Resolution::IgnoreDuplicates), ..WriteOptions::default() };
    let rows = json!([{"email": "z@x"}, {"email": "a@x"}, {"email": "y@x"}]);
    let left = insert(&world, &owner, "on_conflict=email&select=email", &rows, &ignore).await.unwrap();
    assert_eq!(left, r#"[{"email":"z@x"},{"email":"y@x"}]"#);
    // Rows with nulls are different rows.
    let nulls = json!([{"email": null, "owner": "1"}, {"email": null, "owner": "2"}]);
    assert_eq!(
        upsert(&world, &owner, "on_conflict=email&select=owner", &nulls).await.unwrap(),
        r#"[{"owner":"1"},{"owner":"2"}]"#
    );
    let ratios = json!([{"ratio": 0.5, "owner": "h"}, {"ratio": 0, "owner": "z"}]);
    for _ in 0..2 {
        let merged = upsert(&world, &owner, "on_conflict=ratio&select=ratio,owner", &ratios).await.unwrap();
        assert_eq!(
            serde_json::from_str::<Json>(&merged).unwrap(),
            json!([{"ratio": 0.5, "owner": "h"}, {"ratio": 0.0, "owner": "z"}])
        );
    }
    let minus =
        upsert(&world, &owner, "on_conflict=ratio&select=owner", &json!({"ratio": -0.0, "owner": "m"})).await;
    assert_eq!(minus.unwrap(), r#"[{"owner":"m"}]"#);
    assert_eq!(world.list("ratio=eq.0&select=owner").await.unwrap(), r#"[{"owner":"m"}]"#);
}

async fn rows_of_others_are_not_merged_by_their_value(world: World) {
    members(&world).await;
    let rows = r#"[{"id":"1","email":"mia@x","owner":"mia","number":1},{"id":"2","email":"tom@x","owner":"tom","number":2}]"#;
    world.insert("notes", rows).await.unwrap();
    set_rules(&world, json!([rule("own", &["read", "insert", "update"], &own())])).await;
    let before = world.list("order=id").await.unwrap();
    let stolen = [
        json!({"email": "tom@x", "owner": "mia", "number": 7}),
        json!({"email": "tom@x", "number": 7}),
        json!({"email": "mia@x", "owner": "tom"}),
        json!([{"email": "mia@x", "owner": "mia"}, {"email": "tom@x", "owner": "mia"}]),
        json!([{"email": "new@x", "owner": "mia"}, {"email": "tom@x", "owner": "mia"}]),
    ];
    let not_allowed =
        upsert(&world, &mia(), "on_conflict=email", &json!({"email": "nobody@x", "owner": "tom"}))
            .await
            .unwrap_err();
    for rows in &stolen {
        for query in ["on_conflict=email", "on_conflict=email&select=id"] {
            let refused = upsert(&world, &mia(), query, rows).await.unwrap_err();
            // The same error as for a new row that she may not insert.
            assert_eq!(
                (refused.kind(), refused.message()),
                (ErrorKind::Forbidden, not_allowed.message()),
                "{rows}"
            );
            assert_eq!((refused.details(), refused.hint()), (not_allowed.details(), not_allowed.hint()));
        }
        assert_eq!(world.list("order=id").await.unwrap(), before, "{rows}");
    }
    let merged =
        upsert(&world, &mia(), "on_conflict=email&select=id,number", &json!({"email": "mia@x", "number": 5}))
            .await;
    assert_eq!(merged.unwrap(), r#"[{"id":"1","number":5}]"#);
    // She need not be allowed to change the column by which the row is found.
    let mut set = rule("set", &["update"], &own());
    set["columns"] = json!(["number"]);
    set_rules(&world, json!([rule("own", &["read", "insert"], &own()), set])).await;
    let merged = upsert(
        &world,
        &mia(),
        "on_conflict=email&select=number",
        &json!({"id": "x", "email": "mia@x", "number": 6}),
    )
    .await;
    assert_eq!(merged.unwrap(), r#"[{"number":6}]"#);
    assert_eq!(
        code(upsert(&world, &mia(), "on_conflict=email", &json!({"email": "mia@x", "owner": "mia"})).await),
        "forbidden"
    );
}

async fn an_upsert_with_a_repeated_value_is_refused(world: World) {
    members(&world).await;
    let owner = Access::Owner;
    let twice = json!([{"email": "a@x", "number": 1}, {"email": "a@x", "number": 2}]);
    assert_eq!(code(upsert(&world, &owner, "on_conflict=email", &twice).await), "invalid_body");
    let zeros = json!([{"ratio": 0.0}, {"ratio": -0.0}]);
    assert_eq!(code(upsert(&world, &owner, "on_conflict=ratio", &zeros).await), "invalid_body");
    for (query, wanted) in [
        ("on_conflict=nope", "column_not_found"),
        ("on_conflict=owner", "not_unique"),
        ("on_conflict=number", "invalid_body"),
        ("on_conflict=email,number", "invalid_body"),
        ("on_conflict=email,owner", "not_unique"),
        ("on_conflict=created_at", "invalid_body"),
    ] {
        let rows = json!([{"email": "a@x", "owner": "o"}]);
        assert_eq!(code(upsert(&world, &owner, query, &rows).await), wanted, "{query}");
    }
    assert_eq!(world.ids("select=id").await, "");
}

async fn concurrent_upserts_of_one_value_create_one_row(world: World) {
    members(&world).await;
    let owner = Access::Owner;
    let bodies: Vec<Json> = (0..16)
        .map(|n| {
            let mut rows: Vec<Json> =
                (0..10).map(|k| json!({"email": format!("{k}@x"), "owner": format!("{n}")})).collect();
            // Each in another order, which must not lead to deadlocks.
            rows.rotate_left(n % 10);
            json!(rows)
        })
        .collect();
    let done = futures::future::join_all(
        bodies.iter().map(|rows| upsert(&world, &owner, "on_conflict=email&select=email", rows)),
    );
    for (rows, done) in bodies.iter().zip(done.await) {
        let sent: Vec<&Json> = rows.as_array().unwrap().iter().map(|row| &row["email"]).collect();
        let returned: Vec<Json> = serde_json::from_str(&done.unwrap()).unwrap();
        assert_eq!(
            returned.iter().map(|row| &row["email"]).collect::<Vec<_>>(),
            sent,
            "in the order they came in"
        );
    }
    let rows: Vec<Json> = serde_json::from_str(&world.list("select=email,owner").await.unwrap()).unwrap();
    assert_eq!(rows.len(), 10);
}

async fn a_unique_index_needs_unique_values(world: World) {
    five(&world).await;
    let add =
        async |index: NewIndex| world.engine.add_index(&world.project, &Access::Owner, "notes", index).await;
    let refused = add(NewIndex::unique("owner")).await.unwrap_err();
    assert_eq!((refused.kind(), refused.code()), (ErrorKind::Conflict, "values_repeat"));
    let table = world.engine.schema(&world.project, &Access::Owner).await.unwrap().remove(0);
    assert!(table.indexes.is_empty(), "a refused index leaves nothing");
    assert_eq!(code(add(NewIndex::unique("meta")).await), "invalid_request");
    assert_eq!(code(add(NewIndex::unique("id")).await), "invalid_request");
    assert_eq!(code(add(NewIndex::unique("nope")).await), "column_not_found");
    // A column may have a unique and a plain index, but not two equal ones.
    add(NewIndex::on(&["qty"])).await.unwrap();
    update(&world, &Access::Owner, "id=eq.e", r#"{"qty":11}"#).await.unwrap();
    add(NewIndex::unique("qty")).await.unwrap();
    assert_eq!(code(add(NewIndex::unique("qty")).await), "index_exists");
    assert_eq!(code(add(NewIndex::on(&["qty"])).await), "index_exists");
    assert_eq!(world.ids("qty=eq.11").await, "e");
    assert_eq!(world.ids("order=qty.desc.nullslast&limit=2&cursor=").await, "ea");
    // The index survives the addition of a column.
    delete(&world, &Access::Owner, "id=not.is.null").await.unwrap();
    let column = NewColumn::new("needed", ColumnType::Text).required().with_default(json!("x"));
    world.engine.add_column(&world.project, &Access::Owner, "notes", column).await.unwrap();
    world.insert("notes", r#"{"qty":1}"#).await.unwrap();
    assert_eq!(code(world.insert("notes", r#"{"qty":1}"#).await), "value_exists");
}
