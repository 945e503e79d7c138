//! SQL injection: text with a meaning in SQL, wherever a request may have text, is refused or treated as data.

use backend_data::{
    Access, ColumnType, Engine, ErrorKind, FileFormat, Format, ImportOptions, NewColumn, NewTable, Operation,
    OperationKind, Person, ReadOptions, Resolution, Rule, WriteOptions,
};
use serde_json::json;

use crate::{contract, harness::World};

contract!(nothing_a_caller_writes_is_read_as_sql);

const CORPUS: [&str; 26] = [
    "'; DROP TABLE notes; --",
    "\"; DROP TABLE notes; --",
    "' OR '1'='1",
    "\" OR \"1\"=\"1",
    "x' UNION SELECT title FROM other --",
    "1; DELETE FROM notes",
    "1) OR (1=1",
    "(SELECT 1)",
    "pg_sleep(10)",
    "load_extension('x')",
    "sqlite_master",
    "pg_catalog.pg_class",
    "notes\"; ATTACH 'x' AS y; --",
    "$1",
    "?1",
    ":a",
    "@a",
    "$$",
    "/* */",
    "\\",
    "\\'",
    "a\u{0}b",
    "\u{2019}; DROP TABLE notes",
    "{},{}",
    "_catalog",
    "rowid",
];

/// Percent-encodes text as a client would.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn harmless(place: &str, text: &str, done: Result<(), backend_data::Error>) {
    if let Err(error) = done {
        let fault = matches!(error.kind(), ErrorKind::Internal | ErrorKind::Unavailable | ErrorKind::Timeout);
        let source = std::error::Error::source(&error).map(ToString::to_string);
        assert!(!fault, "{text:?} as {place}: {error} {source:?}");
        assert_ne!(error.code(), "schema_changed", "{text:?} as {place} reached the database as a name");
    }
}

async fn whole(engine: &Engine, world: &World) {
    for (table, rows) in [("notes", 2), ("other", 1)] {
        let options = ReadOptions { include_count: true, ..ReadOptions::default() };
        let page =
            engine.list(&world.project, &Access::Owner, table, "id=in.(a,b,o)", &options).await.unwrap();
        assert_eq!(page.total, Some(rows), "{table}");
    }
}

