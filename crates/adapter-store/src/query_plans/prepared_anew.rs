//! Statements that SQLite prepares anew, because a value was bound on which their plan depends: that costs up to half of a short
//! request (`docs/decisions/0080-build-sqlite-without-shared-caches.md`).
#![expect(unsafe_code, reason = "the counters of a statement have no safe wrapper")]

use std::{ffi::CStr, ptr::null_mut, sync::Arc};

use ::apps::AppsRead as _;
use ::observability::HealthRead as _;
use ::runs::{
    RunsRead as _,
    dead_letters::{DeadLetterFilter, DeadLettersRead as _},
    queue::{ClaimLimit, RunQueue as _},
    runs::RunFilter,
    webhooks::AcceptOutcome,
};
use ::workspace::WorkspaceRead as _;
use kernel::{
    authority::{Sharing, Visibility},
    page::PageRequest,
};
use rusqlite::ffi;
use sea_orm::DatabaseConnection;
use sqlx::{Sqlite, pool::PoolConnection};

use super::{World, many_apps::add_apps, now, open_recording};
use crate::Store;

/// Takes all connections of both pools, and opens those that are not open yet. A connection that was used a moment ago is waited
/// for.
async fn connections(store: &Store, write: &DatabaseConnection) -> Vec<PoolConnection<Sqlite>> {
    let mut connections = Vec::new();
    for pool in [store.read(), write].map(DatabaseConnection::get_sqlite_connection_pool) {
        for _ in 0..pool.options().get_max_connections() {
            connections.push(pool.acquire().await.unwrap());
        }
    }
    connections
}

/// Returns the statements that were prepared anew.
async fn prepared_anew(store: &Store) -> Vec<String> {
    let write = store.write().await.unwrap();
    let mut found = Vec::new();
    for mut connection in connections(store, &write).await {
        let mut handle = connection.lock_handle().await.unwrap();
        let database = handle.as_raw_handle().as_ptr();
        let mut statement = null_mut();
        loop {
            // SAFETY: The lock on the handle keeps the connection's thread from its statements.
            statement = unsafe { ffi::sqlite3_next_stmt(database, statement) };
            if statement.is_null() {
                break;
            }
            // SAFETY: As above, and the statement is one of this connection's.
            let count = unsafe { ffi::sqlite3_stmt_status(statement, ffi::SQLITE_STMTSTATUS_REPREPARE, 0) };
            if count > 0 {
                // SAFETY: As above; the text lives as long as its statement, and is copied here.
                let sql = unsafe { CStr::from_ptr(ffi::sqlite3_sql(statement)) };
                found.push(sql.to_string_lossy().into_owned());
            }
        }
    }
    found
}

/// Lets plans depend on the values that are bound, as they do where SQLite is built without our flags.
async fn let_plans_depend_on_values(store: &Store) {
    let write = store.write().await.unwrap();
    for mut connection in connections(store, &write).await {
        let mut handle = connection.lock_handle().await.unwrap();
        let mut is_stable = -1;
        // SAFETY: The handle is locked, and this option takes a number and a place for the answer.
        let code = unsafe {
            ffi::sqlite3_db_config(
                handle.as_raw_handle().as_ptr(),
                ffi::SQLITE_DBCONFIG_ENABLE_QPSG,
                0,
                &raw mut is_stable,
            )
        };
        assert_eq!((code, is_stable), (ffi::SQLITE_OK, 0));
    }
}

/// Reads and writes what requests do, for two workspaces in turn.
async fn serve(world: &World, store: &Store) {
    let context = &world.context;
    let known = (world.workspace, world.user, world.app);
    let stranger = (context.new_id(), context.new_id(), context.new_id());
    let shared = Visibility::Shared { user: Some(world.user), sharing_levels: &[Sharing::Team] };
    let page = PageRequest::first(20);
    for (workspace, user, app) in [known, stranger, known] {
        store.membership(workspace, user).await.unwrap();
        store.app_fact(app, user).await.unwrap();
        store.app(workspace, app).await.unwrap();
        store.app_health(workspace, &[app], now()).await.unwrap();
        for visible in [Visibility::All, shared] {
            store.apps(workspace, user, visible, page).await.unwrap();
            store.workspace_health(workspace, visible, now()).await.unwrap();
            store.runs(workspace, visible, RunFilter::default(), page).await.unwrap();
            store.dead_letters(workspace, visible, DeadLetterFilter::default(), page).await.unwrap();
        }
        store.queue_health(workspace, now()).await.unwrap();
    }
}

#[tokio::test]
async fn no_statement_is_prepared_anew_for_a_value() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    let webhook = {
        let (store, _) = open_recording(&folder).await;
        let webhook = world.seed(&store).await;
        add_apps(&store, 20).await;
        webhook
    };
    // A connection reads statistics when it is opened.
    let (store, _) = open_recording(&folder).await;
    serve(&world, &store).await;
    assert_eq!(world.accept(&store, &webhook).await, AcceptOutcome::Accepted);
    let claimed = store.claim(world.context.new_id(), ClaimLimit::with_total(8), Arc::new(now())).await;
    assert_eq!(claimed.unwrap().len(), 1);
    serve(&world, &store).await;
    assert_eq!(prepared_anew(&store).await, Vec::<String>::new());

    // Otherwise some are, and this test sees it.
    let (store, _) = open_recording(&folder).await;
    let_plans_depend_on_values(&store).await;
    serve(&world, &store).await;
    assert!(!prepared_anew(&store).await.is_empty());
}
