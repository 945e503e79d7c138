//! Stored code: each file once, a count that holds, and versions that lose their files.

use std::collections::{BTreeMap, BTreeSet};

use ::apps::{
    AppVersion, AppsRead as _, AppsTx as _,
    drafts::{Draft, DraftsRead as _, DraftsTx as _},
    storage::{CodeUpkeep as _, KEPT_VERSIONS, StoredCodeRead as _},
    versions::VersionContent,
};
use ::runs::dead_letters::DeadLettersTx as _;
use chrono::TimeDelta;
use kernel::{
    Randomness as _, SeededRandomness, StoreError,
    authority::Sharing,
    id::{AppId, UserId, VersionId, WorkspaceId},
};
use sea_orm::Value;

use crate::{
    contract,
    harness::{Database, PAGE, World, at},
};

contract!(
    the_same_file_is_stored_once,
    files_are_not_shared_between_workspaces,
    what_does_not_fit_into_the_plan_is_refused,
    at_the_limit_permissions_can_still_be_taken_away,
    versions_that_nothing_needs_lose_their_files,
    versions_that_something_names_keep_their_files,
    a_version_in_use_is_not_pruned_meanwhile,
    the_count_holds_whatever_happens,
    two_publications_of_one_file_store_it_once,
    code_of_earlier_releases_is_moved,
    unreadable_versions_of_earlier_releases_stop_no_others,
    older_nodes_can_read_versions_during_an_upgrade,
);

type Files = BTreeMap<String, String>;

