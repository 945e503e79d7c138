//! Rules: what visitors and signed-in people may read and write.

use std::collections::BTreeMap;

use backend_data::{Access, ColumnType, ErrorKind, Format, NewColumn, NewTable, Person, Rule, WriteOptions};
use serde_json::json;

use crate::{
    contract,
    harness::{World, text},
};

contract!(
    a_table_without_rules_is_hidden,
    public_tables_are_read_by_anyone,
    people_see_and_change_their_own,
    hidden_columns_cannot_be_queried,
    claims_are_typed,
    insert_only_tables_return_ids,
    whole_numbers_of_a_masked_column_are_returned,
);

fn person(subject: &str) -> Access {
    Access::Person(Person { subject: subject.into(), ..Person::default() })
}

async fn notes(world: &World, public: bool) {
    let table = NewTable::new("notes")
        .with_column(NewColumn::new("owner", ColumnType::Text))
        .with_column(NewColumn::new("title", ColumnType::Text))
        .with_column(NewColumn::new("qty", ColumnType::Integer))
        .with_column(NewColumn::new("secret", ColumnType::Text));
    world.table(if public { table.public() } else { table }).await;
    world
        .insert(
            "notes",
            r#"[{"id":"a","owner":"ann","title":"A","qty":1,"secret":"sa"},
                {"id":"b","owner":"bob","title":"B","qty":2,"secret":"sb"},
                {"id":"c","owner":null,"title":"C","qty":null,"secret":null}]"#,
        )
        .await
        .unwrap();
}

async fn rules(world: &World, rules: serde_json::Value) {
    let rules: Vec<Rule> = serde_json::from_value(rules).unwrap();
    world.engine.set_rules(&world.project, &Access::Owner, "notes", rules).await.unwrap();
}

async fn a_table_without_rules_is_hidden(world: World) {
    notes(&world, false).await;
    for access in [Access::Visitor, person("ann")] {
        assert_eq!(world.list_as(&access, "").await.unwrap_err().code(), "table_not_found");
        let row = r#"{"title":"x"}"#;
        assert_eq!(world.insert_as(&access, "notes", row).await.unwrap_err().kind(), ErrorKind::NotFound);
        assert!(world.engine.schema(&world.project, &access).await.unwrap().is_empty());
        let get = world.engine.get(&world.project, &access, "notes", "a", "", Format::Json).await;
        assert_eq!(get.unwrap_err().kind(), ErrorKind::NotFound);
        let refused = world.engine.set_rules(&world.project, &access, "notes", vec![]).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Forbidden);
    }
}

async fn public_tables_are_read_by_anyone(world: World) {
    notes(&world, true).await;
    assert_eq!(world.ids_as(&Access::Visitor, "").await.unwrap(), "abc");
    let row = r#"{"title":"x"}"#;
    let refused = world.insert_as(&Access::Visitor, "notes", row).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Forbidden);
    world.engine.set_public_read(&world.project, &Access::Owner, "notes", false).await.unwrap();
    assert_eq!(world.list_as(&Access::Visitor, "").await.unwrap_err().kind(), ErrorKind::NotFound);
}

