//! Workspaces and who is in them.

use ::workspace::{
    Workspace, WorkspaceRead as _, WorkspaceSummary, WorkspaceTx as _,
    workspaces::{Intent, Profile},
};
use kernel::{
    StoreError,
    authority::{MembershipFact, Role},
};

use crate::{
    contract,
    harness::{Database, World, at},
};

contract!(
    a_workspace_is_read_as_it_was_written,
    a_slug_belongs_to_one_workspace,
    a_membership_is_of_one_person_in_one_workspace,
    a_list_holds_what_a_person_has_access_to,
);

async fn a_workspace_is_read_as_it_was_written(database: Database) {
    let world = World::new(database).await;
    let workspace = Workspace {
        intents: vec![Intent::CustomerApp, Intent::Ai],
        name: "Қала".to_owned(),
        ..world.workspace_named(world.id(), "qala")
    };
    world.write(async |tx| tx.insert_workspace(&workspace).await).await;
    assert_eq!(world.store.workspace(workspace.id).await.unwrap(), Some(workspace));
    assert_eq!(world.store.workspace(world.id()).await.unwrap(), None);
}

async fn a_slug_belongs_to_one_workspace(database: Database) {
    let world = World::new(database).await;
    let second = world.workspace_named(world.id(), "acme");
    let refused = world.try_write(async |tx| tx.insert_workspace(&second).await).await;
    assert!(matches!(refused, Err(StoreError::Duplicate)), "{refused:?}");
}

async fn a_membership_is_of_one_person_in_one_workspace(database: Database) {
    let world = World::new(database).await;
    let bek = world.add_person("bek").await;
    let fact = async |user| world.store.membership(world.workspace, user).await.unwrap();
    let owner = MembershipFact {
        workspace: world.workspace,
        user: world.user,
        role: Role::Owner,
        access_ends_at: None,
    };
    assert_eq!(fact(world.user).await, Some(owner));
    assert_eq!(fact(bek).await, None);
    world.write(async |tx| tx.insert_member(world.workspace, bek, Role::Viewer, at(1)).await).await;
    assert_eq!(fact(bek).await.map(|fact| fact.role), Some(Role::Viewer));
    assert_eq!(world.store.membership(world.id(), bek).await.unwrap(), None);
    let twice =
        world.try_write(async |tx| tx.insert_member(world.workspace, bek, Role::Admin, at(1)).await).await;
    assert!(matches!(twice, Err(StoreError::Duplicate)), "{twice:?}");
    assert_eq!(fact(bek).await.map(|fact| fact.role), Some(Role::Viewer));
}

async fn a_list_holds_what_a_person_has_access_to(database: Database) {
    let world = World::new(database).await;
    let bek = world.add_person("bek").await;
    let second = world.id();
    world.add_workspace(second, "second").await;
    world.write(async |tx| tx.insert_member(second, bek, Role::Builder, at(1)).await).await;
    let summary = |id, slug: &str, role, member_count| WorkspaceSummary {
        id,
        name: "Acme".to_owned(),
        slug: slug.to_owned(),
        profile: Profile::KzStandard,
        role,
        member_count,
    };
    let list = async |user, now| world.store.workspaces_of(user, now).await.unwrap();
    let both = [summary(world.workspace, "acme", Role::Owner, 1), summary(second, "second", Role::Owner, 2)];
    assert_eq!(list(world.user, at(0)).await, both);
    assert_eq!(list(bek, at(0)).await, [summary(second, "second", Role::Builder, 2)]);

    world
        .execute(
            "UPDATE members SET access_ends_at = $1 WHERE user_id = $2",
            vec![at(1_000).timestamp_millis().into(), bek.uuid().into()],
        )
        .await;
    assert_eq!(list(bek, at(999)).await.len(), 1);
    assert_eq!(list(bek, at(1_000)).await, []);
    let fact = world.store.membership(second, bek).await.unwrap().unwrap();
    assert_eq!(fact.access_ends_at, Some(at(1_000)));
}
