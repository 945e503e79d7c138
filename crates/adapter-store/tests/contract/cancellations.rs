//! Runs that a person cancels.

use kernel::{id::ApprovalId, id::NodeId};
use runs::{
    RunStatus, RunsTx as _, Trigger,
    approvals::{ApprovalState, ApprovalsRead as _},
    engine::ApprovalQuestion,
    queue::{AttemptOutcome, RunQueue as _},
    runs::Cancellation,
};

use crate::{
    contract,
    harness::{Database, World, at, ids_of},
};

contract!(
    a_cancelled_run_has_failed_and_is_nobodys,
    a_run_ends_once,
    a_cancelled_question_expires,
    a_cancelled_run_makes_room_for_the_next,
);

async fn cancel(world: &World, run: kernel::id::RunId) -> bool {
    let (workspace, by) = (world.workspace, world.user);
    let cancellation = Cancellation { workspace, run, at: at(9_000), by };
    world.write(async |tx| tx.cancel_run(&cancellation).await).await
}

async fn a_cancelled_run_has_failed_and_is_nobodys(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    let (running, queued) =
        (world.enqueue(&automation, at(0)).await, world.enqueue(&automation, at(5_000)).await);
    let node: NodeId = world.id();
    let claimed = world.claim(node, 1, at(1_000)).await;
    assert_eq!(ids_of(&claimed), [running]);
    assert_eq!(world.store.held_runs(node, &[running, queued]).await.unwrap(), [running]);

    for run in [running, queued] {
        assert!(cancel(&world, run).await);
        let run = world.run(run).await;
        let fault = run.state.fault().unwrap();
        assert_eq!((run.state.status(), &*fault.code), (RunStatus::Failed, "cancelled"));
        assert_eq!((run.state.finished_at(), run.cancelled_by), (Some(at(9_000)), Some(world.user)));
    }
    assert_eq!(world.run(running).await.state.started_at(), Some(at(1_000)));
    assert_eq!(world.store.held_runs(node, &[running]).await.unwrap(), []);
    assert!(!world.finish(node, &claimed[0], AttemptOutcome::Succeeded).await, "the lease is gone");
    assert!(world.claim(node, 9, at(60_000)).await.is_empty());
    assert_eq!((world.count("dead_letters").await, world.count("app_failures").await), (0, 0));
}

async fn a_run_ends_once(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    let run = world.enqueue(&automation, at(0)).await;
    let foreign = Cancellation { workspace: world.id(), run, at: at(9), by: world.user };
    assert!(!world.write(async |tx| tx.cancel_run(&foreign).await).await, "it is of another workspace");
    assert!(cancel(&world, run).await);
    assert!(!cancel(&world, run).await);

    let run = world.enqueue(&automation, at(0)).await;
    let node = world.id();
    let claimed = world.claim(node, 1, at(1_000)).await;
    assert!(world.finish(node, &claimed[0], AttemptOutcome::Succeeded).await);
    assert!(!cancel(&world, run).await);
    let run = world.run(run).await;
    assert_eq!((run.state.status(), run.cancelled_by), (RunStatus::Succeeded, None));
}

async fn a_cancelled_question_expires(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    let run = world.enqueue(&automation, at(0)).await;
    let (node, approval): (NodeId, ApprovalId) = (world.id(), world.id());
    let claimed = world.claim(node, 1, at(1_000)).await;
    let question = ApprovalQuestion { title: "Pay 500?".to_owned(), detail: None };
    let wait = AttemptOutcome::Wait { approval, number: 0, question };
    assert!(world.finish(node, &claimed[0], wait).await);
    assert!(cancel(&world, run).await);
    let approvals = world.store.approvals(world.workspace, run).await.unwrap();
    assert_eq!(approvals[0].state, ApprovalState::Expired);
    assert_eq!(world.run(run).await.state.status(), RunStatus::Failed);
}

async fn a_cancelled_run_makes_room_for_the_next(database: Database) {
    let world = World::new(database).await;
    let automation = runs::Automation { max_concurrency: Some(1), ..world.automation(Trigger::Manual) };
    world.write(async |tx| tx.insert_automation(&automation).await).await;
    let (first, next) = (world.enqueue(&automation, at(0)).await, world.enqueue(&automation, at(0)).await);
    let node = world.id();
    assert_eq!(ids_of(&world.claim(node, 9, at(1_000)).await), [first]);
    assert!(cancel(&world, first).await);
    assert_eq!(ids_of(&world.claim(node, 9, at(2_000)).await), [next]);
}
