//! Transactions and their audit rows.

use ::identity::{IdentityRead as _, IdentityTx as _};
use kernel::{StoreError, UnitOfWork as _};

use crate::{
    contract,
    harness::{Database, World},
};

contract!(
    what_is_written_without_an_audit_row_is_not_kept,
    a_dropped_transaction_is_undone,
    a_failed_transaction_is_undone,
    audit_rows_are_written_with_the_work,
    reading_alone_needs_no_audit_row,
);

async fn what_is_written_without_an_audit_row_is_not_kept(database: Database) {
    let world = World::new(database).await;
    let person = world.person("Bek", "bek@example.com", world.id());
    let mut tx = world.store.begin().await.unwrap();
    tx.insert_user(&person).await.unwrap();
    let refused = Box::new(tx).commit().await;
    assert!(matches!(refused, Err(StoreError::NotAudited)), "{refused:?}");
    assert_eq!(world.store.user(person.id).await.unwrap(), None);
}

async fn a_dropped_transaction_is_undone(database: Database) {
    let world = World::new(database).await;
    let person = world.person("Bek", "bek@example.com", world.id());
    let rows = world.count("audit_log").await;
    let mut tx = world.store.begin().await.unwrap();
    tx.insert_user(&person).await.unwrap();
    tx.audit(world.context().audit_entry("user.create"));
    drop(tx);
    assert_eq!(world.store.user(person.id).await.unwrap(), None);
    assert_eq!(world.count("audit_log").await, rows);
    // The connection is good for the next one.
    world.write(async |tx| tx.insert_user(&person).await).await;
    assert_eq!(world.store.user(person.id).await.unwrap(), Some(person));
}

async fn a_failed_transaction_is_undone(database: Database) {
    let world = World::new(database).await;
    let person = world.person("Bek", "bek@example.com", world.id());
    let same_address = world.person("Berik", "bek@example.com", world.id());
    let refused = world
        .try_write(async |tx| {
            tx.insert_user(&person).await?;
            tx.insert_user(&same_address).await
        })
        .await;
    assert!(matches!(refused, Err(StoreError::Duplicate)), "{refused:?}");
    assert_eq!(world.store.user(person.id).await.unwrap(), None);
}

async fn audit_rows_are_written_with_the_work(database: Database) {
    let world = World::new(database).await;
    let person = world.person("Bek", "bek@example.com", world.id());
    let mut tx = world.store.begin().await.unwrap();
    tx.insert_user(&person).await.unwrap();
    let entry = world.context().audit_entry("user.create").workspace(world.workspace).target(person.id);
    let id = entry.id.uuid();
    tx.audit(entry.detail(serde_json::json!({ "by": "mail" })));
    tx.audit(world.context().audit_entry("user.greet"));
    Box::new(tx).commit().await.unwrap();

    let text = async |column: &str| -> String {
        world.query_scalar(&format!("SELECT {column} FROM audit_log WHERE id = $1"), vec![id.into()]).await
    };
    assert_eq!(text("actor").await, "system:test");
    assert_eq!(text("action").await, "user.create");
    assert_eq!(text("target").await, person.id.to_string());
    assert_eq!(text("detail").await, r#"{"by":"mail"}"#);
    let workspace: uuid::Uuid =
        world.query_scalar("SELECT workspace_id FROM audit_log WHERE id = $1", vec![id.into()]).await;
    assert_eq!(workspace, world.workspace.uuid());
    assert_eq!(world.count("audit_log WHERE action = 'user.greet' AND workspace_id IS NULL").await, 1);
}

async fn reading_alone_needs_no_audit_row(database: Database) {
    let world = World::new(database).await;
    let mut tx = world.store.begin().await.unwrap();
    let found = tx.find_user_by_email(&"aru@example.com".parse().unwrap()).await.unwrap();
    assert_eq!(found.map(|user| user.id), Some(world.user));
    Box::new(tx).commit().await.unwrap();
}
