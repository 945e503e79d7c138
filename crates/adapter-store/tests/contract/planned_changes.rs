//! Planned changes of apps.

use ::apps::changes::{
    AppUpdate, AutomationChange, Change, ChangeEffects, ChangeOutcome, ChangePlan, ChangesRead as _,
    ChangesTx as _, PlanEffect, PlannedBy, PlannedTrust,
};
use kernel::{
    Locale,
    authority::{Sharing, Visibility},
    id::{ChangeId, UserId},
};

use crate::{
    contract,
    harness::{Database, World, at},
};

contract!(
    a_change_is_read_as_it_was_planned,
    a_change_is_its_owners_alone,
    only_changes_that_wait_are_counted,
    open_changes_are_listed_to_their_owner,
    an_outcome_is_kept,
    effects_are_listed_between_two_versions,
);

fn change_of(world: &World, owner: UserId) -> Change {
    Change {
        id: world.id(),
        workspace: world.workspace,
        app: world.app,
        owner,
        run: None,
        plan: ChangePlan {
            base: world.version,
            instruction: "Call it Orders".to_owned(),
            summary: "The app is called Orders.".to_owned(),
            before: world.manifest(),
            manifest: world.manifest(),
            steps: vec!["Rename the app.".to_owned()],
            notes: Vec::new(),
            needs_console: vec!["An admin opens the gate.".to_owned()],
            closed_hosts: vec!["api.example.com".to_owned()],
            locale: Locale::Kk,
            sharing: Some(Sharing::Team),
            trust: None,
            app: AppUpdate::default(),
            automations: Vec::new(),
            planned_by: PlannedBy::default(),
        },
        created_at: at(0),
        expires_at: at(1_000),
        outcome: None,
    }
}

async fn add(world: &World, change: &Change) {
    world.write(async |tx| tx.insert_change(change).await).await;
}

async fn read(world: &World, owner: UserId, id: ChangeId) -> Option<Change> {
    world.store.change(world.workspace, owner, id).await.unwrap()
}

async fn a_change_is_read_as_it_was_planned(database: Database) {
    let world = World::new(database).await;
    let mut change = change_of(&world, world.user);
    add(&world, &change).await;
    assert_eq!(read(&world, world.user, change.id).await.as_ref(), Some(&change));
    assert_eq!(world.store.app_of_change(world.user, change.id).await.unwrap(), Some(world.app));

    change = Change { id: world.id(), run: Some(world.id()), ..change };
    change.plan.automations = vec![AutomationChange::PauseSchedule { id: world.id() }];
    change.plan.trust = Some(PlannedTrust { before: 97, after: 80 });
    change.plan.app =
        AppUpdate { name: Some("\u{1f331}".to_owned()), description: None, sharing: Some(Sharing::Private) };
    add(&world, &change).await;
    assert_eq!(read(&world, world.user, change.id).await, Some(change));
}

async fn a_change_is_its_owners_alone(database: Database) {
    let world = World::new(database).await;
    let other = world.add_person("dana").await;
    let change = change_of(&world, world.user);
    add(&world, &change).await;
    assert_eq!(read(&world, other, change.id).await, None);
    assert_eq!(world.store.app_of_change(other, change.id).await.unwrap(), None);
    assert_eq!(world.store.change(world.id(), world.user, change.id).await.unwrap(), None);
    for (workspace, owner, is_found) in [
        (world.workspace, world.user, true),
        (world.workspace, other, false),
        (world.id(), world.user, false),
    ] {
        let locked = world.write(async |tx| tx.change_for_update(workspace, owner, change.id).await).await;
        assert_eq!(locked.is_some(), is_found);
    }
}

