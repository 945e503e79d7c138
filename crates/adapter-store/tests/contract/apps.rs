//! Apps, their versions, and who may use them.

use ::apps::{
    App, AppVersion, AppsRead as _, AppsTx as _, access::AppGrant, manifest::EgressPermission,
    versions::Rollback,
};
use ::workspace::WorkspaceTx as _;
use kernel::{
    StoreError,
    authority::{AppFact, AppRightName, AppRights, Role, Sharing, Visibility},
    id::{AppId, UserId},
    page::PageRequest,
};
use runs::{
    RunStatus, RunsRead as _, RunsTx as _, Trigger,
    runs::{RunFilter, RunState},
    webhooks::WebhookStore as _,
};

use crate::{
    contract,
    harness::{Database, PAGE, World, at, ids_of},
};

contract!(
    an_app_is_read_as_it_was_written,
    a_slug_belongs_to_one_app,
    a_list_shows_what_a_person_can_view,
    a_list_comes_in_pages,
    versions_are_numbered_and_a_number_is_taken_once,
    rollbacks_are_listed_newest_first,
    a_change_is_seen_by_the_hooks,
    a_deleted_app_is_gone_and_what_waited_fails,
    deleting_waits_for_no_run_that_is_under_way,
    access_is_replaced,
    nothing_reaches_into_another_workspace,
    members_are_told_from_strangers,
    what_was_granted_to_one_person_in_one_workspace_ends_together,
);

const RIGHTS: [AppRightName; 2] = [AppRightName::CanView, AppRightName::CanRun];

async fn an_app_is_read_as_it_was_written(database: Database) {
    let world = World::new(database).await;
    let app =
        App {
            is_paused: true, description: "Счета".to_owned(), ..world.app_of(world.id(), Sharing::Team)
        };
    world.write(async |tx| tx.insert_app(&app).await).await;
    assert_eq!(world.store.app(world.workspace, app.id).await.unwrap(), Some(app.clone()));
    assert_eq!(world.store.app_by_slug(&app.slug).await.unwrap(), Some(app.clone()));
    assert_eq!(world.store.app_by_slug("no-such-app").await.unwrap(), None);

    let changed = App {
        name: "Bills".to_owned(),
        description: String::new(),
        archetype: "kiosk".to_owned(),
        category: ::apps::Category::People,
        is_paused: false,
        ..app.clone()
    };
    world.write(async |tx| tx.update_app(&changed).await).await;
    assert_eq!(world.store.app(world.workspace, app.id).await.unwrap(), Some(changed.clone()));
    let locked = world.write(async |tx| tx.app_for_update(world.workspace, app.id).await).await;
    assert_eq!(locked, Some(changed));
}

async fn a_slug_belongs_to_one_app(database: Database) {
    let world = World::new(database).await;
    let first = world.store.app(world.workspace, world.app).await.unwrap().unwrap();
    let second = App { slug: first.slug, ..world.app_of(world.id(), Sharing::Team) };
    let refused = world.try_write(async |tx| tx.insert_app(&second).await).await;
    assert!(matches!(refused, Err(StoreError::Duplicate)), "{refused:?}");
}

async fn visible(world: &World, user: UserId, visible: Visibility) -> Vec<AppId> {
    let apps = world.store.apps(world.workspace, user, visible, PAGE).await.unwrap();
    apps.into_iter().map(|(app, _)| app.id).collect()
}

