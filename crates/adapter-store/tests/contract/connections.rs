//! Connections, their gates and secrets, and counts of requests.

use std::collections::BTreeMap;

use ::apps::manifest::ConnectorPermission;
use ::connections::{
    Connection, ConnectionReader as _, ConnectionStatus, ConnectionTx as _, GateReader as _, GateStatus,
    HttpConnectionInput,
    calls::{CallLog as _, CallLogEntry, CallSum},
    connection::{ConnectionUser, SecretPurpose, gate_of},
    gates::Method,
    health::{Bucket, CallCounts},
};
use kernel::{
    SeededRandomness,
    authority::Sharing,
    id::ConnectionId,
    vault::{MasterKeys, Vault},
};

use crate::{
    contract,
    harness::{Database, PAGE, World, at},
};

contract!(
    a_connection_is_read_as_it_was_written,
    a_connection_has_a_gate_until_it_is_disconnected,
    a_secret_is_replaced_and_deleted,
    the_apps_that_name_a_connection_are_listed,
    requests_are_added_up_for_a_day,
    secrets_are_sealed_anew_under_the_newest_key,
    what_is_over_is_deleted,
);

const DAY: i64 = 24 * 60 * 60 * 1_000;

fn connection(world: &World, base_url: &str, auth: serde_json::Value) -> Connection {
    let input = HttpConnectionInput {
        display_name: "Orders".to_owned(),
        base_url: base_url.to_owned(),
        auth: serde_json::from_value(auth).unwrap(),
        methods: vec![Method::Post, Method::Get],
        path_prefix: Some("/orders".to_owned()),
        headers: Vec::new(),
        test_path: None,
        testable: true,
        preset: Some("shop".to_owned()),
        secret: None,
    };
    Connection {
        id: world.id(),
        workspace: world.workspace,
        connector: "http".to_owned(),
        display_name: "Orders".to_owned(),
        status: ConnectionStatus::NEW,
        connected_at: Some(at(1)),
        key_id: None,
        secret_version: 0,
        http: input.validate().unwrap().http,
        values: BTreeMap::from([("shop".to_owned(), "qala".to_owned())]),
        service_account: None,
        gate: GateStatus::Open,
        created_at: at(0),
        updated_at: at(1),
        revision: 1,
    }
}

fn bearer(world: &World) -> Connection {
    connection(world, "https://api.example.com/v1", serde_json::json!({"type": "bearer"}))
}

async fn add(world: &World, connection: &Connection) {
    world.write(async |tx| tx.insert_connection(connection).await).await;
}

async fn find(world: &World, id: ConnectionId) -> Option<Connection> {
    world.store.find_connection(world.workspace, id).await.unwrap()
}

async fn a_connection_is_read_as_it_was_written(database: Database) {
    let world = World::new(database).await;
    let token = "https://auth.example.com/token";
    let account = serde_json::json!({"type": "service_account", "tokenUrl": token, "scopes": ["a", "b"]});
    let all = [
        bearer(&world),
        connection(&world, "https://api.example.com/bot{secret}", serde_json::json!({"type": "path_token"})),
        Connection {
            status: ConnectionStatus::Connected { auth_failures: 2 },
            key_id: Some("0a1b2c3d".to_owned()),
            secret_version: 3,
            service_account: Some("robot@example.com".to_owned()),
            gate: GateStatus::Closed,
            ..connection(&world, "https://sheets.example.com", account)
        },
    ];
    for connection in &all {
        add(&world, connection).await;
        assert_eq!(find(&world, connection.id).await.as_ref(), Some(connection));
        assert_eq!(world.store.connection_scope(connection.id).await.unwrap(), Some(world.workspace));
        assert_eq!(world.store.find_connection(world.id(), connection.id).await.unwrap(), None);
        for status in [
            ConnectionStatus::Expired { since: at(5) },
            ConnectionStatus::Error { since: at(6) },
            ConnectionStatus::Connected { auth_failures: 1 },
        ] {
            let (workspace, id) = (world.workspace, connection.id);
            // A count of rejections is kept without an audit entry.
            let mut tx = world.store.begin().await.unwrap();
            tx.set_connection_status(workspace, id, status).await.unwrap();
            kernel::UnitOfWork::commit(Box::new(tx)).await.unwrap();
            let expected = Connection { status, ..connection.clone() };
            assert_eq!(find(&world, connection.id).await, Some(expected));
        }
    }
    let listed = world.store.list_connections(world.workspace, at(0), PAGE).await.unwrap();
    assert_eq!(listed.iter().map(|view| view.connection.id).collect::<Vec<_>>(), all.map(|it| it.id));
    assert_eq!(world.write(async |tx| tx.count_connections(world.workspace).await).await, 3);
}

