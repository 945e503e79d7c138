//! Deleted workspaces and projects: nothing of them is found or done, until they are restored.

use ::apps::AppsRead as _;
use ::identity::oauth::OAuthTx as _;
use ::projects::{Project, ProjectsRead as _, ProjectsTx as _, Settings};
use ::workspace::{WorkspaceRead as _, members::MembersTx as _, workspaces::deletion::DeletionTx as _};
use kernel::{authority::Role, id::NodeId, page::PageRequest};
use runs::{
    RunsTx as _, Trigger,
    automations::schedule::Schedule,
    ports::ScheduleStore as _,
    queue::RunQueue as _,
    webhooks::{AcceptOutcome, WebhookStore as _},
};

use crate::{
    contract,
    harness::{Database, World, at, ids_of},
};

contract!(
    nobody_is_a_member_of_a_deleted_workspace,
    other_nodes_learn_of_a_deletion,
    a_deleted_workspace_does_nothing_until_it_is_restored,
    an_owner_finds_their_deleted_workspaces,
    a_deleted_project_is_not_found_until_it_is_restored,
);

async fn delete(world: &World) {
    world
        .write(async |tx| {
            assert!(tx.lock_members(world.workspace).await?.is_some());
            tx.mark_workspace_deleted(world.workspace, at(1_000), world.user).await
        })
        .await;
}

async fn restore(world: &World) {
    world
        .write(async |tx| {
            assert_eq!(tx.lock_deleted_workspace(world.workspace).await?, Some(at(1_000)));
            tx.unmark_workspace_deleted(world.workspace).await
        })
        .await;
}

async fn nobody_is_a_member_of_a_deleted_workspace(database: Database) {
    let world = World::new(database).await;
    let (ws, user) = (world.workspace, world.user);
    let is_member = async || {
        let is_member = world.store.membership(ws, user).await.unwrap().is_some();
        assert_eq!(world.store.workspace(ws).await.unwrap().is_some(), is_member);
        assert_eq!(world.store.workspaces_of(user, at(0)).await.unwrap().len(), usize::from(is_member));
        let has_access = world.write(async |tx| tx.has_access(ws, user, at(0)).await).await;
        assert_eq!(has_access, is_member);
        let is_locked = world.write(async |tx| Ok(tx.lock_members(ws).await?.is_some())).await;
        assert_eq!(is_locked, is_member);
        is_member
    };
    assert!(is_member().await);
    assert!(world.store.membership_in_deleted(ws, user).await.unwrap().is_none());
    delete(&world).await;
    assert!(!is_member().await);
    let fact = world.store.membership_in_deleted(ws, user).await.unwrap().unwrap();
    assert_eq!((fact.workspace, fact.user, fact.role), (ws, user, Role::Owner));
    restore(&world).await;
    assert!(is_member().await);
    assert_eq!(world.store.member_count(ws, at(0)).await.unwrap(), 1);
}

