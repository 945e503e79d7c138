//! Tests of rules, and batches.

use backend_data::{
    Access, ColumnType, NewColumn, NewTable, Operation, OperationKind, Person, Rule, RuleTest,
    RuleTestReport, Scope, WriteOptions, rule::Action,
};
use serde_json::{Value as Json, json};

use crate::{contract, harness::World};

contract!(
    a_test_of_rules_names_the_deciding_rule,
    a_test_of_rules_agrees_with_the_operation,
    a_test_of_claims_agrees_with_the_operation,
    batches_are_all_or_nothing
);

fn person(subject: &str) -> Access {
    Access::Person(Person { subject: subject.into(), ..Person::default() })
}

async fn notes(world: &World) {
    let table = NewTable::new("notes")
        .with_column(NewColumn::new("owner", ColumnType::Text))
        .with_column(NewColumn::new("qty", ColumnType::Integer));
    world.table(table).await;
    world
        .insert("notes", r#"[{"id":"a","owner":"ann","qty":1},{"id":"b","owner":"bob","qty":50}]"#)
        .await
        .unwrap();
    let rules = json!([
        {"id":"small","audience":{"kind":"anyone"},"actions":["read"],"where":{"t":"cmp","column":"qty","op":"lt","value":{"k":"lit","v":10}},"columns":["id","qty"]},
        {"id":"own","audience":{"kind":"signed_in"},"actions":["read","insert","update","delete"],"where":{"t":"cmp","column":"owner","op":"eq","value":{"k":"me"}},"columns":null}
    ]);
    let rules: Vec<Rule> = serde_json::from_value(rules).unwrap();
    world.engine.set_rules(&world.project, &Access::Owner, "notes", rules).await.unwrap();
}

async fn test_rules(
    world: &World,
    access: &Access,
    action: Action,
    row: Option<&str>,
    filter: &str,
) -> RuleTestReport {
    let trial = RuleTest { action, row: row.map(str::as_bytes), filter };
    world.engine.test_rules(&world.project, access, "notes", &trial).await.unwrap()
}

async fn a_test_of_rules_names_the_deciding_rule(world: World) {
    notes(&world).await;
    use Action::{Delete, Insert, Read, Update};
    let (ann, visitor) = (person("ann"), Access::Visitor);
    let writer = Access::service([Scope::RowsWrite]);
    for (access, action, row, filter, allowed, rule) in [
        (&visitor, Read, None, "", true, Some("small")),
        (&visitor, Read, None, "id=eq.b", false, None),
        // A filter on a column that no rule shows to visitors.
        (&visitor, Read, None, "owner=eq.ann", false, None),
        (&visitor, Read, Some(r#"{"qty":3}"#), "", true, Some("small")),
        (&ann, Read, None, "owner=eq.ann", true, Some("own")),
        (&ann, Insert, Some(r#"{"owner":"ann","qty":99}"#), "", true, Some("own")),
        (&ann, Insert, Some(r#"{"owner":"bob"}"#), "", false, None),
        (&visitor, Insert, Some(r#"{"owner":null}"#), "", false, None),
        (&ann, Update, Some(r#"{"qty":2}"#), "id=eq.a", true, Some("own")),
        (&ann, Update, Some(r#"{"owner":"bob"}"#), "id=eq.a", false, None),
        (&ann, Update, Some(r#"{"owner":"ann"}"#), "id=eq.b", false, None),
        (&ann, Delete, None, "id=eq.a", true, Some("own")),
        (&ann, Delete, None, "id=eq.b", false, None),
        (&visitor, Delete, None, "id=eq.a", false, None),
        (&writer, Delete, None, "id=eq.a", true, None),
        (&writer, Read, None, "id=eq.a", false, None),
        (&ann, Delete, None, "id=eq.zz", false, None),
    ] {
        let verdict = test_rules(&world, access, action, row, filter).await;
        let shown = format!("{access:?} {action:?} {row:?} {filter}: {verdict:?}");
        assert_eq!((verdict.allowed, verdict.rule.as_deref()), (allowed, rule), "{shown}");
        assert!(!verdict.reason.is_empty() && verdict.rules.len() == 2, "{shown}");
    }
    let verdict = test_rules(&world, &ann, Action::Read, None, "").await;
    let rows: Vec<_> =
        verdict.rows.iter().map(|row| (row.id.as_str(), row.allowed, row.rule.as_deref())).collect();
    assert_eq!(rows, [("a", true, Some("small")), ("b", false, None)]);
    assert_eq!(verdict.rules[1].matched, Some(1));
    let verdict = test_rules(&world, &Access::Visitor, Action::Read, None, "owner=eq.ann").await;
    assert_eq!(verdict.rules[0].reason.as_deref(), Some("it does not cover the column owner"));
    for (action, row, filter) in [
        (Action::Insert, None, ""),
        (Action::Update, None, "id=eq.a"),
        (Action::Read, Some("{}"), "id=eq.a"),
        (Action::Read, None, "limit=1"),
    ] {
        let trial = RuleTest { action, row: row.map(str::as_bytes), filter };
        let tried = world.engine.test_rules(&world.project, &ann, "notes", &trial).await;
        assert_eq!(tried.unwrap_err().code(), "invalid_request", "{action:?} {filter}");
    }
    // Nothing was written.
    assert_eq!(
        world.list("select=id,owner,qty").await.unwrap(),
        r#"[{"id":"a","owner":"ann","qty":1},{"id":"b","owner":"bob","qty":50}]"#
    );
}

async fn a_test_of_rules_agrees_with_the_operation(world: World) {
    notes(&world).await;
    let options = WriteOptions::default();
    for access in [person("ann"), person("bob"), Access::Visitor] {
        for owner in ["ann", "bob"] {
            let row = format!(r#"{{"owner":"{owner}"}}"#);
            let tried = test_rules(&world, &access, Action::Insert, Some(&row), "").await.allowed;
            assert_eq!(world.insert_as(&access, "notes", &row).await.is_ok(), tried, "{access:?} {row}");
            for id in ["a", "b"] {
                let filter = format!("id=eq.{id}");
                let tried = test_rules(&world, &access, Action::Update, Some(&row), &filter).await.allowed;
                let update = world.engine.update_by_id(
                    &world.project,
                    &access,
                    "notes",
                    id,
                    "",
                    row.as_bytes(),
                    &options,
                );
                assert_eq!(update.await.is_ok(), tried, "{access:?} {id} {row}");
                // Restores the row.
                let back = format!(r#"{{"owner":"{}"}}"#, if id == "a" { "ann" } else { "bob" });
                let back = world.engine.update_by_id(
                    &world.project,
                    &Access::Owner,
                    "notes",
                    id,
                    "",
                    back.as_bytes(),
                    &options,
                );
                back.await.unwrap();
            }
        }
    }
}

/// Returns true if a value of a column equals a claim, or one of its values, by the rules that the documents state.
fn equals(column: &str, value: &Json, claim: &Json) -> bool {
    if let Json::Array(list) = claim {
        return list.iter().any(|one| !one.is_array() && equals(column, value, one));
    }
    match (column, claim) {
        ("integer", Json::String(text)) => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            digits.chars().all(|one| one.is_ascii_digit()) && text.parse() == Ok(value.as_i64().unwrap())
        }
        ("integer" | "real", Json::Number(number)) => number.as_f64() == value.as_f64(),
        ("text" | "timestamp", Json::String(text)) => value == text,
        ("boolean", Json::Bool(_)) => value == claim,
        _ => false,
    }
}

/// Compares the rows that the policy lets a person read with its test and with the documents, for claims of each kind and
/// columns of each type.
async fn a_test_of_claims_agrees_with_the_operation(world: World) {
    use ColumnType::{Boolean, Integer, Real, Text, Timestamp};
    let times = ["2026-01-02T03:04:05.000006Z", "2026-01-02T03:04:05.000007Z"];
    let columns = [
        ("text", Text),
        ("integer", Integer),
        ("real", Real),
        ("boolean", Boolean),
        ("timestamp", Timestamp),
    ];
    let table = columns.iter().fold(NewTable::new("notes"), |table, (name, kind)| {
        table.with_column(NewColumn::new(&format!("{name}_value"), *kind))
    });
    world.table(table).await;
    let rows: Vec<Json> = ["a", "7", "true", ""]
        .iter()
        .enumerate()
        .map(|(at, text)| {
            let number = [7, -7, i64::MAX, 0][at];
            let real = [7.0, -7.5, 1e300, 0.0][at];
            json!({
                "id": at.to_string(), "text_value": text, "integer_value": number, "real_value": real,
                "boolean_value": at % 2 == 0, "timestamp_value": times[at % 2],
            })
        })
        .collect();
    world.insert("notes", &json!(rows).to_string()).await.unwrap();
    world.insert("notes", r#"{"id":"nulls"}"#).await.unwrap();
    let claims = [
        None,
        Some(Json::Null),
        Some(json!("a")),
        Some(json!("7")),
        Some(json!("-7")),
        Some(json!("")),
        Some(json!("9223372036854775807")),
        Some(json!("9223372036854775808")),
        Some(json!(7)),
        Some(json!(-7.5)),
        Some(json!(true)),
        Some(json!("true")),
        Some(json!(times[1])),
        Some(json!({ "a": "a" })),
        Some(json!([])),
        Some(json!(["a", "7", 7, "-7", true, times[0], null, ["a"], { "a": 1 }])),
        Some(json!([null])),
        Some(json!([1e300, 0, i64::MAX])),
    ];
    let mut compared = 0;
    for (name, _) in columns {
        for op in ["eq", "neq", "gt", "gte", "lt", "lte"] {
            let compares = json!({"t":"cmp","column":format!("{name}_value"),"op":op,"value":{"k":"claim","name":"org"}});
            // Also where one of two conditions suffices.
            let rules = json!([
                {"id":"one","audience":{"kind":"signed_in"},"actions":["read"],"where":compares,"columns":null},
                {"id":"two","audience":{"kind":"signed_in"},"actions":["read"],"columns":null,"where":{"t":"or","of":[
                    compares, {"t":"cmp","column":"text_value","op":"eq","value":{"k":"claim","name":"other"}}]}},
            ]);
            let rules: Vec<Rule> = serde_json::from_value(rules).unwrap();
            world.engine.set_rules(&world.project, &Access::Owner, "notes", rules).await.unwrap();
            for claim in &claims {
                let held = claim.clone().map(|claim| ("org".to_owned(), claim)).into_iter().collect();
                let access =
                    Access::Person(Person { subject: "ann".into(), claims: held, ..Person::default() });
                let options = backend_data::ReadOptions::default();
                let page =
                    world.engine.list(&world.project, &access, "notes", "select=id&order=id", &options).await;
                let read: Vec<Json> = serde_json::from_slice(&page.unwrap().body).unwrap();
                let read: Vec<&str> = read.iter().map(|row| row["id"].as_str().unwrap()).collect();
                let report = test_rules(&world, &access, Action::Read, None, "").await;
                let allowed = report.rows.iter().filter(|row| row.allowed).map(|row| row.id.as_str());
                assert_eq!(allowed.collect::<Vec<_>>(), read, "{name} {op} {claim:?}");
                let [finding, other] = &report.rules[1].conditions[..] else { panic!("{report:?}") };
                assert_eq!(report.rules[0].conditions, std::slice::from_ref(finding));
                assert_eq!(other.finding, "the token has no claim other");
                // Whoever has nothing to compare reads nothing.
                assert!(
                    finding.compares || read.is_empty(),
                    "{name} {op} {claim:?}: {finding:?} and {read:?}"
                );
                if op == "eq" {
                    let equal = rows.iter().filter(|row| {
                        claim.as_ref().is_some_and(|claim| equals(name, &row[format!("{name}_value")], claim))
                    });
                    let equal: Vec<&str> = equal.map(|row| row["id"].as_str().unwrap()).collect();
                    assert_eq!(read, equal, "{name} {op} {claim:?}");
                }
                compared += read.len();
            }
        }
    }
    assert!(compared > 50, "only {compared} rows were read");
}

async fn batches_are_all_or_nothing(world: World) {
    notes(&world).await;
    world.table(NewTable::new("log").with_column(NewColumn::new("what", ColumnType::Text))).await;
    let operation = |kind, table, id, query, body: &'static str| Operation {
        kind,
        table,
        id,
        query,
        body: body.as_bytes(),
        options: WriteOptions::default(),
    };
    use OperationKind::{Delete, Insert, Update};
    let run =
        async |access: &Access, operations| world.engine.batch(&world.project, access, operations).await;
    let done = run(
        &Access::Owner,
        vec![
            operation(Insert, "notes", None, "select=id", r#"[{"id":"c","qty":1},{"id":"d","qty":2}]"#),
            operation(Update, "notes", None, "id=in.(c,d)&select=id,qty", r#"{"qty":7}"#),
            operation(Delete, "notes", Some("d"), "select=id", ""),
            operation(Insert, "log", None, "select=what", r#"{"what":"done"}"#),
        ],
    );
    let bodies: Vec<String> =
        done.await.unwrap().iter().map(|written| String::from_utf8(written.body.to_vec()).unwrap()).collect();
    assert_eq!(
        bodies,
        [
            r#"[{"id":"c"},{"id":"d"}]"#,
            r#"[{"id":"c","qty":7},{"id":"d","qty":7}]"#,
            r#"{"id":"d"}"#,
            r#"[{"what":"done"}]"#
        ]
    );
    for (last, code) in [
        (operation(Insert, "notes", None, "", r#"{"id":"b"}"#), "row_exists"),
        (operation(Insert, "nope", None, "", r#"{"id":"a"}"#), "table_not_found"),
        (operation(Update, "notes", None, "", r#"{"qty":1}"#), "filter_required"),
        (operation(Delete, "notes", Some("zz"), "", ""), "not_one_row"),
        (operation(Update, "notes", None, "id=eq.a", r#"{"qty":"x"}"#), "invalid_value"),
    ] {
        let first = operation(Delete, "notes", Some("a"), "", "");
        let error = run(&Access::Owner, vec![first, last]).await.unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.details().is_some_and(|details| details.contains("In operation 1")), "{error:?}");
    }
    // Rules apply within a batch, and a violation undoes all of it.
    let ann = person("ann");
    let mine = operation(Update, "notes", Some("a"), "", r#"{"qty":5}"#);
    let theirs = operation(Insert, "notes", None, "", r#"{"owner":"bob"}"#);
    assert_eq!(run(&ann, vec![mine.clone(), theirs]).await.unwrap_err().code(), "forbidden");
    run(&ann, vec![mine]).await.unwrap();
    assert_eq!(
        world.list("select=id,qty").await.unwrap(),
        r#"[{"id":"a","qty":5},{"id":"b","qty":50},{"id":"c","qty":7}]"#
    );
    assert_eq!(run(&Access::Owner, Vec::new()).await.unwrap_err().code(), "invalid_request");
}