async fn a_list_shows_what_a_person_can_view(database: Database) {
    let world = World::new(database).await;
    let bek = world.add_person("bek").await;
    // Newest first: what Bek made, then what Aru made and shares less and less.
    let (granted, shared, team) = (world.id(), world.id(), world.id());
    world.add_app(granted, Sharing::Private).await;
    world.add_app(shared, Sharing::Workspace).await;
    world.add_app(team, Sharing::Team).await;
    let made = App { created_by: bek, ..world.app_of(world.id(), Sharing::Private) };
    world.write(async |tx| tx.insert_app(&made).await).await;
    let rights: AppRights = RIGHTS.into_iter().collect();
    let grants = [AppGrant { user: bek, rights }];
    world
        .write(async |tx| tx.replace_access(world.workspace, granted, Sharing::Private, &grants).await)
        .await;
    let elsewhere = world.id();
    world.add_workspace(elsewhere, "elsewhere").await;
    let foreign =
        App { workspace: elsewhere, created_by: bek, ..world.app_of(world.id(), Sharing::Workspace) };
    world.write(async |tx| tx.insert_app(&foreign).await).await;

    let everything = [made.id, team, shared, granted, world.app];
    assert_eq!(visible(&world, bek, Visibility::All).await, everything);
    let with_team =
        Visibility::Shared { user: Some(bek), sharing_levels: &[Sharing::Team, Sharing::Workspace] };
    assert_eq!(visible(&world, bek, with_team).await, [made.id, team, shared, granted]);
    let with_all = Visibility::Shared { user: Some(bek), sharing_levels: &[Sharing::Workspace] };
    assert_eq!(visible(&world, bek, with_all).await, [made.id, shared, granted]);
    let stranger = Visibility::Shared { user: Some(world.id()), sharing_levels: &[] };
    assert_eq!(visible(&world, bek, stranger).await, []);

    let listed = world.store.apps(world.workspace, bek, Visibility::All, PAGE).await.unwrap();
    for (app, found) in listed {
        assert_eq!(found, if app.id == granted { rights } else { AppRights::NONE }, "{}", app.id);
    }
    // The rights on one app agree with the list.
    let fact = world.store.app_fact(granted, bek).await.unwrap();
    let expected = AppFact {
        app: granted,
        workspace: world.workspace,
        created_by: world.user,
        sharing: Sharing::Private,
        granted: rights,
    };
    assert_eq!(fact, Some(expected));

    // Lists of other things follow the same rules.
    let automation = runs::Automation { app: team, ..world.automation(Trigger::Manual) };
    world.write(async |tx| tx.insert_automation(&automation).await).await;
    world.enqueue(&automation, at(0)).await;
    for (visibility, count) in [(Visibility::All, 1), (with_team, 1), (with_all, 0), (stranger, 0)] {
        let automations = world.store.automations(world.workspace, visibility, None, PAGE).await.unwrap();
        let runs = world.store.runs(world.workspace, visibility, RunFilter::default(), PAGE).await.unwrap();
        assert_eq!((automations.len(), runs.len()), (count, count), "{visibility:?}");
    }
}

async fn a_list_comes_in_pages(database: Database) {
    let world = World::new(database).await;
    for _ in 0..4 {
        world.add_app(world.id(), Sharing::Team).await;
    }
    let all = visible(&world, world.user, Visibility::All).await;
    assert_eq!(all.len(), 5);
    let page = async |after: Option<AppId>| -> Vec<AppId> {
        let page = PageRequest { limit: 2, after: after.map(kernel::Id::uuid) };
        let apps = world.store.apps(world.workspace, world.user, Visibility::All, page).await.unwrap();
        apps.into_iter().map(|(app, _)| app.id).collect()
    };
    // One more than the limit tells that another page follows.
    assert_eq!(page(None).await, all[..3]);
    assert_eq!(page(Some(all[1])).await, all[2..5]);
    assert_eq!(page(Some(all[3])).await, all[4..]);
}

