//! Merges under rules: an existing row is updated only if an update of it is allowed, a new one is inserted only if an
//! insert is.

use backend_data::{
    Access, ColumnType, Error, ErrorKind, NewColumn, NewTable, Operation, OperationKind, Person, Resolution,
    Rule, WriteOptions,
};
use serde_json::{Value as Json, json};

use crate::{
    contract,
    harness::{World, text},
};

contract!(
    merges_follow_every_pair_of_rules,
    a_bulk_with_one_foreign_row_changes_nothing,
    a_batch_keeps_to_the_rules,
    visitors_merge_what_they_may_update,
    a_merge_needs_a_rule_for_updates,
    only_columns_of_the_update_rule_are_merged,
    duplicates_are_ignored_under_rules,
    a_table_may_be_called_excluded,
);

fn mia() -> Access {
    Access::Person(Person { subject: "mia".into(), ..Person::default() })
}

async fn docs(world: &World, rules: Json) {
    let table = NewTable::new("notes")
        .with_column(NewColumn::new("owner", ColumnType::Text))
        .with_column(NewColumn::new("v", ColumnType::Integer))
        .with_column(NewColumn::new("body", ColumnType::Text));
    world.table(table).await;
    set_rules(world, rules).await;
    let rows =
        r#"[{"id":"1","owner":"mia","v":0,"body":"hers"},{"id":"2","owner":"tom","v":0,"body":"his"}]"#;
    world.insert("notes", rows).await.unwrap();
}

