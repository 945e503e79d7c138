//! What clients of PostgREST expect of writes: an order and a limit, a single upsert, defaults, unique columns.

use backend_data::{
    Access, ColumnType, Count, Error, ErrorKind, NewColumn, NewIndex, NewTable, Operation, OperationKind,
    Person, ReadOptions, Resolution, Rule, WriteOptions,
};
use serde_json::{Value as Json, json};

use crate::{
    contract,
    harness::{World, text},
};

contract!(
    the_first_rows_of_an_order_are_changed,
    an_order_alone_orders_the_answer,
    a_limit_needs_an_order_and_an_order_its_columns,
    limited_changes_reach_what_is_seen_alone,
    a_queue_is_taken_from_by_many_at_once,
    a_put_makes_a_row_and_updates_it,
    a_put_names_one_row,
    a_put_keeps_to_the_rules_of_a_merge,
    what_is_left_out_has_its_default,
    a_default_fits_its_column,
    defaults_meet_the_rules,
    a_unique_column_has_a_value_once,
    upserts_go_by_a_unique_column,
    rows_of_others_are_not_merged_by_their_value,
    an_upsert_by_a_value_names_it_once,
    many_upserts_of_one_value_make_one_row,
    a_unique_index_needs_unique_values,
    few_rows_are_counted_and_many_are_estimated,
    an_estimate_tells_nothing_of_hidden_rows,
);

fn mia() -> Access {
    Access::Person(Person { subject: "mia".into(), ..Person::default() })
}

fn rule(id: &str, actions: &[&str], condition: &Json) -> Json {
    json!({"id": id, "audience": {"kind": "anyone"}, "actions": actions, "where": condition, "columns": null})
}

fn all() -> Json {
    json!({"t": "all"})
}

fn own() -> Json {
    json!({"t": "cmp", "column": "owner", "op": "eq", "value": {"k": "me"}})
}

async fn set_rules(world: &World, rules: Json) {
    let rules: Vec<Rule> = serde_json::from_value(rules).unwrap();
    world.engine.set_rules(&world.project, &Access::Owner, "notes", rules).await.unwrap();
}

async fn notes(world: &World) {
    let table = NewTable::new("notes")
        .with(NewColumn::new("owner", ColumnType::Text))
        .with(NewColumn::new("qty", ColumnType::Integer))
        .with(NewColumn::new("meta", ColumnType::Json));
    world.table(table).await;
}

async fn five(world: &World) {
    notes(world).await;
    let rows = json!([
        {"id": "a", "owner": "mia", "qty": 3, "meta": {"n": 5}},
        {"id": "b", "owner": "tom", "qty": 1, "meta": {"n": "x"}},
        {"id": "c", "owner": "mia", "qty": null, "meta": null},
        {"id": "d", "owner": "tom", "qty": 2, "meta": {"n": true}},
        {"id": "e", "owner": "mia", "qty": 1, "meta": {"n": 4.5}},
    ]);
    world.insert("notes", &rows.to_string()).await.unwrap();
}

async fn update(world: &World, access: &Access, query: &str, body: &str) -> Result<String, Error> {
    let options = WriteOptions::default();
    let done = world.engine.update(&world.project, access, "notes", query, body.as_bytes(), &options).await;
    done.map(|written| text(&written))
}

async fn delete(world: &World, access: &Access, query: &str) -> Result<String, Error> {
    let options = WriteOptions::default();
    let done = world.engine.delete(&world.project, access, "notes", query, &options).await;
    done.map(|written| text(&written))
}

async fn put(
    world: &World,
    access: &Access,
    query: &str,
    body: &str,
) -> Result<(String, Option<u64>), Error> {
    let options = WriteOptions::default();
    let done = world.engine.put(&world.project, access, "notes", query, body.as_bytes(), &options).await;
    done.map(|written| (text(&written), written.inserted))
}

async fn upsert(world: &World, access: &Access, query: &str, rows: &Json) -> Result<String, Error> {
    let options = WriteOptions { resolution: Some(Resolution::MergeDuplicates), ..WriteOptions::default() };
    insert(world, access, query, rows, &options).await
}

async fn insert(
    world: &World,
    access: &Access,
    query: &str,
    rows: &Json,
    options: &WriteOptions,
) -> Result<String, Error> {
    let rows = rows.to_string();
    let done = world.engine.insert(&world.project, access, "notes", query, rows.as_bytes(), options).await;
    done.map(|written| text(&written))
}

