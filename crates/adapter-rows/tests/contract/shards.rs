//! Two shards: a project is in the store of its shard and in no other.

use std::{collections::BTreeMap, sync::Arc};

use adapter_rows::{PgOptions, PgRows, Shards, ShardsError, SqliteOptions, SqliteRows};
use backend_data::{
    Access, ColumnType, Engine, ErrorKind, NewColumn, NewTable, ProjectRef, ReadOptions, RowStore,
    WriteOptions,
};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::harness;

async fn a_project_is_in_the_store_of_its_shard(first: Arc<dyn RowStore>, second: Arc<dyn RowStore>) {
    let stores = BTreeMap::from([(0, first.clone()), (1, second.clone())]);
    let engine = Engine::with_system(Arc::new(Shards::new(stores).unwrap()));
    let (owner, read, write) = (Access::Owner, ReadOptions::default(), WriteOptions::default());
    let on = |shard| ProjectRef::new(harness::fresh_project().id, shard);
    let projects = [on(0), on(1), on(1)];
    for project in &projects {
        engine.create_project(project).await.unwrap();
        let notes = NewTable::new("notes").with_column(NewColumn::new("title", ColumnType::Text));
        engine.create_table(project, &owner, notes).await.unwrap();
        let row = format!(r#"{{"id":"a","title":"{}"}}"#, project.id);
        engine.insert(project, &owner, "notes", "", row.as_bytes(), &write).await.unwrap();
        engine
            .update_by_id(project, &owner, "notes", "a", "", br#"{"title":"changed"}"#, &write)
            .await
            .unwrap();
    }
    // Each store has its own project only.
    for (shard, store) in [(0, first), (1, second)] {
        let alone = Engine::with_system(store);
        for project in &projects {
            let found = alone.list(project, &owner, "notes", "select=title", &read).await;
            match found {
                Ok(page) => {
                    assert_eq!(project.shard, shard);
                    assert_eq!(&page.body[..], br#"[{"title":"changed"}]"#);
                }
                Err(error) => {
                    assert_ne!(project.shard, shard);
                    assert_eq!(error.code(), "project_not_found");
                }
            }
        }
    }
    // A shard that is not configured must not look like a project that does not exist.
    let lost = engine.list(&on(7), &owner, "notes", "", &read).await.unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::Unavailable);
    engine.drop_project(&projects[1]).await.unwrap();
    let gone = engine.list(&projects[1], &owner, "notes", "", &read).await.unwrap_err();
    assert_eq!(gone.code(), "project_not_found");
    engine.list(&projects[2], &owner, "notes", "", &read).await.unwrap();
}

#[tokio::test]
async fn on_two_directories() {
    let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let open = |at: usize| -> Arc<dyn RowStore> {
        Arc::new(SqliteRows::open(SqliteOptions::new(directories[at].path())).unwrap())
    };
    a_project_is_in_the_store_of_its_shard(open(0), open(1)).await;
    let files = |at: usize| std::fs::read_dir(directories[at].path().join(at.to_string())).unwrap().count();
    assert!(files(0) > 0 && files(1) > 0);
}

#[tokio::test]
async fn on_two_databases() {
    let url = harness::pg_options().url;
    let name = format!("rows_{}", harness::fresh_project().id);
    let mut server = PgConnection::connect(&url).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE \"{name}\""))).execute(&mut server).await.unwrap();
    // Another database on the same server.
    let (rest, query) = url.split_once('?').map_or((url.as_str(), ""), |(rest, query)| (rest, query));
    let (server_url, _) = rest.rsplit_once('/').unwrap();
    let other = format!("{server_url}/{name}?{query}");
    let second = PgRows::connect(&PgOptions { max_connections: 2, ..PgOptions::new(other) }).await.unwrap();
    let first = Arc::new(harness::pg_store().await);
    a_project_is_in_the_store_of_its_shard(first, Arc::new(second.clone())).await;
    second.close().await;
    let drop = format!("DROP DATABASE \"{name}\" WITH (FORCE)");
    sqlx::raw_sql(AssertSqlSafe(drop)).execute(&mut server).await.unwrap();
}

#[tokio::test]
async fn stores_of_two_kinds_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let sqlite: Arc<dyn RowStore> = Arc::new(SqliteRows::open(SqliteOptions::new(directory.path())).unwrap());
    let postgres: Arc<dyn RowStore> = Arc::new(harness::pg_store().await);
    let mixed = Shards::new(BTreeMap::from([(0, sqlite), (1, postgres)])).unwrap_err();
    assert_eq!(mixed, ShardsError::Mixed);
    assert_eq!(Shards::new(BTreeMap::new()).unwrap_err(), ShardsError::None);
}
