//! Gates, the apps that declare their hosts, and what was refused.

use ::apps::{App, AppsTx as _, manifest::EgressPermission};
use ::connections::{
    Gate, GateReader as _, GateStatus, GateTx as _,
    calls::{CallLog as _, CallLogEntry, CallSum},
    gates::{GateView, Method},
    health::{Bucket, CallCounts},
};
use kernel::{
    StoreError, UnitOfWork as _,
    authority::Sharing,
    id::{AppId, GateId},
};

use crate::{
    contract,
    harness::{Database, PAGE, World, at},
};

contract!(
    a_gate_is_read_as_it_was_written,
    a_host_has_one_gate_in_a_workspace,
    a_gate_is_opened_and_closed_by_its_workspace,
    a_list_names_the_apps_that_declare_the_host,
    refusals_are_counted,
    a_deadlock_asks_for_another_attempt,
);

fn gate(world: &World, host: &str) -> Gate {
    Gate {
        id: world.id(),
        workspace: world.workspace,
        name: "Bank".to_owned(),
        host: host.parse().unwrap(),
        methods: vec![Method::Post, Method::Get],
        connection: None,
        status: GateStatus::Open,
        created_at: at(0),
    }
}

async fn add_gate(world: &World, gate: Gate) -> Gate {
    world.write(async |tx| tx.insert_gate(&gate).await).await;
    gate
}

async fn add_app(world: &World, hosts: &[&str]) -> AppId {
    let (app, version) = (world.id(), world.id());
    let mut manifest = world.manifest();
    for host in hosts {
        let egress = EgressPermission::new(*host, None);
        manifest.permissions.egress.push(egress);
    }
    world.add_app(app, Sharing::Team).await;
    world.add_version(app, version, 1, manifest).await;
    world.publish(app, Some(version), false).await;
    app
}

async fn a_gate_is_read_as_it_was_written(database: Database) {
    let world = World::new(database).await;
    let connected =
        add_gate(&world, Gate { connection: Some(world.id()), ..gate(&world, "api.bank.example") }).await;
    let closed = Gate { status: GateStatus::Closed, methods: Vec::new(), ..gate(&world, "b.example") };
    let closed = add_gate(&world, closed).await;
    let open = add_gate(&world, gate(&world, "api.bank.example")).await;
    for gate in [&connected, &closed, &open] {
        let found = world.write(async |tx| tx.gate(world.workspace, gate.id).await).await;
        assert_eq!(found.as_ref(), Some(gate));
    }
    let view = |gate: &Gate| GateView { gate: gate.clone(), apps: Vec::new(), blocked_24h: 0 };
    let list = world.store.list(world.workspace, at(0), PAGE).await.unwrap();
    assert_eq!(list, [view(&connected), view(&closed), view(&open)]);
    // A connection is reached by its name, not by its host.
    assert_eq!(world.store.open_gates(world.workspace).await.unwrap(), [open]);
    assert_eq!(world.store.list(world.id(), at(0), PAGE).await.unwrap(), []);
    assert_eq!(world.store.open_gates(world.id()).await.unwrap(), []);
}

async fn a_host_has_one_gate_in_a_workspace(database: Database) {
    let world = World::new(database).await;
    let elsewhere = world.id();
    world.add_workspace(elsewhere, "elsewhere").await;
    add_gate(&world, gate(&world, "api.example.com")).await;
    add_gate(&world, Gate { workspace: elsewhere, ..gate(&world, "api.example.com") }).await;
    let twin = gate(&world, "api.example.com");
    let refused = world.try_write(async |tx| tx.insert_gate(&twin).await).await;
    assert!(matches!(refused, Err(StoreError::Duplicate)), "{refused:?}");
}

async fn a_gate_is_opened_and_closed_by_its_workspace(database: Database) {
    let world = World::new(database).await;
    let gate = add_gate(&world, gate(&world, "api.example.com")).await;
    let elsewhere = world.id();
    assert_eq!(world.write(async |tx| tx.gate(elsewhere, gate.id).await).await, None);
    let set = async |workspace, status| {
        world.write(async |tx| tx.set_gate_status(workspace, gate.id, status).await).await;
        world.write(async |tx| tx.gate(world.workspace, gate.id).await).await.unwrap().status
    };
    assert_eq!(set(elsewhere, GateStatus::Closed).await, GateStatus::Open);
    assert_eq!(set(world.workspace, GateStatus::Closed).await, GateStatus::Closed);
    assert_eq!(world.store.open_gates(world.workspace).await.unwrap(), []);
    assert_eq!(set(world.workspace, GateStatus::Open).await, GateStatus::Open);
}

