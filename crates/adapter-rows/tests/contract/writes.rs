//! Writing rows, all or nothing.

use backend_data::{Access, ColumnType, ErrorKind, NewColumn, NewTable, Resolution, WriteOptions};

use crate::{
    contract,
    harness::{World, text},
};

contract!(
    inserts_are_all_or_nothing,
    generated_ids_rise,
    updates_and_deletes_need_a_filter,
    rows_are_changed_by_id,
    a_write_of_too_many_rows_is_undone,
    upserts_merge_or_ignore,
    concurrent_writes_all_count,
);

const WRITE: WriteOptions = WriteOptions {
    minimal: false,
    only_ids: false,
    single_object: false,
    max_affected: None,
    resolution: None,
    missing_default: false,
    format: backend_data::Format::Json,
    csv_body: false,
};

async fn notes(world: &World) {
    let table = NewTable::new("notes")
        .with_column(NewColumn::new("title", ColumnType::Text).required())
        .with_column(NewColumn::new("qty", ColumnType::Integer));
    world.table(table).await;
}

async fn inserts_are_all_or_nothing(world: World) {
    notes(&world).await;
    world.insert("notes", r#"{"id":"b","title":"b"}"#).await.unwrap();
    let rows = r#"[{"id":"a","title":"a"},{"id":"b","title":"again"},{"id":"c","title":"c"}]"#;
    let error = world.insert("notes", rows).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, "row_exists"));
    let error =
        world.insert("notes", r#"[{"id":"x","title":"x"},{"id":"x","title":"x"}]"#).await.unwrap_err();
    assert_eq!(error.code(), "row_exists");
    let error = world.insert("notes", r#"{"qty":1}"#).await.unwrap_err();
    assert_eq!(error.code(), "value_required");
    assert_eq!(world.ids("").await, "b");
    assert_eq!(world.insert("notes", "[]").await.unwrap(), "[]");
    let many = |n: usize| format!("[{}]", vec![r#"{"title":"x"}"#; n].join(","));
    assert_eq!(world.insert("notes", &many(501)).await.unwrap_err().kind(), ErrorKind::Invalid);
    world.insert("notes", &many(500)).await.unwrap();
    assert_eq!(world.list("select=id").await.unwrap().matches("id").count(), 501);
    let columns = r#"[{"title":"p","extra":1},{"qty":2,"title":"q"}]"#;
    let query = "columns=\"title\",qty&select=title,qty";
    let access = Access::Owner;
    let written =
        world.engine.insert(&world.project, &access, "notes", query, columns.as_bytes(), &WRITE).await;
    assert_eq!(text(&written.unwrap()), r#"[{"title":"p","qty":null},{"title":"q","qty":2}]"#);
}

async fn generated_ids_rise(world: World) {
    notes(&world).await;
    let rows: Vec<String> = (0..300).map(|n| format!(r#"{{"title":"t","qty":{n}}}"#)).collect();
    world.insert("notes", &format!("[{}]", rows.join(","))).await.unwrap();
    let quantities: Vec<serde_json::Value> =
        serde_json::from_str(&world.list("select=qty").await.unwrap()).unwrap();
    let quantities: Vec<i64> = quantities.iter().filter_map(|row| row["qty"].as_i64()).collect();
    assert_eq!(quantities, (0..300).collect::<Vec<i64>>());
}

async fn updates_and_deletes_need_a_filter(world: World) {
    notes(&world).await;
    let rows =
        r#"[{"id":"a","title":"a","qty":1},{"id":"b","title":"b","qty":2},{"id":"c","title":"c","qty":3}]"#;
    world.insert("notes", rows).await.unwrap();
    let update = async |query: &str, body: &str| {
        let access = Access::Owner;
        let written =
            world.engine.update(&world.project, &access, "notes", query, body.as_bytes(), &WRITE).await;
        written.map(|written| (written.rows, text(&written)))
    };
    let delete = async |query: &str, options: &WriteOptions| {
        let written = world.engine.delete(&world.project, &Access::Owner, "notes", query, options).await;
        written.map(|written| (written.rows, text(&written)))
    };
    for query in ["", "limit=1", "select=id"] {
        assert_eq!(update(query, r#"{"qty":0}"#).await.unwrap_err().kind(), ErrorKind::Invalid, "{query}");
        assert_eq!(delete(query, &WRITE).await.unwrap_err().kind(), ErrorKind::Invalid, "{query}");
    }
    let (rows, body) = update("qty=gte.2&select=id,qty", r#"{"qty":9}"#).await.unwrap();
    assert_eq!(rows, 2);
    assert!(body == r#"[{"id":"b","qty":9},{"id":"c","qty":9}]"#, "{body}");
    assert_eq!(update("qty=eq.7", r#"{"qty":9}"#).await.unwrap(), (0, "[]".to_owned()));
    assert_eq!(update("qty=eq.9", "{}").await.unwrap(), (0, "[]".to_owned()));
    for bad in [r#"{"id":"z"}"#, r#"{"title":null}"#, "[]"] {
        assert_eq!(update("qty=eq.9", bad).await.unwrap_err().kind(), ErrorKind::Invalid, "{bad}");
    }
    let minimal = WriteOptions { minimal: true, ..WRITE };
    assert_eq!(delete("qty=eq.9", &minimal).await.unwrap(), (2, String::new()));
    assert_eq!(delete("id=eq.a&select=title", &WRITE).await.unwrap(), (1, r#"[{"title":"a"}]"#.to_owned()));
    assert_eq!(world.ids("").await, "");
}

async fn rows_are_changed_by_id(world: World) {
    notes(&world).await;
    world.insert("notes", r#"{"id":"a","title":"a","qty":1}"#).await.unwrap();
    let World { engine, project, .. } = &world;
    let query = "select=id,qty";
    let body = br#"{"qty":5}"#;
    let written = engine.update_by_id(project, &Access::Owner, "notes", "a", query, body, &WRITE).await;
    assert_eq!(text(&written.unwrap()), r#"{"id":"a","qty":5}"#);
    let missing = engine.update_by_id(project, &Access::Owner, "notes", "z", query, body, &WRITE).await;
    assert_eq!(missing.unwrap_err().code(), "row_not_found");
    let deleted = engine.delete_by_id(project, &Access::Owner, "notes", "a", query, &WRITE).await;
    assert_eq!(text(&deleted.unwrap()), r#"{"id":"a","qty":5}"#);
    let missing = engine.delete_by_id(project, &Access::Owner, "notes", "a", query, &WRITE).await;
    assert_eq!(missing.unwrap_err().code(), "row_not_found");
}

async fn a_write_of_too_many_rows_is_undone(world: World) {
    notes(&world).await;
    world
        .insert("notes", r#"[{"id":"a","title":"x","qty":1},{"id":"b","title":"x","qty":1}]"#)
        .await
        .unwrap();
    let World { engine, project, .. } = &world;
    let most = WriteOptions { max_affected: Some(1), ..WRITE };
    let one = WriteOptions { single_object: true, ..WRITE };
    let body = br#"{"qty":2}"#;
    for options in [most, one, WriteOptions { minimal: true, ..most }, WriteOptions { minimal: true, ..one }]
    {
        engine.update(project, &Access::Owner, "notes", "qty=eq.1", body, &options).await.unwrap_err();
        engine.delete(project, &Access::Owner, "notes", "qty=eq.1", &options).await.unwrap_err();
        assert_eq!(world.ids("qty=eq.1").await, "ab");
    }
}

async fn upserts_merge_or_ignore(world: World) {
    notes(&world).await;
    world.insert("notes", r#"{"id":"a","title":"old","qty":1}"#).await.unwrap();
    let upsert = async |resolution, body: &str| {
        let options = WriteOptions { resolution: Some(resolution), ..WRITE };
        let (access, query) = (Access::Owner, "on_conflict=id&select=id,title,qty");
        let body = body.as_bytes();
        let written = world.engine.insert(&world.project, &access, "notes", query, body, &options).await;
        written.map(|written| text(&written))
    };
    let rows = r#"[{"id":"a","title":"new"},{"id":"b","title":"b"}]"#;
    assert_eq!(
        upsert(Resolution::IgnoreDuplicates, rows).await.unwrap(),
        r#"[{"id":"b","title":"b","qty":null}]"#
    );
    assert_eq!(
        upsert(Resolution::MergeDuplicates, rows).await.unwrap(),
        r#"[{"id":"a","title":"new","qty":1},{"id":"b","title":"b","qty":null}]"#
    );
    let twice = r#"[{"id":"a","title":"1"},{"id":"a","title":"2"}]"#;
    assert_eq!(upsert(Resolution::MergeDuplicates, twice).await.unwrap_err().kind(), ErrorKind::Invalid);
}

async fn concurrent_writes_all_count(world: World) {
    notes(&world).await;
    let world = std::sync::Arc::new(world);
    let tasks: Vec<_> = (0..40)
        .map(|n| {
            let world = world.clone();
            // Every fourth write fails, alone.
            let row = if n % 4 == 0 {
                r#"{"id":"same","title":"x"}"#.to_owned()
            } else {
                format!(r#"{{"title":"t{n}"}}"#)
            };
            tokio::spawn(async move { world.insert("notes", &row).await.is_ok() })
        })
        .collect();
    let mut written = 0;
    for task in tasks {
        written += usize::from(task.await.unwrap());
    }
    assert_eq!(written, 31);
    assert_eq!(world.list("select=title").await.unwrap().matches("title").count(), 31);
}
