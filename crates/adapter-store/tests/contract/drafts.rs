//! Drafts of apps.

use std::collections::BTreeMap;

use ::apps::drafts::{Draft, DraftsRead as _, DraftsTx as _};
use kernel::{authority::Sharing, id::UserId};

use crate::{
    contract,
    harness::{Database, World, at},
};

contract!(
    a_draft_is_read_as_it_was_saved_last,
    a_draft_is_its_owners_alone,
    an_expired_draft_is_not_read,
    a_draft_is_deleted_once,
);

fn draft_of(world: &World, owner: UserId) -> Draft {
    Draft {
        workspace: world.workspace,
        app: world.app,
        owner,
        base: Some(world.version),
        files: BTreeMap::from([("main.js".to_owned(), "let \u{1f331} = '\\0';".to_owned())]),
        saved_at: at(10),
        expires_at: at(1_000),
    }
}

async fn read(world: &World, owner: UserId, millis: i64) -> Option<Draft> {
    world.store.draft(world.workspace, world.app, owner, at(millis)).await.unwrap()
}

async fn a_draft_is_read_as_it_was_saved_last(database: Database) {
    let world = World::new(database).await;
    assert_eq!(read(&world, world.user, 0).await, None);
    let first = draft_of(&world, world.user);
    world.write(async |tx| tx.save_draft(&first).await).await;
    assert_eq!(read(&world, world.user, 0).await.as_ref(), Some(&first));

    let files =
        BTreeMap::from([("main.ts".to_owned(), String::new()), ("lib/a.ts".to_owned(), "1".to_owned())]);
    let second = Draft { base: None, files, saved_at: at(20), expires_at: at(2_000), ..first };
    world.write(async |tx| tx.save_draft(&second).await).await;
    assert_eq!(read(&world, world.user, 0).await.as_ref(), Some(&second));
    assert_eq!(world.count("app_drafts").await, 1);
    let locked =
        world.write(async |tx| tx.draft_for_update(world.workspace, world.app, world.user).await).await;
    assert_eq!(locked, Some(second));
}

async fn a_draft_is_its_owners_alone(database: Database) {
    let world = World::new(database).await;
    let other = world.add_person("dana").await;
    let (mine, theirs) = (draft_of(&world, world.user), Draft { base: None, ..draft_of(&world, other) });
    world.write(async |tx| tx.save_draft(&mine).await).await;
    assert_eq!(read(&world, other, 0).await, None);
    world.write(async |tx| tx.save_draft(&theirs).await).await;
    assert_eq!(read(&world, world.user, 0).await, Some(mine));
    assert_eq!(read(&world, other, 0).await, Some(theirs));

    // Of another workspace, or another app, there is none.
    let app = world.id();
    world.add_app(app, Sharing::Private).await;
    assert_eq!(world.store.draft(world.id(), world.app, world.user, at(0)).await.unwrap(), None);
    assert_eq!(world.store.draft(world.workspace, app, world.user, at(0)).await.unwrap(), None);
}

async fn an_expired_draft_is_not_read(database: Database) {
    let world = World::new(database).await;
    let draft = draft_of(&world, world.user);
    world.write(async |tx| tx.save_draft(&draft).await).await;
    assert!(read(&world, world.user, 999).await.is_some());
    assert_eq!(read(&world, world.user, 1_000).await, None);
    // Who saves a draft replaces the expired one, and has to lock it.
    let locked =
        world.write(async |tx| tx.draft_for_update(world.workspace, world.app, world.user).await).await;
    assert_eq!(locked, Some(draft));
}

async fn a_draft_is_deleted_once(database: Database) {
    let world = World::new(database).await;
    let draft = draft_of(&world, world.user);
    world.write(async |tx| tx.save_draft(&draft).await).await;
    let elsewhere = world.id();
    let delete = async |workspace| {
        world.write(async |tx| tx.delete_draft(workspace, world.app, world.user).await).await
    };
    assert!(!delete(elsewhere).await);
    assert!(delete(world.workspace).await);
    assert!(!delete(world.workspace).await);
    assert_eq!(read(&world, world.user, 0).await, None);
}