fn files(texts: &[(&str, &str)]) -> Files {
    texts.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

async fn try_publish(world: &World, app: AppId, number: u32, files: Files) -> Result<VersionId, StoreError> {
    let version = world.version_of(app, world.id(), number);
    let content = VersionContent { manifest: world.manifest(), files };
    world.try_write(async |tx| tx.insert_version(&version, &content).await).await?;
    Ok(version.id)
}

async fn publish(world: &World, app: AppId, number: u32, files: Files) -> VersionId {
    let version = try_publish(world, app, number, files).await.unwrap();
    world.publish(app, Some(version), false).await;
    version
}

async fn read(world: &World, app: AppId, version: VersionId) -> (AppVersion, VersionContent) {
    world.store.version(world.workspace, app, version).await.unwrap().unwrap()
}

async fn bytes(world: &World) -> u64 {
    world.store.stored_code_bytes(world.workspace).await.unwrap()
}

async fn keep_up(world: &World, millis: i64) {
    while world.store.keep_up_code(at(millis)).await.unwrap() {}
}

/// The count of a workspace as the rows give it.
async fn counted_anew(world: &World, workspace: WorkspaceId) -> i64 {
    let sql = "SELECT CAST(\
        (SELECT coalesce(sum(size + 128), 0) FROM code_files WHERE workspace_id = $1) \
        + (SELECT coalesce(sum(length(path) + 64), 0) FROM code_refs WHERE workspace_id = $2) \
        + (SELECT coalesce(sum(stored_bytes), 0) FROM app_versions WHERE workspace_id = $3) \
        + (SELECT coalesce(sum(stored_bytes), 0) FROM imports WHERE workspace_id = $4) AS bigint)";
    world.query_scalar(sql, vec![Value::from(workspace.uuid()); 4]).await
}

async fn assert_consistent(world: &World) {
    let counted = counted_anew(world, world.workspace).await;
    assert_eq!(bytes(world).await, u64::try_from(counted).unwrap());
    let unused = "code_files f WHERE NOT EXISTS (SELECT 1 FROM code_refs r WHERE r.workspace_id = f.workspace_id \
                  AND r.digest = f.digest)";
    assert_eq!(world.count(unused).await, 0, "a file that nothing has");
    let lost = "code_refs r WHERE NOT EXISTS (SELECT 1 FROM code_files f WHERE r.workspace_id = f.workspace_id \
                AND r.digest = f.digest)";
    assert_eq!(world.count(lost).await, 0, "a file that is gone");
}

async fn the_same_file_is_stored_once(database: Database) {
    let world = World::new(database).await;
    let large = "x".repeat(300_000);
    let first = publish(&world, world.app, 2, files(&[("main.js", "1"), ("lib.js", &large)])).await;
    let before = bytes(&world).await;
    let second = publish(&world, world.app, 3, files(&[("main.js", "2"), ("lib/again.js", &large)])).await;
    let other = world.id();
    world.add_app(other, Sharing::Private).await;
    publish(&world, other, 1, files(&[("main.js", &large)])).await;
    assert!(bytes(&world).await - before < 3_000, "{}", bytes(&world).await - before);
    assert_eq!(world.count("code_files WHERE size = 300000").await, 1);
    assert_eq!(read(&world, world.app, first).await.1.files, files(&[("main.js", "1"), ("lib.js", &large)]));
    assert_eq!(
        read(&world, world.app, second).await.1.files,
        files(&[("main.js", "2"), ("lib/again.js", &large)])
    );
    assert_consistent(&world).await;

    // It stays while anything has it.
    world.write(async |tx| tx.delete_app(world.workspace, world.app, at(5)).await).await;
    assert_eq!(world.count("code_files").await, 1);
    assert_consistent(&world).await;
    world.write(async |tx| tx.delete_app(world.workspace, other, at(5)).await).await;
    assert_eq!(world.count("code_files").await, 0);
    assert_eq!(world.count("code_refs").await, 0);
    assert_consistent(&world).await;
}

async fn files_are_not_shared_between_workspaces(database: Database) {
    let world = World::new(database).await;
    let workspace = world.id();
    world.add_workspace(workspace, "other").await;
    let app = ::apps::App { workspace, ..world.app_of(world.id(), Sharing::Private) };
    world.write(async |tx| tx.insert_app(&app).await).await;
    let secret = files(&[("main.js", &"s".repeat(10_000))]);
    publish(&world, world.app, 2, secret.clone()).await;
    let version = AppVersion { workspace, ..world.version_of(app.id, world.id(), 1) };
    let content = VersionContent { manifest: world.manifest(), files: secret };
    world.write(async |tx| tx.insert_version(&version, &content).await).await;
    assert!(world.store.stored_code_bytes(workspace).await.unwrap() > 10_000);
    assert_eq!(world.count("code_files WHERE size = 10000").await, 2);
}

/// Gives the workspace the smallest plan, and leaves so many bytes of it.
async fn leave(world: &World, left: i64) {
    world.execute("UPDATE workspaces SET plan = 'free'", Vec::new()).await;
    let full = (50 << 20) - left;
    world.execute("UPDATE workspace_code SET bytes = $1", vec![Value::from(full)]).await;
}

async fn what_does_not_fit_into_the_plan_is_refused(database: Database) {
    let world = World::new(database).await;
    leave(&world, 10_000).await;
    let text = "x".repeat(20_000);
    let refused = try_publish(&world, world.app, 2, files(&[("main.js", &text)])).await;
    assert!(
        matches!(refused, Err(StoreError::StorageFull { max_bytes }) if max_bytes == 50 << 20),
        "{refused:?}"
    );
    assert_eq!(world.count("app_versions").await, 1);
    let draft = |text: &str| Draft {
        workspace: world.workspace,
        app: world.app,
        owner: world.user,
        base: None,
        files: files(&[("main.js", text)]),
        saved_at: at(0),
        expires_at: at(1_000),
    };
    let save = async |text: &str| {
        let draft = draft(text);
        world.try_write(async |tx| tx.save_draft(&draft).await).await
    };
    let refused = save(&text).await;
    assert!(matches!(refused, Err(StoreError::StorageFull { .. })), "{refused:?}");
    assert_eq!(world.count("app_drafts").await, 0);
    // What fits is taken, and what becomes smaller always is.
    save(&"y".repeat(5_000)).await.unwrap();
    leave(&world, -100_000).await;
    save(&"z".repeat(4_000)).await.unwrap();
    let refused = save(&"z".repeat(4_001)).await;
    assert!(matches!(refused, Err(StoreError::StorageFull { .. })), "{refused:?}");
    world.execute("UPDATE workspaces SET plan = 'maker'", Vec::new()).await;
    save(&text).await.unwrap();
}

async fn at_the_limit_permissions_can_still_be_taken_away(database: Database) {
    let world = World::new(database).await;
    let code = files(&[("main.js", &"x".repeat(9_000))]);
    publish(&world, world.app, 2, code.clone()).await;
    leave(&world, -1_000).await;
    // The same files with another manifest, as a planned change writes them.
    try_publish(&world, world.app, 3, code.clone()).await.unwrap();
    leave(&world, -(1 << 20)).await;
    let refused = try_publish(&world, world.app, 4, code).await;
    assert!(matches!(refused, Err(StoreError::StorageFull { .. })), "{refused:?}");
}

/// Publishes versions up to this number, each with a file of its own.
async fn publish_up_to(world: &World, last: u32) -> Vec<VersionId> {
    let mut versions = vec![world.version];
    for number in 2..=last {
        let code = files(&[("main.js", &format!("export default {number}")), ("shared.js", "shared")]);
        versions.push(publish(world, world.app, number, code).await);
    }
    versions
}

async fn runnable(world: &World) -> BTreeSet<u32> {
    let listed = world.store.versions(world.workspace, world.app, PAGE).await.unwrap();
    listed.into_iter().filter(|version| version.is_runnable).map(|version| version.number).collect()
}

async fn versions_that_nothing_needs_lose_their_files(database: Database) {
    let world = World::new(database).await;
    let versions = publish_up_to(&world, KEPT_VERSIONS).await;
    keep_up(&world, 100).await;
    assert_eq!(runnable(&world).await.len(), 50);
    let more = publish(&world, world.app, 51, files(&[("main.js", "51")])).await;
    publish(&world, world.app, 52, files(&[("main.js", "52")])).await;
    keep_up(&world, 100).await;
    assert_eq!(runnable(&world).await, (3..=52).collect());
    let (pruned, content) = read(&world, world.app, versions[1]).await;
    assert!(!pruned.is_runnable && content.files.is_empty());
    assert_eq!(content.manifest, world.manifest(), "what it may do is kept");
    assert_eq!(read(&world, world.app, versions[2]).await.1.files["shared.js"], "shared");
    assert_eq!(read(&world, world.app, more).await.1.files["main.js"], "51");
    assert_consistent(&world).await;
    assert_eq!(world.count("code_prunes").await, 0);
    world
        .write(async |tx| {
            for (version, is_there) in [(versions[1], false), (versions[2], true)] {
                let (workspace, app) = (world.workspace, world.app);
                assert_eq!(tx.has_version_files(workspace, app, version).await?, is_there);
                assert_eq!(tx.lock_version_files(workspace, app, version).await?, is_there);
                assert!(!tx.has_version_files(workspace, world.id(), version).await?);
                assert!(!tx.lock_version_files(world.id(), app, version).await?);
            }
            Ok(())
        })
        .await;
    // A version of a deleted app has nothing to prune, and is not looked for again.
    publish(&world, world.app, 53, files(&[("main.js", "53")])).await;
    world.write(async |tx| tx.delete_app(world.workspace, world.app, at(5)).await).await;
    keep_up(&world, 200).await;
    assert_eq!((world.count("code_prunes").await, world.count("code_files").await), (0, 0));
    assert_consistent(&world).await;
}

async fn versions_that_something_names_keep_their_files(database: Database) {
    let world = World::new(database).await;
    let versions = publish_up_to(&world, 58).await;
    // The app is at version 1, a draft began from 2, a dead letter has 3, and runs that have not ended 4.
    world.publish(world.app, Some(versions[0]), false).await;
    let draft = Draft {
        workspace: world.workspace,
        app: world.app,
        owner: world.user,
        base: Some(versions[1]),
        files: files(&[("main.js", "draft")]),
        saved_at: at(0),
        expires_at: at(1_000),
    };
    world.write(async |tx| tx.save_draft(&draft).await).await;
    let uuid = |version: VersionId| Value::from(version.uuid());
    let ids = || {
        vec![
            Value::from(world.id::<kernel::id::kind::Run>().uuid()),
            Value::from(world.workspace.uuid()),
            Value::from(world.app.uuid()),
        ]
    };
    for (state, version) in [("open", versions[2]), ("replayed", versions[4])] {
        let mut values = ids();
        values.extend([uuid(version), Value::from(state)]);
        world
            .execute(
                "INSERT INTO dead_letters (id, workspace_id, app_id, version_id, state, kind, trigger_kind, reason, message, \
                 attempt, payload_bytes, created_at) VALUES ($1, $2, $3, $4, $5, 'run', 'manual', 'x', 'x', 1, 0, 0)",
                values,
            )
            .await;
    }
    for (is_queued, version) in [(true, versions[3]), (false, versions[5])] {
        let mut values = ids();
        values.push(uuid(version));
        let run = values[0].clone();
        world
            .execute(
                "INSERT INTO runs (id, workspace_id, app_id, version_id, trigger_kind, status, accepted_at, attempt, minutes_saved) \
                 VALUES ($1, $2, $3, $4, 'manual', 'queued', 0, 1, 0)",
                values,
            )
            .await;
        if is_queued {
            world
                .execute(
                    "INSERT INTO run_queue (run_id, workspace_id, state, available_at, attempt) VALUES ($1, $2, 1, 0, 1)",
                    vec![run, Value::from(world.workspace.uuid())],
                )
                .await;
        }
    }
    keep_up(&world, 100).await;
    let kept: BTreeSet<u32> = [1, 2, 3, 4].into_iter().chain(9..=58).collect();
    assert_eq!(runnable(&world).await, kept);
    assert_consistent(&world).await;

    // They are looked at again later: nothing names them any more.
    world.execute("DELETE FROM run_queue", Vec::new()).await;
    world.execute("UPDATE dead_letters SET state = 'discarded'", Vec::new()).await;
    world.write(async |tx| tx.delete_draft(world.workspace, world.app, world.user).await).await;
    let hour = 3_600_000;
    keep_up(&world, hour / 2).await;
    assert_eq!(runnable(&world).await, kept);
    keep_up(&world, hour + 100).await;
    assert_eq!(runnable(&world).await, [1].into_iter().chain(9..=58).collect());
    assert_consistent(&world).await;
}

async fn a_version_in_use_is_not_pruned_meanwhile(database: Database) {
    let world = World::new(database).await;
    let versions = publish_up_to(&world, 52).await;
    // A replay that has found the version holds it until its run is there.
    let mut replay = world.store.begin().await.unwrap();
    assert!(replay.lock_version_files(world.workspace, world.app, versions[1]).await.unwrap());
    let store = world.store.clone();
    let pruning = tokio::spawn(async move { while store.keep_up_code(at(100)).await.unwrap() {} });
    let entry = ::runs::queue::NewRun {
        id: world.id(),
        workspace: world.workspace,
        app: world.app,
        automation: None,
        trigger: ::runs::TriggerKind::Manual,
        input: crate::harness::json("null"),
        at: at(50),
        scheduled_for: None,
        max_concurrency: None,
        version: Some(versions[1]),
        replay_of: None,
        by_agent: false,
        agent: None,
        is_on_hold: false,
    };
    ::runs::RunsTx::enqueue(&mut replay, &entry).await.unwrap();
    kernel::UnitOfWork::audit(&mut replay, world.context().audit_entry("session.create"));
    kernel::UnitOfWork::commit(Box::new(replay)).await.unwrap();
    pruning.await.unwrap();
    assert_eq!(runnable(&world).await, (2..=52).collect());
}

async fn the_count_holds_whatever_happens(database: Database) {
    let world = World::new(database).await;
    let random = SeededRandomness::new(20_261_128);
    let mut dice = {
        let mut drawn = [0; 4096];
        random.fill(&mut drawn);
        drawn.into_iter().cycle()
    };
    let mut roll = |sides: u8| dice.next().unwrap_or_default() % sides;
    let mut apps: Vec<(AppId, u32)> = Vec::new();
    let mut people: Vec<UserId> = vec![world.user];
    people.push(world.add_person("dana").await);
    for step in 0..160_i64 {
        let mut code = Files::new();
        for name in 0..=roll(4) {
            let length = usize::from(roll(5)) * 500 + 1;
            code.insert(format!("f{name}.js"), char::from(b'a' + roll(3)).to_string().repeat(length));
        }
        let kind = roll(10);
        let chosen = if apps.is_empty() { 0 } else { usize::from(roll(250)) % apps.len() };
        if apps.is_empty() || kind == 0 {
            let app = world.id();
            world.add_app(app, Sharing::Private).await;
            apps.push((app, 0));
        } else if kind <= 4 {
            let (app, number) = &mut apps[chosen];
            // So that there is something to prune.
            *number += 1;
            if *number == 3 {
                *number = 52;
            }
            publish(&world, *app, *number, code).await;
        } else if kind <= 7 {
            let draft = Draft {
                workspace: world.workspace,
                app: apps[chosen].0,
                owner: people[usize::from(roll(2))],
                base: None,
                files: code,
                saved_at: at(step),
                expires_at: at(step + 20),
            };
            world.write(async |tx| tx.save_draft(&draft).await).await;
        } else if kind == 8 {
            let (app, owner) = (apps[chosen].0, people[usize::from(roll(2))]);
            world.write(async |tx| tx.delete_draft(world.workspace, app, owner).await).await;
        } else if roll(4) == 0 {
            let (app, _) = apps.swap_remove(chosen);
            world.write(async |tx| tx.delete_app(world.workspace, app, at(step)).await).await;
        } else {
            world.store.delete_expired(at(step)).await.unwrap();
            keep_up(&world, step).await;
        }
        if step % 8 == 7 {
            assert_consistent(&world).await;
        }
    }
    for (app, _) in apps {
        world.write(async |tx| tx.delete_app(world.workspace, app, at(500)).await).await;
    }
    world.write(async |tx| tx.delete_app(world.workspace, world.app, at(500)).await).await;
    assert_consistent(&world).await;
    assert_eq!((world.count("code_files").await, world.count("code_refs").await), (0, 0));
}

async fn two_publications_of_one_file_store_it_once(database: Database) {
    let world = World::new(database).await;
    let mut apps = Vec::new();
    for _ in 0..6 {
        let app = world.id();
        world.add_app(app, Sharing::Private).await;
        apps.push(app);
    }
    let code = files(&[("main.js", &"same".repeat(1_000)), ("b.js", "b")]);
    // Some publish what others delete at the same time.
    for round in 0..4_u32 {
        let publications = apps[..3].iter().map(|app| {
            let (code, world) = (code.clone(), &world);
            async move { try_publish(world, *app, round + 1, code).await.unwrap() }
        });
        let drafts = apps[3..].iter().map(|app| {
            let draft = Draft {
                workspace: world.workspace,
                app: *app,
                owner: world.user,
                base: None,
                files: code.clone(),
                saved_at: at(0),
                expires_at: at(1_000),
            };
            let world = &world;
            async move {
                world.write(async |tx| tx.save_draft(&draft).await).await;
                world.write(async |tx| tx.delete_draft(draft.workspace, draft.app, draft.owner).await).await;
            }
        });
        let both =
            futures::future::join(futures::future::join_all(publications), futures::future::join_all(drafts));
        let (published, _) = both.await;
        for (app, version) in apps.iter().zip(published) {
            assert_eq!(read(&world, *app, version).await.1.files, code);
        }
        assert_consistent(&world).await;
    }
}

/// Makes the database one of an earlier release: nothing is stored apart.
async fn as_of_an_earlier_release(world: &World) {
    world.execute("DELETE FROM breaking_migrations", Vec::new()).await;
    world.execute("DELETE FROM code_files", Vec::new()).await;
    world.execute("DELETE FROM code_refs", Vec::new()).await;
    world.execute("DELETE FROM workspace_code", Vec::new()).await;
    let inline = "UPDATE app_versions SET stored_bytes = NULL, files = '{\"main.js\":\"export default {}\"}'";
    world.execute(inline, Vec::new()).await;
}

async fn code_of_earlier_releases_is_moved(database: Database) {
    let world = World::new(database).await;
    as_of_an_earlier_release(&world).await;
    let (gone, other) = (world.id(), world.id());
    world.add_app(gone, Sharing::Private).await;
    world.add_app(other, Sharing::Private).await;
    let mut versions = Vec::new();
    for number in 2..=120 {
        let code = files(&[("main.js", &format!("{number}")), ("shared.js", &"s".repeat(5_000))]);
        versions.push(publish(&world, world.app, number, code).await);
    }
    publish(&world, gone, 1, files(&[("main.js", "gone")])).await;
    world.write(async |tx| tx.delete_app(world.workspace, gone, at(5)).await).await;
    publish(&world, other, 1, files(&[("main.js", &"s".repeat(5_000))])).await;
    assert_eq!(bytes(&world).await, 0);

    // For a day, nothing changes.
    keep_up(&world, 0).await;
    let day = TimeDelta::days(1).num_milliseconds();
    keep_up(&world, day - 1).await;
    assert_eq!((world.count("code_files").await, bytes(&world).await), (0, 0));
    assert_eq!(world.count("app_versions WHERE files = ''").await, 0);
    keep_up(&world, day).await;
    assert_eq!(world.count("app_versions WHERE stored_bytes IS NULL").await, 0);
    assert_eq!(world.count("app_versions WHERE files <> ''").await, 0);
    assert_eq!(world.count("code_files WHERE size = 5000").await, 1);
    assert_eq!(world.count("breaking_migrations WHERE version = 'm0071_code_files'").await, 1);
    assert_eq!(runnable(&world).await, (71..=120).collect());
    assert_eq!(read(&world, world.app, versions[118]).await.1.files["main.js"], "120");
    assert!(bytes(&world).await > 5_000);
    assert_consistent(&world).await;
    // Nothing is left to do.
    assert!(!world.store.keep_up_code(at(day)).await.unwrap());
}

async fn unreadable_versions_of_earlier_releases_stop_no_others(database: Database) {
    let world = World::new(database).await;
    as_of_an_earlier_release(&world).await;
    for number in 2..=130 {
        publish(&world, world.app, number, files(&[("main.js", "code")])).await;
    }
    world.execute("UPDATE app_versions SET files = '{' WHERE number <= 105", Vec::new()).await;
    keep_up(&world, 0).await;
    keep_up(&world, TimeDelta::days(1).num_milliseconds()).await;
    assert_eq!(world.count("app_versions WHERE stored_bytes IS NULL").await, 105);
    assert_eq!(world.count("app_versions WHERE stored_bytes IS NULL AND number > 105").await, 0);
}

async fn older_nodes_can_read_versions_during_an_upgrade(database: Database) {
    let world = World::new(database).await;
    as_of_an_earlier_release(&world).await;
    let code = files(&[("main.js", "as it was")]);
    let version = publish(&world, world.app, 2, code.clone()).await;
    let draft = Draft {
        workspace: world.workspace,
        app: world.app,
        owner: world.user,
        base: None,
        files: code.clone(),
        saved_at: at(0),
        expires_at: at(1_000),
    };
    world.write(async |tx| tx.save_draft(&draft).await).await;
    let inline: Files = BTreeMap::from([("main.js".to_owned(), "as it was".to_owned())]);
    let stored: String = world
        .query_scalar("SELECT files FROM app_versions WHERE id = $1", vec![Value::from(version.uuid())])
        .await;
    assert_eq!(serde_json::from_str::<Files>(&stored).unwrap(), inline);
    let stored: String = world.query_scalar("SELECT files FROM app_drafts", Vec::new()).await;
    assert_eq!(serde_json::from_str::<Files>(&stored).unwrap(), inline);
    assert_eq!(read(&world, world.app, version).await.1.files, code);
    // A draft of before is replaced by one whose files are stored apart.
    let day = TimeDelta::days(1).num_milliseconds();
    keep_up(&world, 0).await;
    keep_up(&world, day).await;
    let found = world.store.draft(world.workspace, world.app, world.user, at(5)).await.unwrap();
    assert_eq!(found.as_ref(), Some(&draft));
    world.write(async |tx| tx.save_draft(&draft).await).await;
    let found = world.store.draft(world.workspace, world.app, world.user, at(5)).await.unwrap();
    assert_eq!(found, Some(draft));
    assert_consistent(&world).await;
}