fn code<T: std::fmt::Debug>(done: Result<T, Error>) -> String {
    done.unwrap_err().code().to_owned()
}

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
        // What is set is not what is ordered by, so that the answer tells which rows were first.
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

async fn an_order_alone_orders_the_answer(world: World) {
    five(&world).await;
    let owner = Access::Owner;
    let all = "id=not.is.null&select=id,qty";
    // By what the rows are now.
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

async fn limited_changes_reach_what_is_seen_alone(world: World) {
    five(&world).await;
    let mut see = rule("see", &["read"], &own());
    see["columns"] = json!(["id", "owner"]);
    set_rules(&world, json!([see, rule("set", &["update", "delete"], &all())])).await;
    let query = "id=not.is.null&order=id&limit=3&select=id";
    // Her rows alone are filtered, ordered and counted, although she may change all.
    assert_eq!(
        update(&world, &mia(), query, r#"{"qty":7}"#).await.unwrap(),
        r#"[{"id":"a"},{"id":"c"},{"id":"e"}]"#
    );
    // A column that nobody shows her orders nothing, with a limit or without.
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
    // She sees all and may change hers: the limit counts those that she may change.
    let gone = delete(&world, &mia(), "id=not.is.null&order=qty.nullslast,id.desc&limit=2&select=id").await;
    assert_eq!(gone.unwrap(), r#"[{"id":"e"},{"id":"c"}]"#);
    assert_eq!(world.ids("order=id").await, "abd");
}

async fn a_queue_is_taken_from_by_many_at_once(world: World) {
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

async fn a_put_makes_a_row_and_updates_it(world: World) {
    notes(&world).await;
    let owner = Access::Owner;
    let made = put(&world, &owner, "id=eq.tea&select=id,qty", r#"{"id":"tea","qty":1}"#).await.unwrap();
    assert_eq!(made, (r#"[{"id":"tea","qty":1}]"#.into(), Some(1)));
    let again = put(&world, &owner, "id=eq.tea&select=id,qty,owner", r#"{"owner":"ann"}"#).await.unwrap();
    assert_eq!(again, (r#"[{"id":"tea","qty":1,"owner":"ann"}]"#.into(), Some(0)));
    // Nothing but the id: the row is there.
    assert_eq!(put(&world, &owner, "id=eq.new&select=id", "{}").await.unwrap().1, Some(1));
    assert_eq!(put(&world, &owner, "id=eq.new&select=id", r#"[{"id":"new"}]"#).await.unwrap().1, Some(0));
    assert_eq!(world.ids("order=id").await, "newtea");
}

async fn a_put_names_one_row(world: World) {
    five(&world).await;
    let owner = Access::Owner;
    let before = world.list("order=id").await.unwrap();
    let queries = [
        "",
        "select=id",
        "id=neq.a",
        "id=in.(a)",
        "id=not.eq.a",
        "id=eq.a&qty=eq.3",
        "id=eq.a&id=eq.a",
        "qty=eq.3",
        "or=(id.eq.a)",
        "id=eq(any).{a}",
        "id=like.a",
        "id->x=eq.a",
    ];
    for query in queries {
        let refused = put(&world, &owner, query, r#"{"qty":9}"#).await.unwrap_err();
        assert_eq!((refused.kind(), refused.pgrst_code()), (ErrorKind::Invalid, "PGRST105"), "{query}");
    }
    for query in [
        "id=eq.a&limit=1",
        "id=eq.a&order=id",
        "id=eq.a&offset=1",
        "id=eq.a&columns=qty",
        "id=eq.a&on_conflict=id",
    ] {
        assert_eq!(
            put(&world, &owner, query, r#"{"qty":9}"#).await.unwrap_err().pgrst_code(),
            "PGRST114",
            "{query}"
        );
    }
    let bodies = [
        r#"{"id":"b","qty":9}"#,
        "[]",
        r#"[{"qty":1},{"qty":2}]"#,
        "7",
        "",
        r#"{"nope":1}"#,
        r#"{"created_at":null}"#,
    ];
    for body in bodies {
        let refused = put(&world, &owner, "id=eq.a", body).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid, "{body}");
    }
    let long = format!("id=eq.{}", "x".repeat(129));
    assert_eq!(code(put(&world, &owner, &long, "{}").await), "invalid_value");
    assert_eq!(code(put(&world, &owner, "id=eq.", "{}").await), "invalid_value");
    assert_eq!(world.list("order=id").await.unwrap(), before);
}

async fn a_put_keeps_to_the_rules_of_a_merge(world: World) {
    five(&world).await;
    set_rules(&world, json!([rule("own", &["read", "insert", "update"], &own())])).await;
    let before = world.list("order=id").await.unwrap();
    for (id, body) in [
        ("b", r#"{"owner":"mia"}"#),
        ("b", r#"{"qty":1}"#),
        ("a", r#"{"owner":"tom"}"#),
        ("z", r#"{"owner":"tom"}"#),
    ] {
        assert_eq!(code(put(&world, &mia(), &format!("id=eq.{id}"), body).await), "forbidden", "{id} {body}");
        assert_eq!(world.list("order=id").await.unwrap(), before, "{id} {body}");
    }
    assert_eq!(put(&world, &mia(), "id=eq.a&select=id", r#"{"qty":8}"#).await.unwrap().1, Some(0));
    assert_eq!(put(&world, &mia(), "id=eq.z&select=id", r#"{"owner":"mia"}"#).await.unwrap().1, Some(1));
    set_rules(&world, json!([rule("own", &["read"], &own())])).await;
    assert_eq!(code(put(&world, &mia(), "id=eq.a", r#"{"qty":8}"#).await), "forbidden");
    assert_eq!(code(put(&world, &Access::service([]), "id=eq.a", r#"{"qty":8}"#).await), "forbidden");
}

async fn with_defaults(world: &World) {
    let table = NewTable::new("notes")
        .with(NewColumn::new("title", ColumnType::Text).or(json!("new")))
        .with(NewColumn::new("done", ColumnType::Boolean).required().or(json!(false)))
        .with(NewColumn::new("qty", ColumnType::Integer).or(json!(i64::MAX)))
        .with(NewColumn::new("price", ColumnType::Real).or(json!(0.1)))
        .with(NewColumn::new("due", ColumnType::Timestamp).or(json!("2026-01-02T03:04:05+05:00")))
        .with(NewColumn::new("meta", ColumnType::Json).or(json!({"b": [1, null], "a": "x"})))
        .with(NewColumn::new("owner", ColumnType::Text));
    world.table(table).await;
}

async fn what_is_left_out_has_its_default(world: World) {
    with_defaults(&world).await;
    let owner = Access::Owner;
    let whole = "select=title,done,qty,price,due,meta,owner";
    let wanted = json!({"title": "new", "done": false, "qty": i64::MAX, "price": 0.1,
        "due": "2026-01-01T22:04:05.000000Z", "meta": {"a": "x", "b": [1, null]}, "owner": null});
    let plain = WriteOptions::default();
    let made = insert(&world, &owner, whole, &json!({}), &plain).await.unwrap();
    assert_eq!(serde_json::from_str::<Json>(&made).unwrap(), json!([wanted]));
    // Null is a value.
    let made = insert(&world, &owner, "select=title,done", &json!({"title": null}), &plain).await.unwrap();
    assert_eq!(made, r#"[{"title":null,"done":false}]"#);
    assert_eq!(code(insert(&world, &owner, "", &json!({"done": null}), &plain).await), "value_required");
    // Columns that are named for all rows: null where a row leaves one out, unless defaults are asked for.
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
    // A merge leaves alone what it does not name.
    update(&world, &owner, "id=eq.1", r#"{"title":"kept"}"#).await.unwrap();
    let merged = upsert(&world, &owner, "select=title,qty", &json!({"id": "1", "qty": 5})).await.unwrap();
    assert_eq!(merged, r#"[{"title":"kept","qty":5}]"#);
    assert_eq!(put(&world, &owner, "id=eq.put&select=title", "{}").await.unwrap().0, r#"[{"title":"new"}]"#);
    let csv = WriteOptions { csv_body: true, ..plain };
    let made = world
        .engine
        .insert(&world.project, &owner, "notes", "select=title,done,qty", b"qty\n4\n,\n", &csv)
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
        let table = NewTable::new("bad").with(NewColumn::new("c", kind).or(default.clone()));
        let refused = world.engine.create_table(&world.project, &Access::Owner, table).await;
        assert_eq!(code(refused), "invalid_value", "{kind:?} {default}");
    }
    notes(&world).await;
    world.insert("notes", r#"{"id":"old"}"#).await.unwrap();
    let add = async |column: NewColumn| {
        world.engine.add_column(&world.project, &Access::Owner, "notes", column).await
    };
    assert_eq!(code(add(NewColumn::new("stars", Integer).or(json!("x"))).await), "invalid_value");
    let table = add(NewColumn::new("stars", Integer).or(json!(3))).await.unwrap();
    assert_eq!(table.column("stars").unwrap().default, Some(json!(3)));
    world.insert("notes", r#"{"id":"young"}"#).await.unwrap();
    let rows = world.list("select=id,stars&order=id").await.unwrap();
    assert_eq!(rows, r#"[{"id":"old","stars":null},{"id":"young","stars":3}]"#);
    let required = add(NewColumn::new("needed", Integer).required().or(json!(1))).await;
    assert_eq!(code(required), "column_needs_value");
    delete(&world, &Access::Owner, "id=not.is.null").await.unwrap();
    add(NewColumn::new("needed", Integer).required().or(json!(1))).await.unwrap();
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
    // A default is not written by whoever inserts, and need not be covered.
    insert(&world, &mia(), "", &json!({"title": "hers"}), &plain).await.unwrap();
    assert_eq!(code(insert(&world, &mia(), "", &json!({"done": true}), &plain).await), "forbidden");
    assert_eq!(code(insert(&world, &mia(), "", &json!({"qty": 1}), &plain).await), "forbidden");
    assert_eq!(
        world.list("select=title,done,price").await.unwrap(),
        r#"[{"title":"hers","done":false,"price":0.1}]"#
    );
}

async fn members(world: &World) {
    let table = NewTable::new("notes")
        .with(NewColumn::new("email", ColumnType::Text))
        .with(NewColumn::new("number", ColumnType::Integer))
        .with(NewColumn::new("ratio", ColumnType::Real))
        .with(NewColumn::new("owner", ColumnType::Text));
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
    // Nothing is folded.
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
        ("value_exists", Some("In operation 1, and so nothing was changed."))
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

async fn upserts_go_by_a_unique_column(world: World) {
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
    // The id of a row stays, whatever is sent beside the value.
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
    // One row with the value, another with the id.
    assert_eq!(
        code(upsert(&world, &owner, "on_conflict=email", &json!({"id": "1", "email": "new@x"})).await),
        "row_exists"
    );
    // Nothing to set: the row is one of the answer, and stays.
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
    // Rows without a value are different rows.
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
            // As a new row that she may not insert.
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
    // The column that says which row is meant need not be one that she may change.
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

async fn an_upsert_by_a_value_names_it_once(world: World) {
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
        ("on_conflict=email,number", "unsupported_query"),
        ("on_conflict=created_at", "invalid_body"),
    ] {
        let rows = json!([{"email": "a@x", "owner": "o"}]);
        assert_eq!(code(upsert(&world, &owner, query, &rows).await), wanted, "{query}");
    }
    assert_eq!(world.ids("select=id").await, "");
}

async fn many_upserts_of_one_value_make_one_row(world: World) {
    members(&world).await;
    let owner = Access::Owner;
    let bodies: Vec<Json> = (0..16)
        .map(|n| {
            let mut rows: Vec<Json> =
                (0..10).map(|k| json!({"email": format!("{k}@x"), "owner": format!("{n}")})).collect();
            // Each in another order: they must not wait for each other in turn.
            rows.rotate_left(n % 10);
            json!(rows)
        })
        .collect();
    let done = futures::future::join_all(
        bodies.iter().map(|rows| upsert(&world, &owner, "on_conflict=email&select=email", rows)),
    );
    for (rows, done) in bodies.iter().zip(done.await) {
        let sent: Vec<&Json> = rows.as_array().unwrap().iter().map(|row| &row["email"]).collect();
        let answered: Vec<Json> = serde_json::from_str(&done.unwrap()).unwrap();
        assert_eq!(
            answered.iter().map(|row| &row["email"]).collect::<Vec<_>>(),
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
    assert!(table.indexes.is_empty(), "what was refused left nothing");
    let both = NewIndex { columns: vec!["owner".into(), "qty".into()], unique: true };
    assert_eq!(code(add(both).await), "unsupported_query");
    assert_eq!(code(add(NewIndex::unique("meta")).await), "invalid_request");
    assert_eq!(code(add(NewIndex::unique("id")).await), "invalid_request");
    assert_eq!(code(add(NewIndex::unique("nope")).await), "column_not_found");
    // A column may have both; the same twice is one too many.
    add(NewIndex::on(&["qty"])).await.unwrap();
    update(&world, &Access::Owner, "id=eq.e", r#"{"qty":11}"#).await.unwrap();
    add(NewIndex::unique("qty")).await.unwrap();
    assert_eq!(code(add(NewIndex::unique("qty")).await), "index_exists");
    assert_eq!(code(add(NewIndex::on(&["qty"])).await), "index_exists");
    assert_eq!(world.ids("qty=eq.11").await, "e");
    assert_eq!(world.ids("order=qty.desc.nullslast&limit=2&cursor=").await, "ea");
    // A column that is added beside it keeps it.
    delete(&world, &Access::Owner, "id=not.is.null").await.unwrap();
    let column = NewColumn::new("needed", ColumnType::Text).required().or(json!("x"));
    world.engine.add_column(&world.project, &Access::Owner, "notes", column).await.unwrap();
    world.insert("notes", r#"{"qty":1}"#).await.unwrap();
    assert_eq!(code(world.insert("notes", r#"{"qty":1}"#).await), "value_exists");
}

async fn total(world: &World, access: &Access, query: &str, counted: Count) -> Option<u64> {
    let options = ReadOptions { count: true, counted: Some(counted), ..ReadOptions::default() };
    let page = world.engine.list(&world.project, access, "notes", query, &options).await.unwrap();
    assert!(page.total.unwrap() >= page.offset + page.rows || page.rows == 0, "{query} {counted:?}");
    page.total
}

async fn many(world: &World) {
    notes(world).await;
    let mut file = "id,owner,qty\n".to_owned();
    (0..30_000).for_each(|n| file.push_str(&format!("{n:06},{},{n}\n", ["mia", "tom"][n % 2])));
    let file = std::sync::Arc::new(bytes::Bytes::from(file));
    world.engine.import(&world.project, &Access::Owner, "notes", file, &Default::default()).await.unwrap();
}

async fn few_rows_are_counted_and_many_are_estimated(world: World) {
    five(&world).await;
    let owner = Access::Owner;
    for counted in [Count::Exact, Count::Estimated] {
        assert_eq!(total(&world, &owner, "limit=1", counted).await, Some(5), "{counted:?}");
        assert_eq!(total(&world, &owner, "owner=eq.mia&limit=0", counted).await, Some(3), "{counted:?}");
    }
    // A plan is made of statistics, of which there may be none yet.
    assert!(total(&world, &owner, "limit=2", Count::Planned).await >= Some(2));
    let options = ReadOptions { count: true, counted: Some(Count::Planned), ..ReadOptions::default() };
    let beyond = world.engine.list(&world.project, &owner, "notes", "offset=1000000", &options).await;
    assert_eq!(beyond.unwrap().rows, 0, "an estimate refuses no page");
    world.engine.drop_table(&world.project, &owner, "notes").await.unwrap();

    many(&world).await;
    assert_eq!(total(&world, &owner, "limit=1", Count::Exact).await, Some(30_000));
    let about = total(&world, &owner, "limit=1", Count::Estimated).await.unwrap();
    assert!((10_000..100_000).contains(&about), "{about} of 30,000");
    let few = total(&world, &owner, "id=in.(000001,000002)&limit=1", Count::Estimated).await;
    assert_eq!(few, Some(2));
    let groups = total(&world, &owner, "select=owner,count()", Count::Estimated).await;
    assert_eq!(groups, Some(2), "groups are counted");
}

async fn an_estimate_tells_nothing_of_hidden_rows(world: World) {
    many(&world).await;
    set_rules(&world, json!([rule("own", &["read"], &own())])).await;
    for counted in [Count::Exact, Count::Planned, Count::Estimated] {
        assert_eq!(total(&world, &mia(), "limit=1", counted).await, Some(15_000), "{counted:?}");
        assert_eq!(total(&world, &mia(), "qty=gte.29990&limit=1", counted).await, Some(5), "{counted:?}");
        let tom = total(&world, &mia(), "owner=eq.tom&limit=1", counted).await;
        assert_eq!(tom, Some(0), "{counted:?}");
    }
}
