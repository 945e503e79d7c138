//! Updates and deletes with an order and a limit.

use super::*;
use crate::contract;

contract!(
    the_first_rows_of_an_order_are_changed,
    an_order_without_a_limit_orders_the_result,
    a_limit_needs_an_order_and_an_order_its_columns,
    limited_changes_reach_only_visible_rows,
    concurrent_limited_deletes_take_different_rows,
);

async fn the_first_rows_of_an_order_are_changed(world: World) {
    five(&world).await;
    let owner = Access::Owner;
    let cases = [
        ("order=qty&limit=2", r#"[{"id":"b"},{"id":"e"}]"#),
        ("order=qty.desc&limit=1", r#"[{"id":"c"}]"#),
        ("order=qty.desc.nullslast&limit=1", r#"[{"id":"a"}]"#),
        ("order=qty.nullsfirst,id.desc&limit=3", r#"[{"id":"c"},{"id":"e"},{"id":"b"}]"#),
        ("order=qty&limit=2&offset=1", r#"[{"id":"e"},{"id":"d"}]"#),
        ("order=qty&offset=3", r#"[{"id":"a"},{"id":"c"}]"#),
        ("order=meta->n&limit=2&meta=not.is.null", r#"[{"id":"b"},{"id":"e"}]"#),
        ("order=meta->>n.desc&limit=2&meta=not.is.null", r#"[{"id":"b"},{"id":"d"}]"#),
        ("order=id&limit=0", "[]"),
        ("order=id&limit=9223372036854775807&owner=eq.tom", r#"[{"id":"b"},{"id":"d"}]"#),
        ("order=id&limit=1&offset=9223372036854775807", "[]"),
    ];
    for (query, wanted) in cases {
        // Sets another column than the order uses, so that the result shows which rows were first.
        let query = format!("id=not.is.null&select=id&{query}");
        let changed = update(&world, &owner, &query, r#"{"owner":"ann"}"#).await.unwrap();
        assert_eq!(changed, wanted, "{query}");
        let ids: Vec<Json> = serde_json::from_str(wanted).unwrap();
        let ids: std::collections::BTreeSet<&str> = ids.iter().filter_map(|row| row["id"].as_str()).collect();
        let ids: String = ids.into_iter().collect();
        assert_eq!(world.ids("owner=eq.ann&order=id").await, ids, "{query}: no other row has changed");
        for (id, owner) in [("a", "mia"), ("b", "tom"), ("c", "mia"), ("d", "tom"), ("e", "mia")] {
            update(&world, &Access::Owner, &format!("id=eq.{id}"), &json!({ "owner": owner }).to_string())
                .await
                .unwrap();
        }
    }
    assert_eq!(
        delete(&world, &owner, "owner=eq.mia&order=qty.nullsfirst&limit=2&select=id").await.unwrap(),
        r#"[{"id":"c"},{"id":"e"}]"#
    );
    let delete = |query| Operation {
        kind: OperationKind::Delete,
        table: "notes",
        id: None,
        query,
        body: b"",
        options: WriteOptions::default(),
    };
    let operations = vec![
        delete("id=not.is.null&order=qty&limit=1&select=id"),
        delete("id=not.is.null&order=qty&limit=1&select=id"),
    ];
    let done = world.engine.batch(&world.project, &owner, operations).await.unwrap();
    assert_eq!((text(&done[0]), text(&done[1])), (r#"[{"id":"b"}]"#.into(), r#"[{"id":"d"}]"#.into()));
    assert_eq!(world.ids("order=id").await, "a");
}

async fn an_order_without_a_limit_orders_the_result(world: World) {
    five(&world).await;
    let owner = Access::Owner;
    let all = "id=not.is.null&select=id,qty";
    // The order uses the new values.
    let swapped =
        update(&world, &owner, "id=in.(a,b,d)&select=id&order=qty.desc,id.desc", r#"{"qty":9}"#).await;
    assert_eq!(swapped.unwrap(), r#"[{"id":"d"},{"id":"b"},{"id":"a"}]"#);
    let done =
        update(&world, &owner, &format!("{all}&order=qty.desc.nullslast,id"), r#"{"owner":"x"}"#).await;
    let wanted = r#"[{"id":"a","qty":9},{"id":"b","qty":9},{"id":"d","qty":9},{"id":"e","qty":1},{"id":"c","qty":null}]"#;
    assert_eq!(done.unwrap(), wanted);
    let csv = WriteOptions { format: backend_data::Format::Csv, ..WriteOptions::default() };
    let query = "id=not.is.null&select=id&order=meta->n.desc.nullslast";
    let done = world.engine.delete(&world.project, &owner, "notes", query, &csv).await.unwrap();
    assert_eq!(text(&done), "id\r\nd\r\na\r\ne\r\nb\r\nc\r\n");
}

async fn a_limit_needs_an_order_and_an_order_its_columns(world: World) {
    five(&world).await;
    let owner = Access::Owner;
    for query in ["id=not.is.null&limit=1", "id=not.is.null&limit=0", "id=not.is.null&offset=1"] {
        let refused = update(&world, &owner, query, r#"{"qty":0}"#).await.unwrap_err();
        assert_eq!((refused.code(), refused.pgrst_code()), ("order_required", "PGRST109"), "{query}");
        assert_eq!(code(delete(&world, &owner, query).await), "order_required");
    }
    assert_eq!(
        code(delete(&world, &owner, "order=id&limit=1").await),
        "filter_required",
        "a limit is no filter"
    );
    assert_eq!(code(delete(&world, &owner, "id=eq.a&order=nope").await), "column_not_found");
    assert_eq!(code(delete(&world, &owner, "id=eq.a&order=id&limit=-1").await), "invalid_range");
    assert_eq!(code(delete(&world, &owner, "id=eq.a&cursor=").await), "unsupported_query");
    assert_eq!(code(update(&world, &owner, "id=eq.a&order=qty->x", r#"{"qty":0}"#).await), "invalid_value");
    let limited = "id=not.is.null&order=id&limit=2";
    assert_eq!(
        update(&world, &owner, limited, "{}").await.unwrap(),
        "[]",
        "what sets nothing touches nothing"
    );
    let most = WriteOptions { max_affected: Some(1), ..WriteOptions::default() };
    let many = world.engine.delete(&world.project, &owner, "notes", limited, &most).await;
    assert_eq!(code(many), "too_many_rows");
    assert_eq!(world.ids("order=id").await, "abcde");
}

async fn limited_changes_reach_only_visible_rows(world: World) {
    five(&world).await;
    let mut see = rule("see", &["read"], &own());
    see["columns"] = json!(["id", "owner"]);
    set_rules(&world, json!([see, rule("set", &["update", "delete"], &all())])).await;
    let query = "id=not.is.null&order=id&limit=3&select=id";
    // Only her rows are filtered, ordered and counted, although she may change all rows.
    assert_eq!(
        update(&world, &mia(), query, r#"{"qty":7}"#).await.unwrap(),
        r#"[{"id":"a"},{"id":"c"},{"id":"e"}]"#
    );
    // She cannot order by a column that no rule shows to her, with or without a limit.
    for query in [
        "id=not.is.null&order=qty&limit=1",
        "id=not.is.null&order=qty",
        "id=not.is.null&order=meta->n&limit=1",
    ] {
        assert_eq!(code(update(&world, &mia(), query, r#"{"qty":8}"#).await), "column_not_found", "{query}");
        assert_eq!(code(delete(&world, &mia(), query).await), "column_not_found", "{query}");
    }
    set_rules(&world, json!([rule("see", &["read"], &all()), rule("set", &["update", "delete"], &own())]))
        .await;
    // She sees all rows and may change her own: the limit counts those that she may change.
    let gone = delete(&world, &mia(), "id=not.is.null&order=qty.nullslast,id.desc&limit=2&select=id").await;
    assert_eq!(gone.unwrap(), r#"[{"id":"e"},{"id":"c"}]"#);
    assert_eq!(world.ids("order=id").await, "abd");
}

async fn concurrent_limited_deletes_take_different_rows(world: World) {
    notes(&world).await;
    let rows: Vec<Json> = (0..40).map(|n| json!({"id": format!("{n:02}"), "qty": n})).collect();
    world.insert("notes", &json!(rows).to_string()).await.unwrap();
    let owner = Access::Owner;
    let take = || delete(&world, &owner, "id=not.is.null&order=qty&limit=3&select=id");
    let taken = futures::future::join_all((0..8).map(|_| take())).await;
    let mut ids = Vec::new();
    for rows in taken {
        let rows: Vec<Json> = serde_json::from_str(&rows.unwrap()).unwrap();
        assert!(rows.len() <= 3);
        ids.extend(rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()));
    }
    let distinct: std::collections::BTreeSet<&String> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "a row was taken twice");
    let left: Vec<Json> = serde_json::from_str(&world.list("select=id").await.unwrap()).unwrap();
    assert_eq!(left.len() + ids.len(), 40);
}
