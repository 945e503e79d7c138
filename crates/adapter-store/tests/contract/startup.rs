//! Opening a store.

use adapter_store::{DatabaseUrl, Store};
use kernel::StoreError;
use migrations::Migrator;
use sea_orm_migration::MigratorTrait as _;

use crate::harness::{Database, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_start_at_once_migrate_once() {
    for _ in 0..3 {
        let database = Database::empty_postgres().await;
        let opened = futures::future::join_all((0..4).map(|_| database.open())).await;
        for store in &opened {
            store.check().await.unwrap();
        }
        let world = World::new(database).await;
        let run = usize::try_from(world.count("seaql_migrations").await).unwrap();
        assert_eq!(run, Migrator::migrations().len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_opens_again_with_what_it_held() {
    for database in [Database::sqlite(), Database::empty_postgres().await] {
        let world = World::new(database).await;
        world.store.check().await.unwrap();
        let again = world.database.open().await;
        again.check().await.unwrap();
        let app = ::apps::AppsRead::app(&again, world.workspace, world.app).await.unwrap();
        assert_eq!(app.map(|app| app.current_version), Some(Some(world.version)));
    }
}

#[tokio::test]
async fn a_database_that_is_not_there_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let urls = [
        format!("sqlite://{}", folder.path().join("no/such/folder/qala.db").display()),
        "postgres://nobody@127.0.0.1:1/nothing".to_owned(),
    ];
    for url in urls {
        let opened = Store::open(&url.parse::<DatabaseUrl>().unwrap()).await;
        assert!(matches!(opened, Err(StoreError::Unavailable(_))), "{opened:?}");
    }
}