async fn a_list_names_the_apps_that_declare_the_host(database: Database) {
    let world = World::new(database).await;
    add_gate(&world, gate(&world, "api.example.com")).await;
    add_gate(&world, gate(&world, "example.com")).await;
    let one = add_app(&world, &["api.example.com", "other.example.com"]).await;
    let two = add_app(&world, &["example.com", "api.example.com"]).await;
    let deleted = add_app(&world, &["example.com"]).await;
    world.write(async |tx| tx.delete_app(world.workspace, deleted, at(0)).await).await;
    // Only what the current version declares counts.
    let changed = add_app(&world, &["example.com"]).await;
    let silent = world.id();
    world.add_version(changed, silent, 2, world.manifest()).await;
    world.publish(changed, Some(silent), false).await;
    // An app of another workspace, which has the same manifest.
    let elsewhere = world.id();
    world.add_workspace(elsewhere, "elsewhere").await;
    let foreign = App { workspace: elsewhere, ..world.app_of(world.id(), Sharing::Team) };
    world.write(async |tx| tx.insert_app(&foreign).await).await;
    world
        .execute(
            "UPDATE apps SET current_version_id = (SELECT current_version_id FROM apps WHERE id = $1) \
             WHERE id = $2",
            vec![one.uuid().into(), foreign.id.uuid().into()],
        )
        .await;

    let list = world.store.list(world.workspace, at(0), PAGE).await.unwrap();
    let apps: Vec<_> = list.iter().map(|view| (view.gate.host.as_str(), view.apps.as_slice())).collect();
    assert_eq!(apps, [("api.example.com", [one, two].as_slice()), ("example.com", [two].as_slice())]);
}

async fn refusals_are_counted(database: Database) {
    let world = World::new(database).await;
    let api = add_gate(&world, gate(&world, "api.example.com")).await;
    let quiet = add_gate(&world, gate(&world, "quiet.example.com")).await;
    let entry = |millis, blocked| CallLogEntry {
        workspace: world.workspace,
        gate: api.id,
        bucket: Bucket::of(at(millis)),
        sum: CallSum { counts: CallCounts { calls: 9, errors: 9, blocked }, last_call_at: None },
    };
    let bucket = 300_000;
    world.store.add_calls(&[entry(0, 7), entry(bucket, 2), entry(2 * bucket, 3)]).await.unwrap();
    let list = world.store.list(world.workspace, at(0), PAGE).await.unwrap();
    let counts: Vec<_> = list.iter().map(|view| (view.gate.id, view.blocked_24h)).collect();
    assert_eq!(counts, [(api.id, 5), (quiet.id, 0)]);
}

/// Two transactions lock two rows in opposite order. PostgreSQL gives one of them up; on SQLite, transactions take turns.
async fn a_deadlock_asks_for_another_attempt(database: Database) {
    let locks_rows = database.is_postgres();
    let world = World::new(database).await;
    let one = add_gate(&world, gate(&world, "one.example")).await.id;
    let two = add_gate(&world, gate(&world, "two.example")).await.id;
    let both_have_one = locks_rows.then(|| tokio::sync::Barrier::new(2));
    let close_both = async |first: GateId, second: GateId| {
        let mut tx = world.store.begin().await?;
        tx.set_gate_status(world.workspace, first, GateStatus::Closed).await?;
        if let Some(barrier) = &both_have_one {
            barrier.wait().await;
        }
        tx.set_gate_status(world.workspace, second, GateStatus::Closed).await?;
        let entry = world.context().audit_entry("gate.close").workspace(world.workspace);
        tx.audit(entry.target(first));
        Box::new(tx).commit().await
    };
    let (forth, back) = tokio::join!(close_both(one, two), close_both(two, one));
    let failures = [forth, back].into_iter().filter_map(Result::err).collect::<Vec<_>>();
    assert_eq!(failures.len(), usize::from(locks_rows), "{failures:?}");
    assert!(failures.iter().all(StoreError::is_retryable), "{failures:?}");
}
