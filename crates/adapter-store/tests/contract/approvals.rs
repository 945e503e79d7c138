//! Questions of runs to people: waiting, being answered, and nobody answering.

use kernel::{
    Caller, Context,
    authority::{
        AppFact, AppRight, AppRights, CanEdit, MembershipFact, Role, Sharing, authorize_app, authorize_member,
    },
    caller::SessionCaller,
    id::{ApprovalId, NodeId, UserId},
};
use runs::{
    Automation, RunStatus, RunsError, RunsRead as _, RunsTx as _, Trigger,
    approvals::{
        ApprovalAnswer, ApprovalState, ApprovalsRead as _, ApprovalsTx as _, LIFETIME, decide_approval,
    },
    engine::ApprovalQuestion,
    queue::{AttemptOutcome, ClaimedRun},
};

use crate::{
    contract,
    harness::{Database, World, at, ids_of},
};

contract!(
    an_answer_lets_the_run_go_on,
    what_nobody_answers_expires,
    a_waiting_run_takes_no_place,
    what_waits_ends_with_its_automation,
);

const YES: ApprovalAnswer = ApprovalAnswer { approved: true, expired: false };
const NO: ApprovalAnswer = ApprovalAnswer { approved: false, expired: false };

async fn add_automation(world: &World, max_concurrency: Option<u16>) -> Automation {
    let automation = Automation { max_concurrency, ..world.automation(Trigger::Manual) };
    world.write(async |tx| tx.insert_automation(&automation).await).await;
    automation
}

/// Somebody who may edit the world's app, and what they do it in.
fn editor(world: &World) -> (Context, AppRight<CanEdit>) {
    let user: UserId = world.id();
    let caller = Caller::Session(SessionCaller {
        session: world.id(),
        user,
        workspace: None,
        is_dev_login: false,
        view_as: None,
    });
    let fact = MembershipFact { workspace: world.workspace, user, role: Role::Owner, access_ends_at: None };
    let member = authorize_member(&caller, world.workspace, Some(&fact), at(0)).unwrap();
    let app = AppFact {
        app: world.app,
        workspace: world.workspace,
        created_by: user,
        sharing: Sharing::Private,
        granted: AppRights::default(),
    };
    let right = authorize_app(member, Some(&app)).unwrap().require().unwrap();
    (world.context(), right)
}

async fn finish_with_question(world: &World, node: NodeId, run: &ClaimedRun, number: u32) -> ApprovalId {
    let approval = world.id();
    let question =
        ApprovalQuestion { title: "Pay 500?".to_owned(), detail: Some("To Тұлпар.".to_owned()) };
    assert!(world.finish(node, run, AttemptOutcome::Wait { approval, number, question }).await);
    approval
}

async fn claim_only(world: &World, node: NodeId, moment: i64) -> ClaimedRun {
    let mut claimed = world.claim(node, 10, at(moment)).await;
    assert_eq!(claimed.len(), 1);
    claimed.pop().unwrap()
}

async fn an_answer_lets_the_run_go_on(database: Database) {
    let world = World::new(database).await;
    let automation = add_automation(&world, None).await;
    let id = world.enqueue(&automation, at(0)).await;
    let node: NodeId = world.id();
    let run = claim_only(&world, node, 1).await;
    let first = finish_with_question(&world, node, &run, 0).await;
    assert_eq!(world.run(id).await.state.status(), RunStatus::WaitingApproval);
    assert_eq!(ids_of(&world.claim(node, 10, at(5_000)).await), [], "it waits");
    let health = world.store.queue_health(world.workspace, at(5_000)).await.unwrap();
    assert_eq!((health.queued, health.running, health.waiting_approval), (0, 0, 1));
    let asked = world.store.approvals(world.workspace, id).await.unwrap();
    assert_eq!((asked.len(), asked[0].id, asked[0].state), (1, first, ApprovalState::Waiting));
    assert_eq!(asked[0].question.detail.as_deref(), Some("To Тұлпар."));

    let (ctx, right) = editor(&world);
    let mut tx = world.store.begin().await.unwrap();
    assert!(
        tx.approval_for_update(world.id(), first).await.unwrap().is_none(),
        "another workspace sees nothing"
    );
    let missing = decide_approval(&mut tx, &ctx, &right, id, world.id(), true).await.unwrap_err();
    assert!(matches!(missing, RunsError::ApprovalNotFound), "{missing}");
    let of_another = decide_approval(&mut tx, &ctx, &right, world.id(), first, true).await.unwrap_err();
    assert!(matches!(of_another, RunsError::ApprovalNotFound), "{of_another}");
    decide_approval(&mut tx, &ctx, &right, id, first, true).await.unwrap();
    let again = decide_approval(&mut tx, &ctx, &right, id, first, false).await.unwrap_err();
    assert!(matches!(again, RunsError::ApprovalResolved), "{again}");
    kernel::UnitOfWork::commit(Box::new(tx)).await.unwrap();

    let run = claim_only(&world, node, 10_000).await;
    assert_eq!(
        (run.id, run.answers.as_slice(), run.attempt, run.effective_attempt()),
        (id, [YES].as_slice(), 2, 1)
    );
    // It asks again, and is told no; both answers are given in their order.
    let second = finish_with_question(&world, node, &run, 1).await;
    let mut tx = world.store.begin().await.unwrap();
    decide_approval(&mut tx, &ctx, &right, id, second, false).await.unwrap();
    kernel::UnitOfWork::commit(Box::new(tx)).await.unwrap();
    let run = claim_only(&world, node, 20_000).await;
    assert_eq!((run.answers.as_slice(), run.effective_attempt()), ([YES, NO].as_slice(), 1));
    assert!(world.finish(node, &run, AttemptOutcome::Succeeded).await);
    assert_eq!(world.run(id).await.state.status(), RunStatus::Succeeded);
    assert_eq!(world.count("audit_log WHERE action LIKE 'approval.%'").await, 2);
}

