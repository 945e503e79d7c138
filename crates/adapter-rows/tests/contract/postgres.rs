//! What only PostgreSQL has: several processes.

use std::sync::Arc;

use backend_data::{Access, ColumnType, Engine, NewColumn, NewTable, ReadOptions, WriteOptions};

use crate::harness;

#[tokio::test]
async fn another_process_sees_a_schema_change_at_once() {
    let here = harness::postgres().await;
    let there = Engine::with_system(Arc::new(harness::pg_store().await));
    let project = &here.project;
    let (owner, read, write) = (Access::Owner, ReadOptions::default(), WriteOptions::default());
    let list = async |query: &str| {
        let page = there.list(project, &owner, "notes", query, &read).await?;
        Ok::<_, backend_data::Error>(String::from_utf8(page.body.to_vec()).unwrap())
    };
    assert_eq!(list("").await.unwrap_err().code(), "table_not_found");
    here.table(NewTable::new("notes").public()).await;
    assert_eq!(list("").await.unwrap(), "[]");

    here.engine
        .add_column(project, &owner, "notes", NewColumn::new("qty", ColumnType::Integer))
        .await
        .unwrap();
    there.insert(project, &owner, "notes", "", br#"{"id":"a","qty":1}"#, &write).await.unwrap();
    assert_eq!(list("select=id,qty").await.unwrap(), r#"[{"id":"a","qty":1}]"#);

    here.engine.set_public_read(project, &owner, "notes", false).await.unwrap();
    let hidden = there.list(project, &Access::Visitor, "notes", "", &read).await.unwrap_err();
    assert_eq!(hidden.code(), "table_not_found");

    // The same name with another type: nothing prepared for the old one may be used.
    here.engine.drop_table(project, &owner, "notes").await.unwrap();
    here.table(NewTable::new("notes").with(NewColumn::new("qty", ColumnType::Text))).await;
    here.insert("notes", r#"{"id":"a","qty":"one"}"#).await.unwrap();
    assert_eq!(list("select=id,qty").await.unwrap(), r#"[{"id":"a","qty":"one"}]"#);

    here.engine.drop_project(project).await.unwrap();
    assert_eq!(list("").await.unwrap_err().code(), "project_not_found");
}