async fn people_see_and_change_their_own(world: World) {
    notes(&world, false).await;
    let own = json!({"t":"cmp","column":"owner","op":"eq","value":{"k":"me"}});
    rules(&world, json!([{"id":"own","audience":{"kind":"signed_in"},"actions":["read","insert","update","delete"],"where":own,"columns":null}])).await;
    let (ann, bob) = (person("ann"), person("bob"));
    let World { engine, project, .. } = &world;
    let options = WriteOptions::default();
    assert_eq!(world.ids_as(&ann, "").await.unwrap(), "a");
    assert_eq!(world.ids_as(&ann, "or=(id.eq.a,id.eq.b)").await.unwrap(), "a");
    assert_eq!(world.list_as(&Access::Visitor, "").await.unwrap_err().kind(), ErrorKind::NotFound);
    assert!(engine.get(project, &ann, "notes", "b", "", Format::Json).await.is_err());
    // They cannot insert rows of others, take them over, or give away their own.
    world.insert_as(&ann, "notes", r#"{"id":"d","owner":"ann","title":"D"}"#).await.unwrap();
    for row in [r#"{"owner":"bob"}"#, r#"{"title":"x"}"#, r#"[{"owner":"ann"},{"owner":"bob"}]"#] {
        let refused = world.insert_as(&ann, "notes", row).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Forbidden, "{row}");
    }
    let give = br#"{"owner":"bob"}"#;
    let refused = engine.update_by_id(project, &ann, "notes", "a", "", give, &options).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Forbidden);
    let refused = engine.update_by_id(project, &ann, "notes", "b", "", give, &options).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound);
    let all = "id=not.is.null&select=id";
    let updated = engine.update(project, &bob, "notes", all, br#"{"title":"mine"}"#, &options).await.unwrap();
    assert_eq!(text(&updated), r#"[{"id":"b"}]"#);
    let refused = engine.delete_by_id(project, &bob, "notes", "a", "", &options).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound);
    let deleted = engine.delete(project, &bob, "notes", all, &options).await.unwrap();
    assert_eq!(text(&deleted), r#"[{"id":"b"}]"#);
    assert_eq!(world.ids("").await, "acd");
}

async fn hidden_columns_cannot_be_queried(world: World) {
    notes(&world, false).await;
    rules(
        &world,
        json!([
            {"id":"titles","audience":{"kind":"anyone"},"actions":["read"],"where":{"t":"all"},"columns":["id","title"]},
            {"id":"own","audience":{"kind":"signed_in"},"actions":["read"],"where":{"t":"cmp","column":"owner","op":"eq","value":{"k":"me"}},"columns":["id","owner","qty"]}
        ]),
    )
    .await;
    let ann = person("ann");
    assert_eq!(
        world.list_as(&Access::Visitor, "id=neq.c").await.unwrap(),
        r#"[{"id":"a","title":"A"},{"id":"b","title":"B"}]"#
    );
    assert_eq!(
        world.list_as(&ann, "id=neq.c").await.unwrap(),
        r#"[{"id":"a","owner":"ann","title":"A","qty":1},{"id":"b","owner":null,"title":"B","qty":null}]"#
    );
    // A filter or an order by a column selects only rows that show the column.
    assert_eq!(world.ids_as(&ann, "qty=gt.0").await.unwrap(), "a");
    assert_eq!(world.ids_as(&ann, "order=qty").await.unwrap(), "a");
    assert_eq!(world.ids_as(&ann, "or=(qty.is.null,title.is.null)").await.unwrap(), "");
    for query in ["secret=eq.sa", "order=secret", "select=secret", "or=(secret.like.s*,id.eq.a)"] {
        for access in [&ann, &Access::Visitor] {
            let error = world.list_as(access, query).await.unwrap_err();
            assert_eq!(error.code(), "column_not_found", "{query}");
        }
    }
    assert_eq!(world.list_as(&Access::Visitor, "qty=eq.1").await.unwrap_err().code(), "column_not_found");
    let tables = world.engine.schema(&world.project, &Access::Visitor).await.unwrap();
    let columns: Vec<&str> = tables[0].columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(columns, ["id", "title"]);
}

async fn claims_are_typed(world: World) {
    notes(&world, false).await;
    rules(
        &world,
        json!([{"id":"level","audience":{"kind":"role","role":"staff"},"actions":["read"],"columns":null,
            "where":{"t":"or","of":[
                {"t":"cmp","column":"qty","op":"lte","value":{"k":"claim","name":"level"}},
                {"t":"and","of":[{"t":"in","column":"title","values":["C"]},{"t":"null","column":"qty","isNull":true}]}]}}]),
    )
    .await;
    let staff = |claims: BTreeMap<String, serde_json::Value>| {
        Access::Person(Person { subject: "s".into(), roles: vec!["staff".into()], claims })
    };
    let level = |value| staff(BTreeMap::from([("level".to_owned(), value)]));
    assert_eq!(world.ids_as(&level(json!(1)), "").await.unwrap(), "ac");
    // Issuers write numbers as text, too.
    for five in [json!(5), json!("5")] {
        assert_eq!(world.ids_as(&level(five), "").await.unwrap(), "abc");
    }
    // A claim that is missing or has another type passes no comparison.
    for access in [staff(BTreeMap::new()), level(json!("5.0")), level(json!([5])), level(json!(null))] {
        assert_eq!(world.ids_as(&access, "").await.unwrap(), "c");
    }
    assert!(world.list_as(&person("s"), "").await.is_err());
}

async fn insert_only_tables_return_ids(world: World) {
    notes(&world, false).await;
    rules(
        &world,
        json!([{"id":"post","audience":{"kind":"visitors"},"actions":["insert"],"where":{"t":"cmp","column":"qty","op":"lt","value":{"k":"lit","v":10}},"columns":["id","title","qty"]}]),
    )
    .await;
    let visitor = Access::Visitor;
    let posted = world.insert_as(&visitor, "notes", r#"{"id":"p","title":"hello","qty":1}"#).await.unwrap();
    assert_eq!(posted, r#"[{"id":"p"}]"#);
    for row in [r#"{"title":"x","qty":10}"#, r#"{"title":"x"}"#, r#"{"qty":1,"secret":"x"}"#] {
        let refused = world.insert_as(&visitor, "notes", row).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Forbidden, "{row}");
    }
    assert_eq!(world.list_as(&visitor, "").await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(world.ids("").await, "abcp");
}

async fn whole_numbers_of_a_masked_column_are_returned(world: World) {
    let table = NewTable::new("notes").with_column(NewColumn::new("price", ColumnType::Real));
    world.table(table).await;
    // Only some rows show the price, so the result has it through a condition.
    rules(
        &world,
        json!([{"id": "add", "audience": {"kind": "anyone"}, "actions": ["insert"], "where": {"t": "all"}, "columns": null},
            {"id": "see", "audience": {"kind": "anyone"}, "actions": ["read"], "columns": null,
             "where": {"t": "cmp", "column": "price", "op": "lt", "value": {"k": "lit", "v": 0}}}]),
    )
    .await;
    let options = WriteOptions::default();
    let row = br#"{"price":-1}"#;
    for (select, wanted) in [("price", "-1.0"), ("price:price::text", "\"-1\"")] {
        let query = format!("select={select}");
        let done =
            world.engine.insert(&world.project, &Access::Visitor, "notes", &query, row, &options).await;
        assert_eq!(text(&done.unwrap()), format!("[{{\"price\":{wanted}}}]"));
    }
}