async fn other_nodes_learn_of_a_deletion(database: Database) {
    let world = World::new(database).await;
    let other = world.database.open().await;
    let (ws, user) = (world.workspace, world.user);
    assert!(other.membership(ws, user).await.unwrap().is_some());
    delete(&world).await;
    let begun = std::time::Instant::now();
    while other.membership(ws, user).await.unwrap().is_some() {
        assert!(begun.elapsed() < std::time::Duration::from_secs(10), "it still is a member there");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

async fn a_deleted_workspace_does_nothing_until_it_is_restored(database: Database) {
    let world = World::new(database).await;
    let ws = world.workspace;
    let (automation, webhook) = world.add_webhook_automation(None).await;
    let schedule = Schedule::parse("0 9 * * *", None).unwrap();
    let scheduled =
        runs::Automation { next_run_at: Some(at(0)), ..world.automation(Trigger::Schedule(schedule)) };
    world.write(async |tx| tx.insert_automation(&scheduled).await).await;
    let snapshot = world.state(&webhook).await;
    let (running, queued) =
        (world.enqueue(&automation, at(0)).await, world.enqueue(&automation, at(1)).await);
    let node: NodeId = world.id();
    assert_eq!(ids_of(&world.claim(node, 1, at(10)).await), [running]);
    let app = world.store.app(ws, world.app).await.unwrap().unwrap();

    delete(&world).await;
    assert!(world.claim(node, 9, at(10)).await.is_empty());
    assert!(world.store.held_runs(node, &[running]).await.unwrap().is_empty());
    assert!(world.store.extend_leases(node, &[running], at(10)).await.unwrap().is_empty());
    assert!(world.store.due_automations(at(10), 9).await.unwrap().is_empty());
    assert!(world.store.webhook_snapshot(webhook.id, true).await.unwrap().is_none());
    assert_eq!(world.store.accept(world.call(&snapshot)).await.unwrap(), AcceptOutcome::Stale);
    assert!(world.store.app_by_slug(&app.slug).await.unwrap().is_none());

    restore(&world).await;
    assert_eq!(world.store.held_runs(node, &[running]).await.unwrap(), [running]);
    assert_eq!(ids_of(&world.claim(node, 9, at(10)).await), [queued]);
    assert_eq!(world.store.due_automations(at(10), 9).await.unwrap().len(), 1);
    assert_eq!(world.store.app_by_slug(&app.slug).await.unwrap(), Some(app));
    let call = world.call(&*world.state(&webhook).await);
    assert_eq!(world.store.accept(call).await.unwrap(), AcceptOutcome::Accepted);
}

async fn an_owner_finds_their_deleted_workspaces(database: Database) {
    let world = World::new(database).await;
    let admin = world.add_person("Dana").await;
    world
        .write(async |tx| {
            use ::workspace::WorkspaceTx as _;
            tx.insert_member(world.workspace, admin, Role::Admin, at(0)).await
        })
        .await;
    let find = async |user, since| {
        let found = world
            .store
            .deleted_workspaces_of(user, at(since), at(2_000), PageRequest { limit: 10, after: None })
            .await
            .unwrap();
        found.into_iter().map(|deleted| (deleted.summary.id, deleted.deleted_at)).collect::<Vec<_>>()
    };
    assert!(find(world.user, 0).await.is_empty());
    delete(&world).await;
    assert_eq!(find(world.user, 999).await, [(world.workspace, at(1_000))]);
    assert!(find(world.user, 1_000).await.is_empty(), "it is too old");
    assert!(find(admin, 0).await.is_empty(), "only owners can restore it");
}

async fn a_deleted_project_is_not_found_until_it_is_restored(database: Database) {
    let world = World::new(database).await;
    let (ws, user) = (world.workspace, world.user);
    let project = Project {
        id: world.id(),
        workspace: ws,
        name: "Shop".to_owned(),
        slug: "shop".to_owned(),
        description: String::new(),
        shard: 0,
        settings: Settings::default(),
        created_by: user,
        created_at: at(0),
    };
    world.write(async |tx| tx.insert_project(&project).await).await;
    let id = project.id;
    let is_found = async || {
        let is_found = world.store.project_fact(id).await.unwrap().is_some();
        assert_eq!(world.store.project(ws, id).await.unwrap().is_some(), is_found);
        assert_eq!(world.store.project_by_key(id).await.unwrap().is_some(), is_found);
        assert_eq!(world.store.projects(ws).await.unwrap().len(), usize::from(is_found));
        assert_eq!(world.store.deleted_project_fact(id).await.unwrap().is_some(), !is_found);
        let deleted = world.store.deleted_projects(ws, at(0)).await.unwrap();
        let deleted: Vec<_> = deleted.into_iter().map(|it| (it.summary.project, it.deleted_at)).collect();
        assert_eq!(deleted, if is_found { vec![] } else { vec![(project.clone(), at(1_000))] });
        world
            .write(async |tx| {
                assert_eq!(tx.project_for_update(ws, id).await?.is_some(), is_found);
                assert_eq!(tx.count_projects(ws).await?, 1, "a deleted one counts too");
                assert_eq!(tx.deleted_project_for_update(ws, id).await?.is_some(), !is_found);
                Ok(())
            })
            .await;
        is_found
    };
    assert!(is_found().await);
    world.write(async |tx| tx.mark_project_deleted(ws, id, at(1_000), user).await).await;
    assert!(!is_found().await);
    assert!(world.store.deleted_projects(ws, at(1_000)).await.unwrap().is_empty(), "it is too old");
    world.write(async |tx| tx.unmark_project_deleted(ws, id).await).await;
    assert!(is_found().await);
    delete(&world).await;
    assert!(world.store.project_by_key(id).await.unwrap().is_none(), "its workspace is deleted");
}
