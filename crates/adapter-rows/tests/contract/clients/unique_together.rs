//! Unique indexes of several columns, and upserts by them.

use super::*;
use crate::contract;

contract!(
    columns_are_unique_together,
    upserts_find_rows_by_several_columns,
    rows_of_others_are_not_merged_by_several_values,
    an_upsert_names_the_columns_of_one_index,
    concurrent_upserts_of_several_values_create_one_row_each,
    an_index_of_several_columns_needs_unique_rows,
);

/// Creates seats of rooms; a room has each number once.
async fn seats(world: &World) {
    let table = NewTable::new("notes")
        .with_column(NewColumn::new("room", ColumnType::Text))
        .with_column(NewColumn::new("number", ColumnType::Integer))
        .with_column(NewColumn::new("code", ColumnType::Text))
        .with_column(NewColumn::new("owner", ColumnType::Text))
        .with_column(NewColumn::new("meta", ColumnType::Json));
    world.table(table).await;
    for index in [NewIndex::unique_on(&["room", "number"]), NewIndex::unique("code")] {
        world.engine.add_index(&world.project, &Access::Owner, "notes", index).await.unwrap();
    }
}

async fn columns_are_unique_together(world: World) {
    seats(&world).await;
    let rows = r#"[{"id":"1","room":"a","number":1},{"id":"2","room":"a","number":2},{"id":"3","room":"b","number":1}]"#;
    world.insert("notes", rows).await.unwrap();
    // A row with a null equals no other row.
    let lacking = r#"[{"id":"4","room":"a","number":null},{"id":"5","room":"a","number":null},{"id":"6","room":null,"number":null}]"#;
    world.insert("notes", lacking).await.unwrap();
    let refused = world.insert("notes", r#"{"room":"a","number":1}"#).await.unwrap_err();
    assert_eq!(
        (refused.kind(), refused.code(), refused.pgrst_code()),
        (ErrorKind::Conflict, "value_exists", "23505")
    );
    let twice = r#"[{"room":"c","number":1},{"room":"c","number":1}]"#;
    assert_eq!(code(world.insert("notes", twice).await), "value_exists");
    assert_eq!(code(update(&world, &Access::Owner, "id=eq.2", r#"{"number":1}"#).await), "value_exists");
    assert_eq!(code(update(&world, &Access::Owner, "id=eq.4", r#"{"number":2}"#).await), "value_exists");
    assert_eq!(
        code(put(&world, &Access::Owner, "id=eq.9", r#"{"room":"b","number":1}"#).await),
        "value_exists"
    );
    let file = std::sync::Arc::new(bytes::Bytes::from("room,number\nd,1\nb,1\n"));
    let done = world.engine.import(&world.project, &Access::Owner, "notes", file, &Default::default()).await;
    let refused = done.unwrap_err();
    assert_eq!(
        (refused.code(), refused.details()),
        ("value_exists", Some("It is among the lines 2 to 3. No row was inserted."))
    );
    assert_eq!(world.ids("order=id").await, "123456");
    // The index serves filters and orders as any other.
    assert_eq!(world.ids("room=eq.a&order=number.desc.nullslast&limit=3&cursor=").await, "215");
    let table = world.engine.drop_index(&world.project, &Access::Owner, "notes", "ix1").await.unwrap();
    assert_eq!(table.indexes.len(), 1);
    world.insert("notes", r#"{"room":"a","number":1}"#).await.unwrap();
}

async fn upserts_find_rows_by_several_columns(world: World) {
    seats(&world).await;
    let owner = Access::Owner;
    let rows =
        r#"[{"id":"1","room":"a","number":1,"owner":"m"},{"id":"2","room":"a","number":2,"owner":"m"}]"#;
    world.insert("notes", rows).await.unwrap();
    let rows = json!([
        {"room": "b", "number": 1, "owner": "n"},
        {"room": "a", "number": 2, "owner": "o"},
        {"room": "a", "number": 1, "owner": "p"},
    ]);
    // The columns may be named in any order.
    for names in ["room,number", "number,room", "\"number\",\"room\""] {
        let query = format!("on_conflict={names}&select=room,number,owner");
        let merged = upsert(&world, &owner, &query, &rows).await.unwrap();
        assert_eq!(serde_json::from_str::<Json>(&merged).unwrap(), rows, "{names}");
    }
    assert_eq!(world.list("select=count()").await.unwrap(), r#"[{"count":3}]"#);
    // An existing row keeps its id; a new one gets the id that was sent.
    let by = "on_conflict=room,number&select=id,owner";
    let merged = json!([
        {"id": "9", "room": "a", "number": 1, "owner": "q"},
        {"id": "8", "room": "c", "number": 1, "owner": "r"},
    ]);
    let merged = upsert(&world, &owner, by, &merged).await;
    assert_eq!(merged.unwrap(), r#"[{"id":"1","owner":"q"},{"id":"8","owner":"r"}]"#);
    // Another row has the id, or the values of another unique index.
    let taken = json!({"id": "1", "room": "z", "number": 1});
    assert_eq!(code(upsert(&world, &owner, by, &taken).await), "row_exists");
    update(&world, &owner, "id=eq.2", r#"{"code":"k"}"#).await.unwrap();
    let taken = json!({"room": "a", "number": 1, "code": "k"});
    assert_eq!(code(upsert(&world, &owner, by, &taken).await), "value_exists");
    // Nothing to set: the row is returned and does not change.
    let same = upsert(&world, &owner, by, &json!({"room": "a", "number": 1})).await;
    assert_eq!(same.unwrap(), r#"[{"id":"1","owner":"q"}]"#);
    let ignore = WriteOptions { resolution: Some(Resolution::IgnoreDuplicates), ..WriteOptions::default() };
    let rows = json!([{"room": "z", "number": 9}, {"room": "a", "number": 1}, {"room": "z", "number": 8}]);
    let left = insert(&world, &owner, "on_conflict=number,room&select=number", &rows, &ignore).await;
    assert_eq!(left.unwrap(), r#"[{"number":9},{"number":8}]"#);
    // Rows with nulls are different rows.
    let lacking = json!([{"room": "a", "number": null}, {"room": "a", "number": null}]);
    let made = upsert(&world, &owner, "on_conflict=room,number&select=room", &lacking).await;
    assert_eq!(made.unwrap(), r#"[{"room":"a"},{"room":"a"}]"#);
    let csv = WriteOptions { csv_body: true, resolution: Some(Resolution::MergeDuplicates), ..ignore };
    let body = b"number,room,owner\n1,a,csv\n7,z,new\n";
    let query = "on_conflict=room,number&select=owner";
    let done = world.engine.insert(&world.project, &owner, "notes", query, body, &csv).await.unwrap();
    assert_eq!((text(&done).as_str(), done.inserted), (r#"[{"owner":"csv"},{"owner":"new"}]"#, Some(1)));
}

async fn rows_of_others_are_not_merged_by_several_values(world: World) {
    seats(&world).await;
    let rows =
        r#"[{"id":"1","room":"a","number":1,"owner":"mia"},{"id":"2","room":"a","number":2,"owner":"tom"}]"#;
    world.insert("notes", rows).await.unwrap();
    set_rules(&world, json!([rule("own", &["read", "insert", "update"], &own())])).await;
    let before = world.list("order=id").await.unwrap();
    let by = "on_conflict=room,number";
    let not_allowed =
        upsert(&world, &mia(), by, &json!({"room": "q", "number": 1, "owner": "tom"})).await.unwrap_err();
    for rows in [
        json!({"room": "a", "number": 2, "owner": "mia"}),
        json!({"room": "a", "number": 2, "code": "stolen"}),
        json!({"room": "a", "number": 1, "owner": "tom"}),
        json!([{"room": "a", "number": 1, "owner": "mia"}, {"room": "a", "number": 2, "owner": "mia"}]),
        json!([{"room": "n", "number": 2, "owner": "mia"}, {"room": "a", "number": 2, "owner": "mia"}]),
    ] {
        for query in [by, "on_conflict=number,room&select=id"] {
            let refused = upsert(&world, &mia(), query, &rows).await.unwrap_err();
            assert_eq!(
                (refused.kind(), refused.message(), refused.details(), refused.hint()),
                (ErrorKind::Forbidden, not_allowed.message(), not_allowed.details(), not_allowed.hint()),
                "as a new row that she may not insert: {rows}"
            );
        }
        assert_eq!(world.list("order=id").await.unwrap(), before, "{rows}");
    }
    // She need not be allowed to change the columns by which the row is found.
    let mut set = rule("set", &["update"], &own());
    set["columns"] = json!(["code"]);
    set_rules(&world, json!([rule("own", &["read", "insert"], &own()), set])).await;
    let row = json!({"id": "x", "room": "a", "number": 1, "code": "mine"});
    let merged = upsert(&world, &mia(), "on_conflict=number,room&select=id,code", &row).await;
    assert_eq!(merged.unwrap(), r#"[{"id":"1","code":"mine"}]"#);
    // By the other index, the merge sets room and number.
    assert_eq!(code(upsert(&world, &mia(), "on_conflict=code", &row).await), "forbidden");
    // A caller without a rule for updates cannot merge, whether such a row exists or not.
    set_rules(&world, json!([rule("add", &["read", "insert"], &all())])).await;
    for number in [1, 99] {
        let row = json!({"room": "a", "number": number});
        assert_eq!(code(upsert(&world, &mia(), by, &row).await), "forbidden");
    }
}

async fn an_upsert_names_the_columns_of_one_index(world: World) {
    seats(&world).await;
    let owner = Access::Owner;
    let row = json!({"room": "a", "number": 1, "code": "k", "owner": "o"});
    for (query, wanted) in [
        ("on_conflict=room", "not_unique"),
        ("on_conflict=number", "not_unique"),
        ("on_conflict=room,number,code", "not_unique"),
        ("on_conflict=room,code", "not_unique"),
        ("on_conflict=room,room", "invalid_request"),
        ("on_conflict=room,number,room", "invalid_request"),
        ("on_conflict=room,nope", "column_not_found"),
        ("on_conflict=id,room", "invalid_body"),
        ("on_conflict=room,created_at", "invalid_body"),
        ("on_conflict=room,", "invalid_query"),
        ("on_conflict=", "invalid_query"),
        ("on_conflict=room,number&on_conflict=code", "invalid_query"),
        ("on_conflict=room,number&columns=room,owner", "invalid_body"),
    ] {
        let refused = code(upsert(&world, &owner, query, &row).await);
        let either = ["invalid_query", "invalid_request"];
        let same = refused == wanted || either.contains(&refused.as_str()) && either.contains(&wanted);
        assert!(same, "{query}: {refused}");
    }
    let twice = json!([{"room": "a", "number": 1, "owner": "x"}, {"room": "a", "number": 1, "owner": "y"}]);
    let refused = upsert(&world, &owner, "on_conflict=number,room", &twice).await.unwrap_err();
    assert_eq!(
        (refused.code(), refused.message()),
        ("invalid_body", "the values of room, number appear twice")
    );
    // Values that are equal only if they are concatenated.
    let alike = json!([{"room": "a1", "number": 1}, {"room": "a", "number": 11}]);
    upsert(&world, &owner, "on_conflict=room,number", &alike).await.unwrap();
    assert_eq!(world.list("select=count()").await.unwrap(), r#"[{"count":2}]"#);
}

async fn concurrent_upserts_of_several_values_create_one_row_each(world: World) {
    seats(&world).await;
    let owner = Access::Owner;
    let bodies: Vec<Json> = (0..16)
        .map(|n| {
            let mut rows: Vec<Json> = (0..10)
                .map(|k| json!({"room": format!("{}", k % 2), "number": k / 2, "owner": format!("{n}")}))
                .collect();
            rows.rotate_left(n % 10);
            json!(rows)
        })
        .collect();
    let queries =
        ["on_conflict=room,number&select=room,number", "on_conflict=number,room&select=room,number"];
    let upserts = bodies.iter().enumerate().map(|(n, rows)| upsert(&world, &owner, queries[n % 2], rows));
    for (rows, done) in bodies.iter().zip(futures::future::join_all(upserts).await) {
        let returned: Vec<Json> = serde_json::from_str(&done.unwrap()).unwrap();
        let sent = rows.as_array().unwrap();
        let same =
            |(one, other): (&Json, &Json)| one["room"] == other["room"] && one["number"] == other["number"];
        assert!(
            sent.len() == returned.len() && sent.iter().zip(&returned).all(same),
            "in the order they came in"
        );
    }
    assert_eq!(world.list("select=count()").await.unwrap(), r#"[{"count":10}]"#);
}

async fn an_index_of_several_columns_needs_unique_rows(world: World) {
    five(&world).await;
    let add =
        async |index: NewIndex| world.engine.add_index(&world.project, &Access::Owner, "notes", index).await;
    world.insert("notes", r#"{"id":"f","owner":"mia","qty":1}"#).await.unwrap();
    assert_eq!(code(add(NewIndex::unique_on(&["owner", "qty"])).await), "values_repeat");
    delete(&world, &Access::Owner, "id=eq.f").await.unwrap();
    for (columns, wanted) in [
        (&["owner", "owner"][..], "invalid_request"),
        (&["owner", "meta"], "invalid_request"),
        (&["owner", "id"], "invalid_request"),
        (&["id", "owner"], "invalid_request"),
        (&["owner", "nope"], "column_not_found"),
        (&["owner", "qty", "created_at", "id", "meta"], "invalid_request"),
        (&[], "invalid_request"),
    ] {
        assert_eq!(code(add(NewIndex::unique_on(columns)).await), wanted, "{columns:?}");
    }
    add(NewIndex::on(&["owner", "qty"])).await.unwrap();
    let table = add(NewIndex::unique_on(&["owner", "qty"])).await.unwrap();
    assert_eq!(
        serde_json::to_value(&table.indexes).unwrap(),
        json!([{"name": "ix1", "columns": ["owner", "qty"]}, {"name": "ix2", "columns": ["owner", "qty"], "unique": true}])
    );
    assert_eq!(code(add(NewIndex::unique_on(&["owner", "qty"])).await), "index_exists");
    // The index survives the addition of a column.
    delete(&world, &Access::Owner, "id=not.is.null").await.unwrap();
    let column = NewColumn::new("needed", ColumnType::Text).required().with_default(json!("x"));
    world.engine.add_column(&world.project, &Access::Owner, "notes", column).await.unwrap();
    world.insert("notes", r#"{"owner":"o","qty":1}"#).await.unwrap();
    assert_eq!(code(world.insert("notes", r#"{"owner":"o","qty":1}"#).await), "value_exists");
}