async fn set_rules(world: &World, rules: Json) {
    let rules: Vec<Rule> = serde_json::from_value(rules).unwrap();
    world.engine.set_rules(&world.project, &Access::Owner, "notes", rules).await.unwrap();
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

fn low() -> Json {
    json!({"t": "cmp", "column": "v", "op": "lt", "value": {"k": "lit", "v": 1}})
}

fn merging() -> WriteOptions {
    WriteOptions { resolution: Some(Resolution::MergeDuplicates), ..WriteOptions::default() }
}

async fn merge(world: &World, access: &Access, query: &str, rows: &str) -> Result<String, Error> {
    let options = merging();
    let done = world.engine.insert(&world.project, access, "notes", query, rows.as_bytes(), &options).await;
    done.map(|written| text(&written))
}

fn forbidden(done: Result<String, Error>, what: &str) {
    match done {
        Ok(rows) => panic!("{what} returned {rows}"),
        Err(error) => assert_eq!((error.kind(), error.code()), (ErrorKind::Forbidden, "forbidden"), "{what}"),
    }
}

/// A condition of a rule, and the same for a row's owner and number in Rust.
type Tried = (Json, fn(Option<&str>, i64) -> bool);

/// Tests every pair of an insert rule and an update rule with every existing row and every new row. The expected
/// outcome is computed here.
async fn merges_follow_every_pair_of_rules(world: World) {
    docs(&world, json!([])).await;
    let conditions: [Tried; 3] =
        [(all(), |_, _| true), (own(), |owner, _| owner == Some("mia")), (low(), |_, v| v < 1)];
    let rows = [("mia", 0), ("mia", 1), ("tom", 0), ("tom", 1)];
    let (mut done, mut refused) = (0, 0);
    for (insert, may_insert) in &conditions {
        for (update, may_update) in &conditions {
            set_rules(&world, json!([rule("add", &["insert"], insert), rule("set", &["update"], update)]))
                .await;
            for old in [None].into_iter().chain(rows.map(Some)) {
                for (owner, v) in rows {
                    for partial in [false, true] {
                        let options = WriteOptions::default();
                        let all = "id=not.is.null";
                        world
                            .engine
                            .delete(&world.project, &Access::Owner, "notes", all, &options)
                            .await
                            .unwrap();
                        if let Some((owner, v)) = old {
                            let row = json!({"id": "1", "owner": owner, "v": v, "body": "old"});
                            world.insert("notes", &row.to_string()).await.unwrap();
                        }
                        let row = if partial {
                            json!({"id": "1", "v": v})
                        } else {
                            json!({"id": "1", "owner": owner, "v": v})
                        };
                        let given = (!partial).then_some(owner);
                        let allowed = match old {
                            None => may_insert(given, v),
                            Some((before, old_v)) => {
                                may_update(Some(before), old_v) && may_update(given.or(Some(before)), v)
                            }
                        };
                        let what = format!("{insert} {update} {old:?} {row}");
                        let before = world.list("").await.unwrap();
                        let result = merge(&world, &mia(), "", &row.to_string()).await;
                        if allowed {
                            assert_eq!(result.unwrap(), r#"[{"id":"1"}]"#, "{what}");
                            let owner = given.or(old.map(|(owner, _)| owner));
                            let wanted = json!([{"owner": owner, "v": v}]).to_string();
                            assert_eq!(world.list("select=owner,v").await.unwrap(), wanted, "{what}");
                            done += 1;
                        } else {
                            forbidden(result, &what);
                            assert_eq!(world.list("").await.unwrap(), before, "{what}");
                            refused += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(done > 100 && refused > 100, "{done} merges were done, {refused} refused");
}

async fn a_bulk_with_one_foreign_row_changes_nothing(world: World) {
    docs(&world, json!([rule("add", &["insert"], &all()), rule("own", &["read", "update"], &own())])).await;
    let before = world.list("order=id").await.unwrap();
    let stolen = [
        r#"{"id":"2","owner":"mia","v":77}"#,
        r#"{"id":"2","v":77}"#,
        r#"{"id":"1","owner":"tom","v":77}"#,
        r#"{"id":"2"}"#,
        r#"[{"id":"1","owner":"mia","v":5},{"id":"2","owner":"mia","v":5},{"id":"3","owner":"mia","v":5}]"#,
        r#"[{"id":"3","owner":"mia","v":5},{"id":"1","owner":"tom","v":5}]"#,
    ];
    for rows in stolen {
        for query in ["", "select=id,body", "columns=id,v", "on_conflict=id"] {
            // Without the owner in the merge, her row stays hers.
            if query == "columns=id,v" && rows.contains(r#""id":"1""#) && !rows.contains(r#""id":"2""#) {
                continue;
            }
            forbidden(merge(&world, &mia(), query, rows).await, rows);
            let minimal = WriteOptions { minimal: true, ..merging() };
            let (project, access) = (&world.project, mia());
            let done = world.engine.insert(project, &access, "notes", query, rows.as_bytes(), &minimal).await;
            forbidden(done.map(|written| text(&written)), rows);
        }
        assert_eq!(world.list("order=id").await.unwrap(), before, "{rows}");
    }
    let rows = r#"[{"id":"3","owner":"mia","v":3},{"id":"1","owner":"mia","v":4}]"#;
    let merged = merge(&world, &mia(), "select=id,v,body", rows).await.unwrap();
    assert_eq!(merged, r#"[{"id":"3","v":3,"body":null},{"id":"1","v":4,"body":"hers"}]"#);
}

async fn a_batch_keeps_to_the_rules(world: World) {
    docs(&world, json!([rule("add", &["insert"], &all()), rule("own", &["read", "update"], &own())])).await;
    let before = world.list("order=id").await.unwrap();
    let operation = |body: &'static str, options| Operation {
        kind: OperationKind::Insert,
        table: "notes",
        id: None,
        query: "",
        body: body.as_bytes(),
        options,
    };
    for taken in [r#"{"id":"2","owner":"mia"}"#, r#"{"id":"2","v":1}"#, r#"{"id":"1","owner":"tom"}"#] {
        let first = operation(r#"{"id":"9","owner":"mia"}"#, WriteOptions::default());
        let operations = vec![first, operation(taken, merging())];
        let error = world.engine.batch(&world.project, &mia(), operations).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Forbidden, "{taken}");
        assert_eq!(world.list("order=id").await.unwrap(), before, "{taken}");
    }
    // A row that the same batch inserted is merged as any other.
    let twice = vec![
        operation(r#"{"id":"9","owner":"mia","v":1}"#, merging()),
        operation(r#"{"id":"9","owner":"mia","v":2}"#, merging()),
    ];
    world.engine.batch(&world.project, &mia(), twice).await.unwrap();
    assert_eq!(world.list("id=eq.9&select=v").await.unwrap(), r#"[{"v":2}]"#);
    let given_away = vec![
        operation(r#"{"id":"8","owner":"mia","v":1}"#, merging()),
        operation(r#"{"id":"8","owner":"tom","v":2}"#, merging()),
    ];
    let error = world.engine.batch(&world.project, &mia(), given_away).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden);
}

async fn visitors_merge_what_they_may_update(world: World) {
    let draft = json!({"t": "cmp", "column": "body", "op": "eq", "value": {"k": "lit", "v": "draft"}});
    docs(&world, json!([rule("add", &["insert"], &all()), rule("draft", &["update"], &draft)])).await;
    forbidden(
        merge(&world, &Access::Visitor, "", r#"{"id":"2","body":"draft"}"#).await,
        "a row that is no draft",
    );
    world.insert("notes", r#"{"id":"d","body":"draft"}"#).await.unwrap();
    let merged = merge(&world, &Access::Visitor, "", r#"{"id":"d","body":"draft","v":3}"#).await.unwrap();
    assert_eq!(merged, r#"[{"id":"d"}]"#);
    forbidden(
        merge(&world, &Access::Visitor, "", r#"{"id":"d","body":"final"}"#).await,
        "the row is no draft any more",
    );
}

async fn a_merge_needs_a_rule_for_updates(world: World) {
    docs(&world, json!([rule("add", &["insert"], &all())])).await;
    // Even if no row exists, so that the error does not reveal which rows do.
    for row in [r#"{"id":"1","v":1}"#, r#"{"id":"new","v":1}"#] {
        forbidden(merge(&world, &mia(), "", row).await, row);
    }
    set_rules(&world, json!([rule("add", &["read"], &all())])).await;
    forbidden(merge(&world, &mia(), "", r#"{"id":"1","v":1}"#).await, "a reader");
    set_rules(&world, json!([rule("set", &["update"], &all())])).await;
    let hidden = merge(&world, &mia(), "", r#"{"id":"1","v":1}"#).await.unwrap_err();
    assert_eq!(hidden.code(), "table_not_found");
}

async fn only_columns_of_the_update_rule_are_merged(world: World) {
    let mut set = rule("set", &["update"], &own());
    set["columns"] = json!(["v"]);
    docs(&world, json!([rule("add", &["insert"], &all()), set])).await;
    // The merge finds the row by its id and does not change it.
    merge(&world, &mia(), "", r#"{"id":"1","v":6}"#).await.unwrap();
    assert_eq!(world.list("id=eq.1&select=v").await.unwrap(), r#"[{"v":6}]"#);
    forbidden(
        merge(&world, &mia(), "", r#"{"id":"1","v":6,"body":"x"}"#).await,
        "a column it does not cover",
    );
}

async fn duplicates_are_ignored_under_rules(world: World) {
    docs(&world, json!([rule("own", &["insert", "read"], &own())])).await;
    let options = WriteOptions { resolution: Some(Resolution::IgnoreDuplicates), ..WriteOptions::default() };
    let ignore = async |rows: &str| {
        let done = world
            .engine
            .insert(&world.project, &mia(), "notes", "select=id", rows.as_bytes(), &options)
            .await;
        done.map(|written| text(&written))
    };
    let rows = r#"[{"id":"1","owner":"mia"},{"id":"2","owner":"mia"},{"id":"3","owner":"mia"}]"#;
    assert_eq!(ignore(rows).await.unwrap(), r#"[{"id":"3"}]"#);
    forbidden(ignore(r#"{"id":"4","owner":"tom"}"#).await, "a new row of another");
    assert_eq!(world.list("id=eq.2&select=owner").await.unwrap(), r#"[{"owner":"tom"}]"#);
}

async fn a_table_may_be_called_excluded(world: World) {
    let table = NewTable::new("excluded").with_column(NewColumn::new("v", ColumnType::Integer));
    world.table(table).await;
    let World { engine, project, .. } = &world;
    for row in [r#"{"id":"1","v":1}"#, r#"{"id":"1","v":2}"#] {
        let merged = engine.insert(project, &Access::Owner, "excluded", "", row.as_bytes(), &merging()).await;
        assert_eq!(merged.unwrap().rows, 1, "{row}");
    }
    let read = backend_data::ReadOptions::default();
    let page = engine.list(project, &Access::Owner, "excluded", "select=v", &read).await.unwrap();
    assert_eq!(&page.body[..], br#"[{"v":2}]"#);
}