async fn only_changes_that_wait_are_counted(database: Database) {
    let world = World::new(database).await;
    let other = world.add_person("dana").await;
    let open = async |owner, millis| {
        world.write(async |tx| tx.count_open_changes(world.workspace, owner, at(millis)).await).await
    };
    let changes: Vec<_> = (0..4).map(|_| change_of(&world, world.user)).collect();
    for change in &changes {
        add(&world, change).await;
    }
    add(&world, &change_of(&world, other)).await;
    assert_eq!((open(world.user, 0).await, open(other, 0).await), (4, 1));
    let [live, failed, ..] = changes.as_slice() else { unreachable!() };
    world.write(async |tx| tx.settle_change(live.id, &ChangeOutcome::Live(world.version)).await).await;
    world
        .write(async |tx| tx.settle_change(failed.id, &ChangeOutcome::Failed("it is gone".to_owned())).await)
        .await;
    assert_eq!(open(world.user, 999).await, 2);
    assert_eq!(open(world.user, 1_000).await, 0, "expired changes wait for nobody");
    let elsewhere = world.id();
    let counted = world.write(async |tx| tx.count_open_changes(elsewhere, world.user, at(0)).await).await;
    assert_eq!(counted, 0);
}

async fn an_outcome_is_kept(database: Database) {
    let world = World::new(database).await;
    let (live, failed) = (change_of(&world, world.user), change_of(&world, world.user));
    for (change, outcome) in [
        (live, ChangeOutcome::Live(world.version)),
        (failed, ChangeOutcome::Failed("\u{1f331} is gone".to_owned())),
    ] {
        add(&world, &change).await;
        world.write(async |tx| tx.settle_change(change.id, &outcome).await).await;
        let expected = Change { outcome: Some(outcome), ..change };
        assert_eq!(read(&world, world.user, expected.id).await.as_ref(), Some(&expected));
    }
}

async fn effects_are_listed_between_two_versions(database: Database) {
    let world = World::new(database).await;
    let effects = |version_number| ChangeEffects {
        change: world.id(),
        version_number,
        effects: vec![PlanEffect::Sharing { before: Sharing::Private, after: Sharing::Team }],
    };
    let all = [effects(2), effects(3), effects(4)];
    for (index, effects) in all.iter().enumerate() {
        let at = at(i64::try_from(index).unwrap());
        world.write(async |tx| tx.insert_change_effects(world.workspace, world.app, effects, at).await).await;
    }
    let between = async |versions| {
        world.write(async |tx| tx.change_effects(world.workspace, world.app, versions).await).await
    };
    assert_eq!(between((2, 4)).await, [all[2].clone(), all[1].clone()]);
    assert_eq!(between((0, 2)).await, [all[0].clone()]);
    assert_eq!(between((4, 1)).await, []);
}

async fn open_changes_are_listed_to_their_owner(database: Database) {
    let world = World::new(database).await;
    let other = world.add_person("dana").await;
    let list = async |owner, visible, millis| -> Vec<(ChangeId, String)> {
        let found = world.store.open_changes(world.workspace, owner, visible, at(millis)).await.unwrap();
        found.into_iter().map(|open| (open.change.id, open.app_name)).collect()
    };
    let changes: Vec<_> = (0..3).map(|_| change_of(&world, world.user)).collect();
    for change in &changes {
        add(&world, change).await;
    }
    add(&world, &change_of(&world, other)).await;
    world.write(async |tx| tx.settle_change(changes[0].id, &ChangeOutcome::Live(world.version)).await).await;
    let mut open: Vec<_> = changes[1..].iter().map(|change| (change.id, "Invoices".to_owned())).collect();
    open.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
    assert_eq!(list(world.user, Visibility::All, 0).await, open);
    assert_eq!(list(world.user, Visibility::All, 1_000).await, [], "expired changes wait for nobody");
    let nobody = Visibility::Shared { user: None, sharing_levels: &[] };
    assert_eq!(
        list(world.user, nobody, 0).await,
        [],
        "an app that its planner can no longer view is left out"
    );
    assert_eq!(world.store.open_changes(world.id(), world.user, Visibility::All, at(0)).await.unwrap(), []);
}
