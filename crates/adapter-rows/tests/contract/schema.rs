//! Tables and columns.

use backend_data::{Access, ColumnType, ErrorKind, NewColumn, NewTable, Scope};

use crate::{contract, harness::World};

contract!(tables_and_columns_come_and_go, scopes_and_table_lists_hold, projects_are_apart);

async fn tables_and_columns_come_and_go(world: World) {
    let World { engine, project, .. } = &world;
    engine.create_project(project).await.unwrap();
    let notes = NewTable::new("notes").with(NewColumn::new("title", ColumnType::Text));
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

async fn scopes_and_table_lists_hold(world: World) {
    let World { engine, project, .. } = &world;
    for name in ["notes", "other"] {
        world.table(NewTable::new(name).with(NewColumn::new("title", ColumnType::Text))).await;
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
    // A key that only writes is shown the id and nothing else.
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

async fn projects_are_apart(world: World) {
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
