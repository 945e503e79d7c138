//! Turns of people and of their workspaces in claims of the queue.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use kernel::{
    ShareId,
    id::{RunId, UserId, WorkspaceId},
};
use runs::queue::{ClaimLimit, RunQueue as _};
use workspace::WorkspaceTx as _;

use crate::{
    contract,
    harness::{Database, World, at, ids_of},
    queue::{add_automation_in_new_workspace, add_manual_automation},
};

contract!(
    workspaces_take_turns,
    a_claim_takes_of_each_share_its_part,
    workspaces_of_one_person_have_one_share,
    a_long_queue_costs_a_quiet_workspace_nothing,
);

async fn workspaces_take_turns(database: Database) {
    let world = World::new(database).await;
    let loud = add_manual_automation(&world).await;
    let mut flood = Vec::new();
    for _ in 0..20 {
        flood.push(world.enqueue(&loud, at(0)).await);
    }
    // It comes last, and is not due last of all.
    let (quiet, later) = (
        add_automation_in_new_workspace(&world, "quiet").await,
        add_automation_in_new_workspace(&world, "later").await,
    );
    let single = world.enqueue(&quiet, at(1)).await;
    let put_off = world.enqueue(&later, at(1_000)).await;
    let node = world.id();
    let mut claimed = Vec::new();
    for _ in 0..2 {
        claimed.extend(ids_of(&world.claim(node, 1, at(5)).await));
    }
    assert_eq!(claimed, [flood[0], single], "one each");
    let again = world.enqueue(&quiet, at(2)).await;
    let both = ids_of(&world.claim(node, 8, at(5)).await);
    assert!(both.contains(&again) && both.contains(&flood[1]), "{both:?}");
    // Alone it may have every place, in the order in which it is due.
    let next = flood.iter().position(|run| !claimed.contains(run) && !both.contains(run)).unwrap();
    assert_eq!(ids_of(&world.claim(node, 10, at(5)).await), flood[next..next + 10]);
    let rest: BTreeSet<RunId> = ids_of(&world.claim(node, 64, at(1_000)).await).into_iter().collect();
    assert!(rest.contains(&put_off) && flood[next + 10..].iter().all(|run| rest.contains(run)), "{rest:?}");
}

/// However much one workspace has queued, what it holds of a node's places leaves some to others.
async fn a_claim_takes_of_each_share_its_part(database: Database) {
    let world = World::new(database).await;
    let loud = add_manual_automation(&world).await;
    let mut flood = Vec::new();
    for _ in 0..20 {
        flood.push(world.enqueue(&loud, at(0)).await);
    }
    let node = world.id();
    let claim = async |limit| ids_of(&world.store.claim(node, limit, Arc::new(at(5))).await.unwrap());
    let of_loud = |most| HashMap::from([(loud.workspace.into(), most)]);
    assert_eq!(claim(ClaimLimit::with_shares(8, 6, HashMap::new())).await, flood[..6]);
    assert_eq!(claim(ClaimLimit::with_shares(8, 6, of_loud(2))).await, flood[6..8]);
    assert_eq!(claim(ClaimLimit::with_shares(2, 1, of_loud(0))).await, []);
    let quiet = add_automation_in_new_workspace(&world, "quiet").await;
    let single = world.enqueue(&quiet, at(1)).await;
    assert_eq!(claim(ClaimLimit::with_shares(2, 1, of_loud(0))).await, [single]);
    let again = world.enqueue(&quiet, at(2)).await;
    let both = claim(ClaimLimit::with_shares(8, 1, of_loud(3))).await;
    assert_eq!(BTreeSet::from_iter(both), BTreeSet::from([again, flood[8], flood[9], flood[10]]));
    assert_eq!(claim(ClaimLimit::with_total(20)).await, flood[11..]);
}

/// Anybody may create many workspaces: those of one person have one share, and it has no more turns than another.
async fn workspaces_of_one_person_have_one_share(database: Database) {
    let world = World::new(database).await;
    let (loud_person, quiet_person) = (world.add_person("Loud").await, world.add_person("Quiet").await);
    let mut flood = BTreeSet::new();
    for number in 0..10 {
        let loud = add_automation_in_new_workspace(&world, &format!("loud-{number}")).await;
        record_creator(&world, loud.workspace, loud_person).await;
        flood.insert(world.enqueue(&loud, at(0)).await);
    }
    let quiet = add_automation_in_new_workspace(&world, "quiet").await;
    record_creator(&world, quiet.workspace, quiet_person).await;
    let mut of_quiet = Vec::new();
    for second in 1..=8 {
        of_quiet.push(world.enqueue(&quiet, at(second)).await);
    }
    let node = world.id();
    let claim = async |limit| world.store.claim(node, limit, Arc::new(at(10))).await.unwrap();
    let at_limit = HashMap::from([(ShareId::from(loud_person), 0)]);
    let alone = claim(ClaimLimit::with_shares(1, 1, at_limit)).await;
    assert_eq!(ids_of(&alone), of_quiet[..1], "no workspace of a person without room has a turn");
    assert_eq!(alone[0].share, ShareId::from(quiet_person));
    let both = ids_of(&claim(ClaimLimit::with_total(8)).await);
    let loud = both.iter().filter(|run| flood.contains(run)).count();
    assert_eq!((loud, both.len() - loud), (3, 4), "each person gets half, of workspaces in a power of two");
    let bounded = HashMap::from([(ShareId::from(loud_person), 2)]);
    let bounded = claim(ClaimLimit::with_shares(8, 1, bounded)).await;
    let loud = bounded.iter().filter(|run| run.share == ShareId::from(loud_person)).count();
    assert_eq!((loud, bounded.len() - loud), (1, 1));
    let mut rest = BTreeSet::new();
    for _ in 0..10 {
        rest.extend(ids_of(&claim(ClaimLimit::with_total(8)).await));
    }
    assert_eq!(rest.len(), 18 - 1 - 7 - 2, "each of them has its turn");
}

async fn record_creator(world: &World, workspace: WorkspaceId, person: UserId) {
    world.write(async |tx| tx.record_creator(workspace, person).await).await;
}

async fn a_long_queue_costs_a_quiet_workspace_nothing(database: Database) {
    const FLOOD: i64 = 20_000;
    let world = World::new(database).await;
    let loud = add_manual_automation(&world).await;
    let first = world.enqueue(&loud, at(0)).await;
    let quiet = add_automation_in_new_workspace(&world, "quiet").await;
    let single = world.enqueue(&quiet, at(50)).await;
    // Copies of the first run's entry with other ids: only the queue's length counts here.
    let postgres = world.database.url.starts_with("postgres");
    let id = if postgres { "gen_random_uuid()" } else { "randomblob(16)" };
    let numbers =
        format!("WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {FLOOD})");
    world
        .execute(
            &format!(
                "INSERT INTO run_queue (run_id, workspace_id, automation_id, state, available_at, attempt) \
                 {numbers} SELECT {id}, q.workspace_id, q.automation_id, 0, q.available_at + n.n, 0 FROM n, run_queue q \
                 WHERE q.run_id = $1"
            ),
            vec![first.uuid().into()],
        )
        .await;
    assert_eq!(world.count("run_queue WHERE state = 0").await, FLOOD + 2);
    let node = world.id();
    let two = [world.claim(node, 1, at(60)).await, world.claim(node, 1, at(60)).await];
    let two: BTreeSet<RunId> = two.iter().flat_map(|claimed| ids_of(claimed)).collect();
    assert_eq!(two, BTreeSet::from([first, single]));
}
