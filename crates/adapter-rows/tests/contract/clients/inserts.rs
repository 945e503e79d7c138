//! The order of the rows that an insert returns.

use super::*;
use crate::contract;

contract!(
    an_order_applies_to_the_rows_of_an_insert,
    an_order_of_an_insert_reveals_no_hidden_value,
    an_insert_takes_no_page,
);

async fn an_order_applies_to_the_rows_of_an_insert(world: World) {
    notes(&world).await;
    let owner = Access::Owner;
    let plain = WriteOptions::default();
    let rows = json!([
        {"id": "c", "qty": 2, "meta": {"n": 1}},
        {"id": "a", "qty": null, "meta": {"n": "x"}},
        {"id": "d", "qty": 1, "meta": null},
        {"id": "b", "qty": 2, "meta": {"n": 0.5}},
    ]);
    let cases = [
        ("order=id", "abcd"),
        ("order=qty", "dbca"),
        ("order=qty.desc", "acbd"),
        ("order=qty.desc.nullslast,id", "bcda"),
        ("order=qty.nullsfirst,id.desc", "adcb"),
        ("order=meta->n.desc.nullslast", "cbad"),
        ("order=meta->>n.nullslast", "bcad"),
        ("order=created_at,qty.desc.nullslast,id", "bcda"),
        ("columns=id,qty,meta", "cadb"),
    ];
    for (query, wanted) in cases {
        let shown = insert(&world, &owner, &format!("{query}&select=id"), &rows, &plain).await.unwrap();
        let shown: Vec<Json> = serde_json::from_str(&shown).unwrap();
        let ids: String = shown.iter().filter_map(|row| row["id"].as_str()).collect();
        assert_eq!(ids, wanted, "{query}");
        delete(&world, &owner, "id=not.is.null").await.unwrap();
    }
    insert(&world, &owner, "", &rows, &plain).await.unwrap();
    // A merge orders by the new values; with ignored duplicates, only the inserted rows are returned.
    let merge = json!([{"id": "b", "qty": 7}, {"id": "z", "qty": 9}, {"id": "a", "qty": 8}]);
    let merged = upsert(&world, &owner, "order=qty.desc&select=id", &merge).await;
    assert_eq!(merged.unwrap(), r#"[{"id":"z"},{"id":"a"},{"id":"b"}]"#);
    let ignore = WriteOptions { resolution: Some(Resolution::IgnoreDuplicates), ..plain };
    let left = json!([{"id": "y", "qty": 1}, {"id": "b", "qty": 0}, {"id": "x", "qty": 2}]);
    let left = insert(&world, &owner, "order=qty.desc&select=id", &left, &ignore).await;
    assert_eq!(left.unwrap(), r#"[{"id":"x"},{"id":"y"}]"#);
    let csv = WriteOptions { format: backend_data::Format::Csv, csv_body: true, ..plain };
    let body = b"id,qty\ne1,1\ne2,3\ne3,2\n";
    let query = "order=qty.desc&select=id";
    let done = world.engine.insert(&world.project, &owner, "notes", query, body, &csv).await.unwrap();
    assert_eq!(text(&done), "id\r\ne2\r\ne3\r\ne1\r\n");
    // With an order, a single row and no row work as without one.
    let one = WriteOptions { single_object: true, ..plain };
    let done = insert(&world, &owner, query, &json!({"id": "o"}), &one).await;
    assert_eq!(done.unwrap(), r#"{"id":"o"}"#);
    assert_eq!(insert(&world, &owner, query, &json!([]), &plain).await.unwrap(), "[]");
    let minimal = WriteOptions { minimal: true, ..plain };
    assert_eq!(insert(&world, &owner, "order=qty", &json!({"id": "m"}), &minimal).await.unwrap(), "");
}

async fn an_order_of_an_insert_reveals_no_hidden_value(world: World) {
    five(&world).await;
    // She may insert every row, but sees the quantity of her own rows only.
    let mut see = rule("see", &["read"], &own());
    see["columns"] = json!(["id", "qty"]);
    set_rules(&world, json!([see, rule("set", &["insert", "update"], &all())])).await;
    let rows = json!([{"id": "b"}, {"id": "d"}, {"id": "a"}, {"id": "c"}]);
    let shown = upsert(&world, &mia(), "order=qty.desc.nullslast&select=id,qty", &rows).await.unwrap();
    // The quantities 1 and 2 of b and d are hidden: these rows follow the others, in the order of their ids.
    assert_eq!(
        shown,
        r#"[{"id":"a","qty":3},{"id":"d","qty":null},{"id":"c","qty":null},{"id":"b","qty":null}]"#
    );
    let other = upsert(&world, &mia(), "order=qty.nullsfirst&select=id", &rows).await.unwrap();
    assert_eq!(other, r#"[{"id":"b"},{"id":"c"},{"id":"d"},{"id":"a"}]"#);
    // A column that no rule shows to her does not exist for her, even if no row is returned.
    let minimal = WriteOptions { minimal: true, ..WriteOptions::default() };
    for query in ["order=owner", "order=meta->n", "order=id,created_at", "order=nope", "order=nope->x"] {
        for options in [&minimal, &WriteOptions::default()] {
            let refused = code(insert(&world, &mia(), query, &json!({"id": "n"}), options).await);
            assert_eq!(refused, "column_not_found", "{query}");
        }
    }
    // A key that may not read gets ids and may order by them.
    let writer = Access::service([backend_data::Scope::RowsWrite]);
    let rows = json!([{"id": "w1"}, {"id": "w2"}]);
    let ids = insert(&world, &writer, "order=id.desc", &rows, &WriteOptions::default()).await.unwrap();
    assert_eq!(ids, r#"[{"id":"w2"},{"id":"w1"}]"#);
    let refused = insert(&world, &writer, "order=qty", &json!({"id": "w3"}), &WriteOptions::default()).await;
    assert_eq!(code(refused), "column_not_found");
    assert_eq!(world.ids("id=in.(n,w3)").await, "");
}

async fn an_insert_takes_no_page(world: World) {
    notes(&world).await;
    let plain = WriteOptions::default();
    for query in
        ["order=id&limit=1", "order=id&offset=1", "cursor=&order=id", "qty=eq.1", "order=qty&or=(qty.eq.1)"]
    {
        let refused = insert(&world, &Access::Owner, query, &json!({"id": "a"}), &plain).await;
        assert_eq!(code(refused), "invalid_request", "{query}");
    }
    assert_eq!(
        code(insert(&world, &Access::Owner, "order=qty->x", &json!({"id": "a"}), &plain).await),
        "invalid_value"
    );
    assert_eq!(world.ids("select=id").await, "");
}