async fn what_nobody_answers_expires(database: Database) {
    let world = World::new(database).await;
    let automation = add_automation(&world, None).await;
    let id = world.enqueue(&automation, at(0)).await;
    let node: NodeId = world.id();
    let run = claim_only(&world, node, 1).await;
    let approval = finish_with_question(&world, node, &run, 0).await;
    let asked = world.store.approvals(world.workspace, id).await.unwrap();
    world.store.delete_expired(asked[0].expires_at - chrono::TimeDelta::milliseconds(1)).await.unwrap();
    assert_eq!(world.run(id).await.state.status(), RunStatus::WaitingApproval);
    let late = asked[0].expires_at;
    assert!(late >= at(0) + LIFETIME);
    world.store.delete_expired(late).await.unwrap();
    let claimed = world.claim(node, 10, late).await;
    assert_eq!(claimed[0].answers, [ApprovalAnswer { approved: false, expired: true }]);
    let (mut ctx, right) = editor(&world);
    ctx.now = late;
    let mut tx = world.store.begin().await.unwrap();
    let settled = decide_approval(&mut tx, &ctx, &right, id, approval, true).await.unwrap_err();
    assert!(matches!(settled, RunsError::ApprovalResolved), "{settled}");
}

async fn a_waiting_run_takes_no_place(database: Database) {
    let world = World::new(database).await;
    let automation = add_automation(&world, Some(1)).await;
    let first = world.enqueue(&automation, at(0)).await;
    let second = world.enqueue(&automation, at(0)).await;
    let node: NodeId = world.id();
    let run = claim_only(&world, node, 1).await;
    assert_eq!(run.id, first);
    let approval = finish_with_question(&world, node, &run, 0).await;
    let run = claim_only(&world, node, 2).await;
    assert_eq!(run.id, second, "its place is free while the first waits");
    let (ctx, right) = editor(&world);
    let mut tx = world.store.begin().await.unwrap();
    decide_approval(&mut tx, &ctx, &right, first, approval, true).await.unwrap();
    kernel::UnitOfWork::commit(Box::new(tx)).await.unwrap();
    assert_eq!(ids_of(&world.claim(node, 10, at(3_000)).await), [], "the place is taken");
    assert!(world.finish(node, &run, AttemptOutcome::Succeeded).await);
    assert_eq!(claim_only(&world, node, 4_000).await.id, first);
}

async fn what_waits_ends_with_its_automation(database: Database) {
    let world = World::new(database).await;
    let automation = add_automation(&world, None).await;
    let id = world.enqueue(&automation, at(0)).await;
    let node: NodeId = world.id();
    let run = claim_only(&world, node, 1).await;
    let approval = finish_with_question(&world, node, &run, 0).await;
    world.write(async |tx| tx.delete_automation(world.workspace, automation.id, at(9)).await).await;
    assert_eq!(world.run(id).await.state.status(), RunStatus::Failed);
    let (ctx, right) = editor(&world);
    let mut tx = world.store.begin().await.unwrap();
    decide_approval(&mut tx, &ctx, &right, id, approval, true).await.unwrap();
    kernel::UnitOfWork::commit(Box::new(tx)).await.unwrap();
    assert_eq!(
        world.run(id).await.state.status(),
        RunStatus::Failed,
        "an answer that comes too late starts nothing"
    );
    assert_eq!(ids_of(&world.claim(node, 10, at(9_000)).await), []);
}