async fn versions_are_numbered_and_a_number_is_taken_once(database: Database) {
    let world = World::new(database).await;
    let app = world.id();
    world.add_app(app, Sharing::Team).await;
    let latest = async || world.write(async |tx| tx.latest_version_number(world.workspace, app).await).await;
    assert_eq!(latest().await, 0);
    let mut manifest = world.manifest();
    manifest.permissions.egress.push(EgressPermission::new("api.example.com", None));
    let ids = [world.id(), world.id(), world.id()];
    for (number, id) in (1..).zip(ids) {
        world.add_version(app, id, number, manifest.clone()).await;
        assert_eq!(latest().await, number);
    }
    let (version, content) = world.store.version(world.workspace, app, ids[1]).await.unwrap().unwrap();
    let expected = AppVersion { created_by_name: Some("Aru".to_owned()), ..world.version_of(app, ids[1], 2) };
    assert_eq!(version, expected);
    assert_eq!(content.manifest, manifest);
    assert_eq!(content.files["main.js"], "export default {}");

    let list = world.store.versions(world.workspace, app, PAGE).await.unwrap();
    assert_eq!(list.iter().map(|version| version.number).collect::<Vec<_>>(), [3, 2, 1]);
    assert_eq!(list[1], expected);
    let second = PageRequest { limit: 1, after: Some(ids[2].uuid()) };
    let list = world.store.versions(world.workspace, app, second).await.unwrap();
    assert_eq!(list.iter().map(|version| version.number).collect::<Vec<_>>(), [2, 1]);

    let twin = world.version_of(app, world.id(), 3);
    let refused = world.try_write(async |tx| tx.insert_version(&twin, &content).await).await;
    assert!(matches!(refused, Err(StoreError::Duplicate)), "{refused:?}");
    assert_eq!(latest().await, 3);
    assert_eq!(world.store.version(world.workspace, world.app, ids[0]).await.unwrap(), None);
}

async fn rollbacks_are_listed_newest_first(database: Database) {
    let world = World::new(database).await;
    let app = world.id();
    world.add_app(app, Sharing::Team).await;
    let (first, second) = (world.id(), world.id());
    let mut expected = Vec::new();
    for (number, (from, to)) in [(second, first), (first, second), (second, first)].into_iter().enumerate() {
        let rollback = Rollback {
            id: world.id(),
            app,
            workspace: world.workspace,
            at: at(i64::try_from(number).unwrap()),
            by: world.user,
            by_name: None,
            from,
            to,
        };
        world.write(async |tx| tx.insert_rollback(&rollback).await).await;
        expected.insert(0, Rollback { by_name: Some("Aru".to_owned()), ..rollback });
    }
    assert_eq!(world.store.rollbacks(world.workspace, app, 50).await.unwrap(), expected);
    assert_eq!(world.store.rollbacks(world.workspace, app, 2).await.unwrap(), expected[..2]);
    assert_eq!(world.store.rollbacks(world.workspace, world.app, 50).await.unwrap(), []);
    assert_eq!(world.store.rollbacks(world.id(), app, 50).await.unwrap(), []);
}

async fn a_change_is_seen_by_the_hooks(database: Database) {
    let world = World::new(database).await;
    let (_, webhook) = world.add_webhook_automation(None).await;
    let first = world.state(&webhook).await;
    assert!(first.is_app_runnable && first.declares_trigger);
    assert_eq!(first.app, world.app);

    world.publish(world.app, Some(world.version), true).await;
    let paused = world.state(&webhook).await;
    assert!(!paused.is_app_runnable && paused.revisions != first.revisions);

    let mut manifest = world.manifest();
    manifest.triggers.clear();
    let silent = world.id();
    world.add_version(world.app, silent, 2, manifest).await;
    world.publish(world.app, Some(silent), false).await;
    let silent = world.state(&webhook).await;
    assert!(silent.is_app_runnable && !silent.declares_trigger && silent.revisions != paused.revisions);

    world.publish(world.app, None, false).await;
    assert!(!world.state(&webhook).await.is_app_runnable);
}