async fn a_connection_has_a_gate_until_it_is_disconnected(database: Database) {
    let world = World::new(database).await;
    let (one, other) = (bearer(&world), bearer(&world));
    add(&world, &one).await;
    add(&world, &other).await;
    let hosts = async || {
        let gates = world.store.list(world.workspace, at(0), PAGE).await.unwrap();
        gates
            .into_iter()
            .map(|view| (view.gate.connection.unwrap(), view.gate.host.to_string()))
            .collect::<Vec<_>>()
    };
    let host = "api.example.com".to_owned();
    assert_eq!(hosts().await, [(one.id, host.clone()), (other.id, host.clone())]);
    assert_eq!(world.store.open_gates(world.workspace).await.unwrap(), []);

    let (workspace, closed) = (world.workspace, GateStatus::Closed);
    world.write(async |tx| tx.set_connection_gate(workspace, one.id, closed).await).await;
    assert_eq!(find(&world, one.id).await.unwrap().gate, closed);
    let mut moved = connection(&world, "https://b.example.com", serde_json::json!({"type": "none"}));
    moved = Connection { id: one.id, gate: closed, ..moved };
    world.write(async |tx| tx.update_connection(&moved).await).await;
    assert_eq!(find(&world, one.id).await, Some(moved.clone()));
    assert_eq!(hosts().await, [(one.id, "b.example.com".to_owned()), (other.id, host.clone())]);

    let gone = Connection { status: ConnectionStatus::Disconnected { since: at(9) }, ..moved };
    world.write(async |tx| tx.update_connection(&gone).await).await;
    assert_eq!(hosts().await, [(other.id, host.clone())]);
    let again = Connection { gate: GateStatus::Open, ..one.clone() };
    world.write(async |tx| tx.update_connection(&again).await).await;
    assert_eq!(find(&world, one.id).await, Some(again));
    assert_eq!(hosts().await, [(one.id, host.clone()), (other.id, host)]);
}

async fn a_secret_is_replaced_and_deleted(database: Database) {
    let world = World::new(database).await;
    let connection = bearer(&world);
    add(&world, &connection).await;
    let (workspace, id) = (world.workspace, connection.id);
    let sealed = async |purpose| world.store.sealed_secret(workspace, id, purpose).await.unwrap();
    assert_eq!(sealed(SecretPurpose::Secret).await, None);
    for text in ["qs1.a", "qs1.b"] {
        let purpose = SecretPurpose::Secret;
        world.write(async |tx| tx.put_sealed_secret(workspace, id, purpose, text).await).await;
        assert_eq!(sealed(purpose).await.as_deref(), Some(text));
        assert_eq!(world.store.sealed_secret(world.id(), id, purpose).await.unwrap(), None);
    }
    world.write(async |tx| tx.put_sealed_secret(workspace, id, SecretPurpose::Tokens, "qs1.c").await).await;
    let locked = async |workspace| {
        world.write(async |tx| tx.sealed_secret_for_update(workspace, id, SecretPurpose::Tokens).await).await
    };
    assert_eq!(locked(workspace).await.as_deref(), Some("qs1.c"));
    assert_eq!(locked(world.id()).await, None);
    world.write(async |tx| tx.delete_sealed_secrets(workspace, id, &[SecretPurpose::Tokens]).await).await;
    assert_eq!(sealed(SecretPurpose::Tokens).await, None);
    assert_eq!(sealed(SecretPurpose::Secret).await.as_deref(), Some("qs1.b"));
    world.write(async |tx| tx.delete_sealed_secrets(workspace, id, &SecretPurpose::ALL).await).await;
    assert_eq!(sealed(SecretPurpose::Secret).await, None);
}