async fn nothing_a_caller_writes_is_read_as_sql(world: World) {
    for name in ["notes", "other"] {
        let table = NewTable::new(name)
            .with_column(NewColumn::new("title", ColumnType::Text))
            .with_column(NewColumn::new("qty", ColumnType::Integer))
            .with_column(NewColumn::new("meta", ColumnType::Json));
        world.table(table).await;
    }
    world
        .insert("notes", r#"[{"id":"a","title":"A","qty":1},{"id":"b","title":"B","qty":2}]"#)
        .await
        .unwrap();
    world.insert("other", r#"{"id":"o","title":"secret"}"#).await.unwrap();
    let (engine, project, owner) = (&world.engine, &world.project, Access::Owner);
    let (read, write) = (ReadOptions::default(), WriteOptions::default());
    for text in CORPUS {
        let e = encoded(text);
        for query in [
            format!("title=eq.{e}"),
            format!("title=neq.{e}&title=is.null"),
            format!("title=like.{e}"),
            format!("title=ilike.{e}"),
            format!("title=match.{e}"),
            format!("title=in.({e})"),
            format!("title=in.(\"{e}\")"),
            format!("title=eq(any).{{{e}}}"),
            format!("title=isdistinct.{e}&title=is.null"),
            format!("title={e}"),
            format!("title={e}.x"),
            format!("title=is.{e}"),
            format!("qty=eq.{e}"),
            format!("meta=cs.{e}"),
            format!("meta->>{e}=eq.1"),
            format!("meta->{e}->>{e}=eq.{e}"),
            format!("{e}=eq.1"),
            format!("or=(title.eq.{e},{e}.eq.1)"),
            format!("and=({e})"),
            format!("not.or=({e}.not.{e}.{e})"),
            format!("select={e}"),
            format!("select={e}:title"),
            format!("select=title::{e}"),
            format!("select=title.{e}()"),
            format!("select=meta->{e}"),
            format!("order={e}"),
            format!("order=title.{e}"),
            format!("order=meta->>{e}"),
            format!("limit={e}"),
            format!("offset={e}"),
            format!("cursor={e}"),
            format!("columns={e}"),
            format!("on_conflict={e}"),
            e.clone(),
        ] {
            let listed = engine.list(project, &owner, "notes", &query, &read).await;
            if let Ok(page) = &listed {
                let rows = String::from_utf8_lossy(&page.body);
                assert!(!rows.contains("secret"), "{query}: {rows}");
            }
            harmless(&query, text, listed.map(drop));
            // Such a filter may rightly match rows, but must change none.
            let filter = format!("id=eq.none&{query}");
            let body = br#"{"qty":9}"#;
            harmless(
                &query,
                text,
                engine.update(project, &owner, "notes", &filter, body, &write).await.map(drop),
            );
            harmless(&query, text, engine.delete(project, &owner, "notes", &filter, &write).await.map(drop));
        }
        harmless("table", text, engine.list(project, &owner, text, "", &read).await.map(drop));
        harmless(
            "new table",
            text,
            engine.create_table(project, &owner, NewTable::new(text)).await.map(drop),
        );
        let column = NewColumn::new(text, ColumnType::Text);
        harmless("column", text, engine.add_column(project, &owner, "notes", column).await.map(drop));
        harmless("drop", text, engine.drop_table(project, &owner, text).await);
        harmless("id", text, engine.get(project, &owner, "notes", text, "", Format::Json).await.map(drop));
        let body = br#"{"qty":9}"#;
        let done = engine.update_by_id(project, &owner, "notes", text, "", body, &write).await;
        harmless("id", text, done.map(drop));
        harmless("id", text, engine.delete_by_id(project, &owner, "notes", text, "", &write).await.map(drop));

        // As data, it is returned as it was sent, except for U+0000, which is refused.
        let row = json!({"id": "x", "title": text, "meta": {text: [text]}}).to_string();
        let merge = WriteOptions { resolution: Some(Resolution::MergeDuplicates), ..write };
        let done = engine.insert(project, &owner, "notes", "select=title,meta", row.as_bytes(), &merge).await;
        match done {
            Ok(written) => {
                let rows: serde_json::Value = serde_json::from_slice(&written.body).unwrap();
                assert_eq!(rows, json!([{"title": text, "meta": {text: [text]}}]));
                let found =
                    engine.list(project, &owner, "notes", &format!("id=eq.x&title=eq.{e}"), &read).await;
                assert_eq!(found.unwrap().rows, 1, "{text:?} is found by its value");
                engine.delete(project, &owner, "notes", "id=eq.x", &write).await.unwrap();
            }
            Err(error) => assert!(text.contains('\0'), "{text:?}: {error}"),
        }
        for body in
            [json!({text: 1}), json!({"qty": text}), json!({"meta": text}), json!(text), json!([[text]])]
        {
            let body = body.to_string();
            let filter = "id=eq.none";
            let done = engine.update(project, &owner, "notes", filter, body.as_bytes(), &write).await;
            harmless("body", text, done.map(drop));
        }
        for (form, file) in [
            (FileFormat::Csv, format!("{text}\n{text}\n")),
            (FileFormat::JsonLines, json!({text: text}).to_string()),
        ] {
            let (options, source) =
                (ImportOptions { format: form, ..ImportOptions::default() }, bytes::Bytes::from(file));
            let source = std::sync::Arc::new(source);
            harmless("file", text, engine.import(project, &owner, "notes", source, &options).await.map(drop));
        }
        let query = format!("title=eq.{e}");
        let operation = Operation {
            kind: OperationKind::Delete,
            table: text,
            id: Some(text),
            query: &query,
            body: b"",
            options: write,
        };
        harmless("batch", text, engine.batch(project, &owner, vec![operation]).await.map(drop));

        // Rules and their audiences.
        let rule = json!({"id": "one", "audience": {"kind": "signed_in"}, "actions": ["read"], "columns": null,
            "where": {"t": "or", "of": [{"t": "cmp", "column": "title", "op": "eq", "value": {"k": "lit", "v": text}},
                {"t": "cmp", "column": "title", "op": "eq", "value": {"k": "claim", "name": "team"}}]}});
        let rule: Rule = serde_json::from_value(rule).unwrap();
        let set = engine.set_rules(project, &owner, "notes", vec![rule]).await;
        if set.is_ok() {
            let claims = [("team".to_owned(), json!(text))].into();
            let person = Access::Person(Person { subject: text.into(), roles: vec![text.into()], claims });
            let page = engine.list(project, &person, "notes", "", &read).await.unwrap();
            assert_eq!(page.rows, 0, "{text:?} in a claim matches rows");
        }
        harmless("rule", text, set.map(drop));
        for bad in [
            json!({"t": "null", "column": text, "isNull": true}),
            json!({"t": "cmp", "column": "title", "op": "eq", "value": {"k": "claim", "name": text}}),
        ] {
            let rule = json!({"id": "one", "audience": {"kind": "anyone"}, "actions": ["read"], "columns": null, "where": bad});
            let rule: Rule = serde_json::from_value(rule).unwrap();
            let set = engine.set_rules(project, &owner, "notes", vec![rule]).await;
            // A claim may have any valid name; no column has such a name.
            let name = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            assert!(set.is_err() || name, "{text:?} in a rule");
            harmless("rule", text, set.map(drop));
        }
        harmless("sentence", text, Rule::from_sentence("one", text).map(drop));
        whole(engine, &world).await;
    }
}
