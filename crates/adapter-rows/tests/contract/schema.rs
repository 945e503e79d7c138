//! Tables and columns.

use backend_data::{Access, ColumnType, ErrorKind, NewColumn, NewIndex, NewTable, Scope};

use crate::{contract, harness::World};

contract!(
    tables_and_columns_are_created_and_dropped,
    indexes_are_created_and_dropped,
    an_index_changes_no_result,
    scopes_and_table_lists_hold,
    projects_are_separate
);

async fn tables_and_columns_are_created_and_dropped(world: World) {
    let World { engine, project, .. } = &world;
    engine.create_project(project).await.unwrap();
    let notes = NewTable::new("notes").with_column(NewColumn::new("title", ColumnType::Text));
    let made = engine.create_table(project, &Access::Owner, notes.clone()).await.unwrap();
    let names: Vec<&str> = made.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["id", "created_at", "title"]);
    let again = engine.create_table(project, &Access::Owner, notes.clone()).await.unwrap_err();
    assert_eq!((again.kind(), again.code()), (ErrorKind::Conflict, "table_exists"));
    let unconfirmed = NewTable { name: "open".into(), public_read: true, ..NewTable::default() };
    let refused = engine.create_table(project, &Access::Owner, unconfirmed).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);

    let add = async |column| engine.add_column(project, &Access::Owner, "notes", column).await;
    add(NewColumn::new("qty", ColumnType::Integer).required()).await.unwrap();
    world.insert("notes", r#"{"id":"a","title":"x","qty":1}"#).await.unwrap();
    let required = add(NewColumn::new("due", ColumnType::Timestamp).required()).await.unwrap_err();
    assert_eq!(required.code(), "column_needs_value");
    assert_eq!(add(NewColumn::new("qty", ColumnType::Text)).await.unwrap_err().code(), "column_exists");
    add(NewColumn::new("done", ColumnType::Boolean)).await.unwrap();
    assert_eq!(world.list("select=title,qty,done").await.unwrap(), r#"[{"title":"x","qty":1,"done":null}]"#);
    engine.drop_table(project, &Access::Owner, "notes").await.unwrap();
    assert_eq!(world.list("").await.unwrap_err().code(), "table_not_found");
    engine.create_table(project, &Access::Owner, NewTable::new("notes")).await.unwrap();
    assert_eq!(world.list("").await.unwrap(), "[]");

    engine.drop_project(project).await.unwrap();
    assert_eq!(world.list("").await.unwrap_err().code(), "project_not_found");
    engine.create_project(project).await.unwrap();
    assert_eq!(engine.schema(project, &Access::Owner).await.unwrap(), []);
}

async fn indexes_are_created_and_dropped(world: World) {
    let World { engine, project, .. } = &world;
    let notes = NewTable::new("notes")
        .with_column(NewColumn::new("qty", ColumnType::Integer))
        .with_column(NewColumn::new("meta", ColumnType::Json));
    world.table(notes).await;
    let add = async |columns: &[&str]| {
        engine.add_index(project, &Access::Owner, "notes", NewIndex::on(columns)).await
    };
    let names = |table: &backend_data::Table| {
        table.indexes.iter().map(|index| index.name.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(&add(&["qty"]).await.unwrap()), "ix1");
    assert_eq!(names(&add(&["qty", "created_at"]).await.unwrap()), "ix1 ix2");
    for (columns, code) in [
        (&["qty"][..], "index_exists"),
        (&["nothing"], "column_not_found"),
        (&["meta"], "invalid_request"),
        (&["qty", "qty"], "invalid_request"),
        (&["id"], "invalid_request"),
        (&[], "invalid_request"),
    ] {
        assert_eq!(add(columns).await.unwrap_err().code(), code, "{columns:?}");
    }
    // SQLite creates the empty table again for such a column, and must keep its indexes.
    let due = NewColumn::new("due", ColumnType::Integer).required();
    engine.add_column(project, &Access::Owner, "notes", due).await.unwrap();

    let drop = async |name| engine.drop_index(project, &Access::Owner, "notes", name).await;
    assert_eq!(names(&drop("ix1").await.unwrap()), "ix2");
    assert_eq!(drop("ix1").await.unwrap_err().code(), "index_not_found");
    assert_eq!(names(&add(&["due"]).await.unwrap()), "ix2 ix3");
    let table = &engine.schema(project, &Access::Owner).await.unwrap()[0];
    assert_eq!(table.indexes[1].columns, ["due"]);

    let reader = Access::service([Scope::RowsRead]);
    let refused =
        engine.add_index(project, &reader, "notes", NewIndex::on(&["id", "due"])).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Forbidden);
    assert_eq!(
        engine.drop_index(project, &reader, "notes", "ix2").await.unwrap_err().kind(),
        ErrorKind::Forbidden
    );
    engine.drop_table(project, &Access::Owner, "notes").await.unwrap();
    world.table(NewTable::new("notes").with_column(NewColumn::new("qty", ColumnType::Integer))).await;
    // Dropping the table frees the names of its indexes.
    assert_eq!(names(&add(&["qty"]).await.unwrap()), "ix1");
}

async fn an_index_changes_no_result(world: World) {
    let World { engine, project, .. } = &world;
    world.table(NewTable::new("notes").with_column(NewColumn::new("qty", ColumnType::Integer))).await;
    let rows: Vec<String> = ('a'..='i')
        .enumerate()
        .map(|(at, id)| {
            let qty = if at % 4 == 3 { "null".to_owned() } else { (at % 3).to_string() };
            format!(r#"{{"id":"{id}","qty":{qty}}}"#)
        })
        .collect();
    world.insert("notes", &format!("[{}]", rows.join(","))).await.unwrap();
    let queries = [
        "order=qty",
        "order=qty.desc",
        "order=qty.desc.nullslast",
        "order=qty.asc.nullsfirst,id.desc",
        "qty=gt.0&order=qty.desc&limit=3",
        "qty=eq.1",
        "qty=is.null",
        "qty=in.(0,2)&order=qty.desc",
    ];
    let mut before = Vec::new();
    for query in queries {
        before.push(world.ids(query).await);
    }
    assert_eq!(before[1], "hdifcebga", "rows that tie follow the direction of the order");
    engine.add_index(project, &Access::Owner, "notes", NewIndex::on(&["qty"])).await.unwrap();
    for (query, before) in queries.iter().zip(before) {
        assert_eq!(world.ids(query).await, before, "{query}");
    }
}

async fn scopes_and_table_lists_hold(world: World) {
    let World { engine, project, .. } = &world;
    for name in ["notes", "other"] {
        world.table(NewTable::new(name).with_column(NewColumn::new("title", ColumnType::Text))).await;
    }
    let reader = Access::service([Scope::RowsRead]);
    let writer = Access::service([Scope::RowsWrite]);
    let limited = Access::Service {
        scopes: vec![Scope::RowsRead, Scope::RowsWrite, Scope::SchemaWrite],
        tables: Some(vec!["other".into()]),
    };
    let row = r#"{"id":"a","title":"x"}"#;
    assert_eq!(world.insert_as(&reader, "notes", row).await.unwrap_err().kind(), ErrorKind::Forbidden);
    assert_eq!(world.insert_as(&limited, "notes", row).await.unwrap_err().kind(), ErrorKind::NotFound);
    // A key that may only write gets ids and nothing else.
    assert_eq!(world.insert_as(&writer, "notes", row).await.unwrap(), r#"[{"id":"a"}]"#);
    assert_eq!(world.list_as(&writer, "").await.unwrap_err().kind(), ErrorKind::Forbidden);
    assert_eq!(world.list_as(&limited, "").await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(world.ids_as(&reader, "").await.unwrap(), "a");
    let tables = engine.schema(project, &limited).await.unwrap();
    assert_eq!(tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(), ["other"]);
    let column = || NewColumn::new("qty", ColumnType::Integer);
    for (access, kind) in [(&reader, ErrorKind::Forbidden), (&limited, ErrorKind::NotFound)] {
        let refused = engine.add_column(project, access, "notes", column()).await.unwrap_err();
        assert_eq!(refused.kind(), kind);
    }
}

async fn projects_are_separate(world: World) {
    let World { engine, project, .. } = &world;
    let other = crate::harness::fresh_project();
    engine.create_project(&other).await.unwrap();
    world.table(NewTable::new("notes")).await;
    engine.create_table(&other, &Access::Owner, NewTable::new("notes")).await.unwrap();
    world.insert("notes", r#"{"id":"a"}"#).await.unwrap();
    let elsewhere =
        engine.get(&other, &Access::Owner, "notes", "a", "", backend_data::Format::Json).await.unwrap_err();
    assert_eq!(elsewhere.code(), "row_not_found");
    engine.drop_project(&other).await.unwrap();
    assert!(engine.get(project, &Access::Owner, "notes", "a", "", backend_data::Format::Json).await.is_ok());
}