async fn a_deleted_app_is_gone_and_what_waited_fails(database: Database) {
    let world = World::new(database).await;
    let (automation, webhook) = world.add_webhook_automation(None).await;
    world.state(&webhook).await;
    let other_app = world.id();
    world.add_app(other_app, Sharing::Team).await;
    let other = runs::Automation { app: other_app, ..world.automation(Trigger::Manual) };
    world.write(async |tx| tx.insert_automation(&other).await).await;
    let waiting = world.enqueue(&automation, at(0)).await;
    let untouched = world.enqueue(&other, at(0)).await;
    let app = world.store.app(world.workspace, world.app).await.unwrap().unwrap();

    world.write(async |tx| tx.delete_app(world.workspace, world.app, at(5_000)).await).await;
    assert_eq!(world.store.app(world.workspace, world.app).await.unwrap(), None);
    assert_eq!(world.store.app_by_slug(&app.slug).await.unwrap(), None);
    assert_eq!(world.store.app_fact(world.app, world.user).await.unwrap(), None);
    assert_eq!(visible(&world, world.user, Visibility::All).await, [other_app]);
    assert_eq!(world.store.automation(world.workspace, automation.id).await.unwrap(), None);
    assert_eq!(world.store.webhook(world.workspace, automation.id).await.unwrap(), None);
    assert!(world.store.webhook_snapshot(webhook.id, false).await.unwrap().is_none());
    let gone = world.write(async |tx| tx.app_for_update(world.workspace, world.app).await).await;
    assert_eq!(gone, None);
    assert!(!world.write(async |tx| tx.is_app_runnable(world.workspace, world.app).await).await);

    let run = world.run(waiting).await;
    let RunState::Failed(span, fault) = run.state else { panic!("{:?}", run.state) };
    assert_eq!((span.finished_at, fault.code.as_str()), (at(5_000), "automation_deleted"));
    assert_eq!(ids_of(&world.claim(world.id(), 10, at(6_000)).await), [untouched]);
}

async fn deleting_waits_for_no_run_that_is_under_way(database: Database) {
    let world = World::new(database).await;
    let (automation, _) = world.add_webhook_automation(None).await;
    let (node, run) = (world.id(), world.enqueue(&automation, at(0)).await);
    let waiting = world.enqueue(&automation, at(60_000)).await;
    let claimed = world.claim(node, 1, at(0)).await;
    world.write(async |tx| tx.delete_app(world.workspace, world.app, at(500)).await).await;
    assert_eq!(world.run(run).await.state.status(), RunStatus::Running);
    assert_eq!(world.run(waiting).await.state.status(), RunStatus::Failed);
    assert!(world.finish(node, &claimed[0], runs::queue::AttemptOutcome::Succeeded).await);
    assert_eq!(world.run(run).await.state.status(), RunStatus::Succeeded);
    assert_eq!(world.count("run_queue").await, 0);
}

async fn access_is_replaced(database: Database) {
    let world = World::new(database).await;
    let people = [world.add_person("bek").await, world.add_person("dana").await];
    let grant = |user, right: AppRightName| AppGrant { user, rights: [right].into_iter().collect() };
    let put = async |sharing, grants: &[AppGrant]| {
        world.write(async |tx| tx.replace_access(world.workspace, world.app, sharing, grants).await).await;
        let found = world.store.app(world.workspace, world.app).await.unwrap().unwrap();
        (found.sharing, world.store.grants(world.workspace, world.app).await.unwrap())
    };
    let first = [grant(people[0], AppRightName::CanView), grant(people[1], AppRightName::CanEdit)];
    assert_eq!(put(Sharing::Team, &first).await, (Sharing::Team, first.to_vec()));
    let second = [grant(people[1], AppRightName::CanShare)];
    assert_eq!(put(Sharing::Workspace, &second).await, (Sharing::Workspace, second.to_vec()));
    assert_eq!(put(Sharing::Private, &[]).await, (Sharing::Private, Vec::new()));
}