async fn the_apps_that_name_a_connection_are_listed(database: Database) {
    let world = World::new(database).await;
    let connection = bearer(&world);
    add(&world, &connection).await;
    let (app, version) = (world.id(), world.id());
    let mut manifest = world.manifest();
    for name in ["orders", "again"] {
        let (name, connection_id) = (name.to_owned(), connection.id);
        let connector = ConnectorPermission { name, connection_id, methods: None, paths: None };
        manifest.permissions.connectors.push(connector);
    }
    world.add_app(app, Sharing::Team).await;
    world.add_version(app, version, 1, manifest).await;
    let users = async || {
        let view = world.store.view_connection(world.workspace, connection.id, at(0)).await.unwrap();
        view.unwrap().used_by
    };
    assert_eq!(users().await, []);
    world.publish(app, Some(version), false).await;
    let found = users().await;
    assert!(
        matches!(&found[..], [ConnectionUser { app: user, is_paused: false, .. }] if *user == app),
        "{found:?}"
    );
    let (workspace, id) = (world.workspace, connection.id);
    assert_eq!(world.write(async |tx| tx.connection_users(workspace, id).await).await, found);
}

async fn requests_are_added_up_for_a_day(database: Database) {
    let world = World::new(database).await;
    let connection = bearer(&world);
    add(&world, &connection).await;
    let gate = gate_of(connection.id);
    let entry = |millis: i64, calls, last: Option<i64>| CallLogEntry {
        workspace: world.workspace,
        gate,
        bucket: Bucket::of(at(millis)),
        sum: CallSum { counts: CallCounts { calls, errors: 1, blocked: 2 }, last_call_at: last.map(at) },
    };
    world.store.add_calls(&[]).await.unwrap();
    world.store.add_calls(&[entry(0, 1_000, Some(0)), entry(DAY, 3, None)]).await.unwrap();
    world
        .store
        .add_calls(&[entry(DAY, 4, Some(DAY + 5)), entry(DAY + 300_000, 5, Some(DAY + 4))])
        .await
        .unwrap();
    let view = world.store.view_connection(world.workspace, connection.id, at(300_000)).await.unwrap();
    let health = view.unwrap().health;
    assert_eq!((health.calls_24h, health.errors_24h, health.blocked_24h), (12, 3, 6));
    assert_eq!(health.last_call_at, Some(at(DAY + 5)));
}

async fn secrets_are_sealed_anew_under_the_newest_key(database: Database) {
    let world = World::new(database).await;
    let random = SeededRandomness::new(7);
    let old = Vault::new(&MasterKeys::new(vec![[1; 32]]).unwrap());
    let new = Vault::new(&MasterKeys::new(vec![[2; 32], [1; 32]]).unwrap());
    let mut connection = Connection { secret_version: 1, ..bearer(&world) };
    let context = connection.sealing_context(SecretPurpose::Secret);
    let sealed = old.seal(&random, &context.parts(), &"s3cret".to_owned().into());
    connection.key_id = kernel::vault::key_id(&sealed).map(str::to_owned);
    add(&world, &connection).await;
    let (workspace, id, purpose) = (world.workspace, connection.id, SecretPurpose::Secret);
    world.write(async |tx| tx.put_sealed_secret(workspace, id, purpose, &sealed).await).await;

    for sealed_count in [1, 0] {
        let report = world.store.rekey(&new, &random, &[]).await.unwrap();
        assert_eq!((report.sealed, report.unreadable), (sealed_count, 0));
        let stored = world.store.sealed_secret(workspace, id, purpose).await.unwrap().unwrap();
        assert!(new.uses_newest_key(&stored) && stored != sealed);
        assert!(new.open(&context.parts(), &stored).is_ok());
        assert_eq!(find(&world, id).await.unwrap().key_id.as_deref(), kernel::vault::key_id(&stored));
    }
}

async fn what_is_over_is_deleted(database: Database) {
    let world = World::new(database).await;
    let (kept, gone) = (bearer(&world), bearer(&world));
    for connection in [&kept, &gone] {
        add(&world, connection).await;
    }
    let gone = Connection { status: ConnectionStatus::Disconnected { since: at(0) }, ..gone };
    world.write(async |tx| tx.update_connection(&gone).await).await;
    world.store.delete_expired(at(29 * DAY)).await.unwrap();
    assert!(find(&world, gone.id).await.is_some());
    world.store.delete_expired(at(30 * DAY)).await.unwrap();
    assert_eq!(find(&world, gone.id).await, None);
    assert!(find(&world, kept.id).await.is_some());
}
