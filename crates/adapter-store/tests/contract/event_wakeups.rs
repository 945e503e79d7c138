//! Waking those who follow the feed of a workspace.

use std::time::Duration;

use observability::EventFeed as _;
use runs::webhooks::WebhookStore as _;
use tokio::time::timeout;

use crate::{
    contract,
    events::read_feed,
    harness::{Database, World, at},
};

contract!(a_bell_rings_for_its_workspace_only, nodes_ring_each_other,);

const TIMEOUT: Duration = Duration::from_secs(20);

async fn a_bell_rings_for_its_workspace_only(database: Database) {
    let world = World::new(database).await;
    let (automation, webhook) = world.add_webhook_automation(None).await;
    let other = world.id();
    world.add_workspace(other, "other").await;
    // Other nodes' bells ring once when they begin to listen.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (mut bell, mut elsewhere) = (world.store.subscribe(world.workspace), world.store.subscribe(other));
    world.enqueue(&automation, at(0)).await;
    timeout(TIMEOUT, bell.changed()).await.unwrap();
    let state = world.state(&webhook).await;
    world.store.accept(world.call(&state)).await.unwrap();
    timeout(TIMEOUT, bell.changed()).await.unwrap();
    assert!(timeout(Duration::from_millis(200), elsewhere.changed()).await.is_err(), "it rang for others");
}

async fn nodes_ring_each_other(database: Database) {
    let world = World::new(database).await;
    if world.database.url.starts_with("sqlite:") {
        // A file has one node.
        return;
    }
    let (automation, _) = world.add_webhook_automation(None).await;
    let node = world.database.open().await;
    let mut bell = node.subscribe(world.workspace);
    // It listens once it has rung for what it may have missed.
    timeout(TIMEOUT, bell.changed()).await.unwrap();
    for number in 0..3 {
        world.enqueue(&automation, at(number)).await;
        timeout(TIMEOUT, bell.changed()).await.unwrap();
    }
    // Its connection is lost, and something happens while it does not hear.
    let mut bell = node.subscribe(world.workspace);
    world
        .execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'qala events' AND datname = current_database()", Vec::new())
        .await;
    world.enqueue(&automation, at(9)).await;
    timeout(TIMEOUT, bell.changed()).await.expect("it rings once it listens again");
    assert_eq!(read_feed(&node, world.workspace, 0).await.head, 4);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let mut bell = node.subscribe(world.workspace);
    world.enqueue(&automation, at(10)).await;
    timeout(TIMEOUT, bell.changed()).await.expect("it hears the others again");
}