async fn nothing_reaches_into_another_workspace(database: Database) {
    let world = World::new(database).await;
    let elsewhere = world.id();
    world.add_workspace(elsewhere, "elsewhere").await;
    let (automation, webhook) = world.add_webhook_automation(None).await;
    let waiting = world.enqueue(&automation, at(0)).await;
    let grants = [AppGrant { user: world.user, rights: [AppRightName::CanView].into_iter().collect() }];
    world.write(async |tx| tx.replace_access(world.workspace, world.app, Sharing::Team, &grants).await).await;
    let before = world.store.app(world.workspace, world.app).await.unwrap();

    let foreign = App { workspace: elsewhere, ..world.app_of(world.app, Sharing::Workspace) };
    world
        .write(async |tx| {
            tx.replace_access(elsewhere, world.app, Sharing::Private, &[]).await?;
            tx.update_app(&foreign).await?;
            tx.delete_app(elsewhere, world.app, at(1)).await?;
            tx.delete_automation(elsewhere, automation.id, at(1)).await?;
            assert_eq!(tx.latest_version_number(elsewhere, world.app).await?, 0);
            assert_eq!(tx.app_for_update(elsewhere, world.app).await?, None);
            assert_eq!(tx.automation_for_update(elsewhere, automation.id).await?, None);
            assert_eq!(tx.webhook_for_update(elsewhere, automation.id).await?, None);
            assert!(!tx.is_app_runnable(elsewhere, world.app).await?);
            Ok(())
        })
        .await;
    assert_eq!(world.store.app(world.workspace, world.app).await.unwrap(), before);
    assert_eq!(world.store.grants(world.workspace, world.app).await.unwrap(), grants);
    assert_eq!(world.store.grants(elsewhere, world.app).await.unwrap(), []);
    assert_eq!(world.store.app(elsewhere, world.app).await.unwrap(), None);
    assert_eq!(world.store.versions(elsewhere, world.app, PAGE).await.unwrap(), []);
    assert_eq!(world.store.version(elsewhere, world.app, world.version).await.unwrap(), None);
    assert_eq!(world.store.automation(elsewhere, automation.id).await.unwrap(), None);
    assert_eq!(world.store.webhook(elsewhere, automation.id).await.unwrap(), None);
    assert_eq!(world.store.deliveries(elsewhere, webhook.id, 10).await.unwrap(), []);
    assert_eq!(world.store.run(elsewhere, waiting).await.unwrap(), None);
    assert!(world.store.automation(world.workspace, automation.id).await.unwrap().is_some());
    assert!(world.store.webhook(world.workspace, automation.id).await.unwrap().is_some());
    assert_eq!(world.run(waiting).await.state.status(), RunStatus::Queued);
}

async fn members_are_told_from_strangers(database: Database) {
    let world = World::new(database).await;
    let (bek, stranger) = (world.add_person("bek").await, world.add_person("dana").await);
    world.write(async |tx| tx.insert_member(world.workspace, bek, Role::Member, at(0)).await).await;
    let asked = [stranger, bek, world.id()];
    let found = world.write(async |tx| tx.members_among(world.workspace, &asked).await).await;
    assert_eq!(found, [bek]);
    let found = world.write(async |tx| tx.members_among(world.workspace, &[]).await).await;
    assert_eq!(found, []);
}

async fn what_was_granted_to_one_person_in_one_workspace_ends_together(database: Database) {
    let world = World::new(database).await;
    let (bek, gul, second) = (world.add_person("bek").await, world.add_person("gul").await, world.id());
    world.add_app(second, Sharing::Private).await;
    let grant = |user| AppGrant { user, rights: RIGHTS.into_iter().collect() };
    world
        .write(async |tx| {
            for app in [world.app, second] {
                tx.replace_access(world.workspace, app, Sharing::Private, &[grant(bek), grant(gul)]).await?;
            }
            assert_eq!(tx.delete_grants_of(world.id(), bek).await?, [], "of another workspace");
            let mut ended = tx.delete_grants_of(world.workspace, bek).await?;
            ended.sort_by_key(|app| app.uuid());
            let mut apps = [world.app, second];
            apps.sort_by_key(|app| app.uuid());
            assert_eq!(ended, apps);
            assert_eq!(tx.delete_grants_of(world.workspace, bek).await?, []);
            Ok(())
        })
        .await;
    for app in [world.app, second] {
        assert_eq!(world.store.grants(world.workspace, app).await.unwrap(), [grant(gul)]);
    }
}
