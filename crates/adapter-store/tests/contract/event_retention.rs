//! The end of old events, and the gap that readers are told of.

use observability::{
    EventFeed as _,
    feed::{MAX_KEPT_EVENTS, RETENTION},
};

use crate::{
    contract,
    events::read_feed,
    harness::{Database, World, at},
};

contract!(old_events_go_from_the_front_and_the_gap_is_told, a_workspace_keeps_so_many_events,);

async fn old_events_go_from_the_front_and_the_gap_is_told(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    let day = 86_400_000;
    for moment in [0, day, 2 * day, 8 * day] {
        world.enqueue(&automation, at(moment)).await;
    }
    world.store.delete_expired(at(day) + RETENTION).await.unwrap();
    let page = read_feed(&world.store, world.workspace, 2).await;
    assert_eq!((page.has_gap, page.events.len(), page.cursor), (false, 2, 4));
    for lost in [0, 1] {
        let page = read_feed(&world.store, world.workspace, lost).await;
        assert_eq!((page.has_gap, page.events.len(), page.cursor, page.head), (true, 0, 2, 4));
    }
    // All are gone, and the numbers go on.
    world.store.delete_expired(at(100 * day)).await.unwrap();
    let page = read_feed(&world.store, world.workspace, 3).await;
    assert_eq!((page.has_gap, page.cursor, page.head), (true, 4, 4));
    let page = read_feed(&world.store, world.workspace, 4).await;
    assert_eq!((page.has_gap, page.cursor, page.head), (false, 4, 4));
    world.enqueue(&automation, at(100 * day)).await;
    assert_eq!(read_feed(&world.store, world.workspace, 4).await.events[0].seq, 5);
    // A number that was never given is none to go on from.
    let page = read_feed(&world.store, world.workspace, 6).await;
    assert_eq!((page.has_gap, page.cursor, page.head), (true, 4, 5));
    assert_eq!(world.store.feed_head(world.workspace).await.unwrap(), 5);
    assert_eq!(world.store.feed_head(world.id()).await.unwrap(), 0);
}

async fn a_workspace_keeps_so_many_events(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    for moment in 0..5 {
        world.enqueue(&automation, at(moment)).await;
    }
    // As if very many had come since the third.
    let many = i64::try_from(MAX_KEPT_EVENTS).unwrap() + 3;
    world.execute("UPDATE workspace_feeds SET seq = $1", vec![many.into()]).await;
    world.store.delete_expired(at(10)).await.unwrap();
    assert_eq!(world.count("workspace_events").await, 2);
}
