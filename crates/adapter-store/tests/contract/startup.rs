//! Opening a store.

use adapter_store::{DatabaseUrl, Store};
use kernel::StoreError;
use migrations::{MIGRATIONS, SchemaStatus, migrate_until};
use sea_orm::{ConnectionTrait as _, DbBackend, Statement};

use crate::harness::{Database, World, connect, execute};

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
        assert_eq!(run, MIGRATIONS.len());
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

/// On SQLite they were among the keys once: a replay must be known after an upgrade too.
#[tokio::test]
async fn signatures_move_out_of_the_keys() {
    let database = Database::sqlite();
    let db = connect(&format!("{}?mode=rwc", database.url)).await;
    migrate_until(&db, "m0015_signatures").await.unwrap();
    let id = "00112233445566778899aabbccddeeff";
    let signature = format!("000000006b02c10a{}", "a1".repeat(24));
    let key = "b2".repeat(32);
    for digest in [&signature, &key] {
        let row = format!("X'{id}', X'{digest}', X'{id}', X'{id}', 1800000000000");
        execute(&db, &format!("INSERT INTO webhook_keys VALUES ({row})")).await;
    }
    SchemaStatus::load(&db).await.unwrap().migrate(&db).await.unwrap();
    let all = async |sql: &str| {
        let rows = db.query_all_raw(Statement::from_string(DbBackend::Sqlite, sql)).await.unwrap();
        rows.iter().map(|row| row.try_get_by_index::<String>(0).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(all("SELECT hex(digest) FROM webhook_keys").await, [key.to_uppercase()]);
    let moved = "SELECT hex(signature) || hex(webhook_id) || expires_at FROM repeat_signatures";
    let expected = format!("{}{id}1800000000000", &signature[..32]).to_uppercase();
    assert_eq!(all(moved).await, [expected]);
}

/// A migration that stops in the middle, as a killed program does, leaves nothing behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_migration_that_stops_halfway_runs_again() {
    for database in [Database::sqlite(), Database::empty_postgres().await] {
        let mode = if database.is_postgres() { "" } else { "?mode=rwc" };
        let db = connect(&format!("{}{mode}", database.url)).await;
        migrate_until(&db, "m0075_audit_of_apps").await.unwrap();
        // It adds a column, and then finds that its index is there.
        execute(&db, "CREATE INDEX audit_log_by_app ON audit_log (id)").await;
        let url: DatabaseUrl = database.url.parse().unwrap();
        let opened = Store::open(&url).await;
        assert!(opened.is_err(), "{opened:?}");
        execute(&db, "DROP INDEX audit_log_by_app").await;
        database.open().await.check().await.unwrap();
        db.close().await.unwrap();
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
