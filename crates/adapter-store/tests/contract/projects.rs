//! Backend projects and their keys.

use ::projects::{
    KeyKind, KeyScope, Project, ProjectFact, ProjectKey, ProjectsRead as _, ProjectsTx as _, Settings,
    identity_provider::IdentityProvider,
    ports::{KeyUsageWriter as _, TrafficLog as _},
    projects::ProjectSummary,
    traffic::{MINUTE_MS, RequestCount, RequestRecord, TrafficMetrics, latency_bucket},
};
use kernel::{
    StoreError,
    id::ProjectId,
    page::PageRequest,
    token::{Digest, Peppers, TokenHint},
    vault::MasterKeys,
};

use crate::{
    contract,
    harness::{Database, World, at},
};

contract!(
    a_project_is_read_as_it_was_written,
    a_key_is_found_under_any_pepper,
    only_the_projects_own_workspace_revokes,
    live_keys_are_counted,
    the_last_use_of_a_key_never_goes_back,
    settings_are_of_the_projects_own_workspace,
    requests_are_kept_and_their_counts_add_up,
);

/// The first requests of a list.
fn first(limit: u32) -> PageRequest<u64> {
    PageRequest { limit, after: None }
}

fn digest(key: u8, secret: &str) -> Digest {
    Peppers::derive(&MasterKeys::new(vec![[key; 32]]).unwrap()).digest(secret)
}

fn project(world: &World, slug: &str) -> Project {
    Project {
        id: world.id(),
        workspace: world.workspace,
        name: "Shop".to_owned(),
        slug: slug.to_owned(),
        description: "Заказы".to_owned(),
        shard: 65_535,
        settings: Settings {
            allowed_origins: vec!["https://shop.example".to_owned()],
            identity: Some(IdentityProvider {
                issuer: "https://id.example".to_owned(),
                audience: "shop".to_owned(),
                role_claim: "role".to_owned(),
                claims: [("org".to_owned(), "https://corp.example/org".to_owned())].into(),
                keys: vec![serde_json::from_value(serde_json::json!({ "kty": "EC" })).unwrap()],
            }),
            ..Settings::default()
        },
        created_by: world.user,
        created_at: at(0),
    }
}

async fn add_project(world: &World, slug: &str) -> Project {
    let project = project(world, slug);
    world.write(async |tx| tx.insert_project(&project).await).await;
    project
}

async fn add_key(world: &World, project: ProjectId, secret: &str) -> ProjectKey {
    let key = ProjectKey {
        id: world.id(),
        project,
        name: "server".to_owned(),
        kind: KeyKind::Secret,
        scopes: [KeyScope::RowsRead, KeyScope::SchemaWrite].into_iter().collect(),
        tables: Some(vec!["orders".to_owned()]),
        hint: TokenHint { prefix: "qk_sec_abcd".to_owned(), last4: "wxyz".to_owned() },
        created_by: world.user,
        created_at: at(0),
        last_used_at: None,
        revoked_at: None,
    };
    world.write(async |tx| tx.insert_project_key(&key, &digest(1, secret)).await).await;
    key
}

async fn a_project_is_read_as_it_was_written(database: Database) {
    let world = World::new(database).await;
    let first = add_project(&world, "shop-1").await;
    let second = add_project(&world, "shop-2").await;
    let summary = |project: &Project| ProjectSummary { project: project.clone(), key_count: 0 };
    let found = world.store.project(world.workspace, first.id).await.unwrap();
    assert_eq!(found, Some(summary(&first)));
    assert_eq!(world.store.project_by_key(first.id).await.unwrap(), Some(first.clone()));
    let list = world.store.projects(world.workspace).await.unwrap();
    assert_eq!(list, [summary(&second), summary(&first)]);
    let fact = ProjectFact { project: first.id, workspace: world.workspace, created_by: world.user };
    assert_eq!(world.store.project_fact(first.id).await.unwrap(), Some(fact));
    let elsewhere = world.id();
    assert_eq!(world.store.project(elsewhere, first.id).await.unwrap(), None);
    assert_eq!(world.store.projects(elsewhere).await.unwrap(), []);
    assert_eq!(world.store.project_by_key(world.id()).await.unwrap(), None);
    let twin = project(&world, "shop-1");
    let refused = world.try_write(async |tx| tx.insert_project(&twin).await).await;
    assert!(matches!(refused, Err(StoreError::Duplicate)), "{refused:?}");
    assert_eq!(world.write(async |tx| tx.count_projects(world.workspace).await).await, 2);
    assert_eq!(world.write(async |tx| tx.count_projects(elsewhere).await).await, 0);
}

async fn a_key_is_found_under_any_pepper(database: Database) {
    let world = World::new(database).await;
    let shop = add_project(&world, "shop").await;
    let key = add_key(&world, shop.id, "secret").await;
    let open = ProjectKey { id: world.id(), kind: KeyKind::Publishable, tables: None, ..key.clone() };
    world.write(async |tx| tx.insert_project_key(&open, &digest(1, "open")).await).await;
    let candidates = [digest(2, "secret"), digest(1, "secret")];
    assert_eq!(world.store.project_key_by_digest(&candidates).await.unwrap(), Some(key.clone()));
    assert_eq!(world.store.project_key_by_digest(&candidates[..1]).await.unwrap(), None);
    assert_eq!(world.store.project_key_by_digest(&[digest(1, "open")]).await.unwrap(), Some(open.clone()));
    let list = world.store.project_keys(world.workspace, shop.id).await.unwrap();
    assert_eq!(list, [open.clone(), key.clone()]);
    let page = async |workspace, after| {
        let page = PageRequest { limit: 1, after };
        world.store.project_key_page(workspace, shop.id, page).await.unwrap()
    };
    assert_eq!(page(world.workspace, None).await, [open.clone(), key.clone()], "one more than the limit");
    assert_eq!(page(world.workspace, Some(open.id.uuid())).await, [key]);
    assert_eq!(page(world.id(), None).await, []);
    assert_eq!(world.store.project_keys(world.id(), shop.id).await.unwrap(), []);
}

async fn only_the_projects_own_workspace_revokes(database: Database) {
    let world = World::new(database).await;
    let elsewhere = world.id();
    world.add_workspace(elsewhere, "elsewhere").await;
    let (shop, other) = (add_project(&world, "shop").await, add_project(&world, "other").await);
    let key = add_key(&world, shop.id, "secret").await;
    let revoke = async |workspace, project, moment| {
        world.write(async |tx| tx.revoke_project_key(workspace, project, key.id, moment).await).await
    };
    assert_eq!(revoke(elsewhere, shop.id, at(5)).await, None);
    assert_eq!(revoke(world.workspace, other.id, at(5)).await, None);
    let by_digest = async || world.store.project_key_by_digest(&[digest(1, "secret")]).await.unwrap();
    assert_eq!(by_digest().await, Some(key.clone()));
    for moment in [at(6), at(9)] {
        let revoked = ProjectKey { revoked_at: Some(at(6)), ..key.clone() };
        assert_eq!(revoke(world.workspace, shop.id, moment).await.as_ref(), Some(&revoked));
        assert_eq!(by_digest().await, Some(revoked));
    }
}

async fn live_keys_are_counted(database: Database) {
    let world = World::new(database).await;
    let (shop, empty) = (add_project(&world, "shop").await, add_project(&world, "empty").await);
    let keys = [add_key(&world, shop.id, "1").await, add_key(&world, shop.id, "2").await];
    let live = async || {
        let list = world.store.projects(world.workspace).await.unwrap();
        list.iter().map(|summary| summary.key_count).collect::<Vec<_>>()
    };
    assert_eq!(live().await, [0, 2]);
    world.write(async |tx| tx.revoke_project_key(world.workspace, shop.id, keys[0].id, at(1)).await).await;
    assert_eq!(live().await, [0, 1]);
    assert_eq!(world.write(async |tx| tx.count_active_keys(shop.id).await).await, 1);
    assert_eq!(world.write(async |tx| tx.count_active_keys(empty.id).await).await, 0);
}

async fn the_last_use_of_a_key_never_goes_back(database: Database) {
    let world = World::new(database).await;
    let shop = add_project(&world, "shop").await;
    let key = add_key(&world, shop.id, "secret").await;
    let used = async || {
        let keys = world.store.project_keys(world.workspace, shop.id).await.unwrap();
        keys[0].last_used_at
    };
    for (moment, expected) in [(50, 50), (40, 50), (60, 60)] {
        world.store.touch_keys(&[(key.id, at(moment))]).await.unwrap();
        assert_eq!(used().await, Some(at(expected)));
    }
    let moments = [70, 90, 80].map(|moment| (key.id, at(moment)));
    world.store.touch_keys(&moments).await.unwrap();
    assert_eq!(used().await, Some(at(90)));
}

async fn settings_are_of_the_projects_own_workspace(database: Database) {
    let world = World::new(database).await;
    let project = add_project(&world, "shop").await;
    let elsewhere = world.id();
    let other = Settings { max_body_kb: 7, identity: None, ..Settings::default() };
    world.write(async |tx| tx.set_project_settings(elsewhere, project.id, &other).await).await;
    assert_eq!(world.write(async |tx| tx.project_for_update(elsewhere, project.id).await).await, None);
    let found = world.write(async |tx| tx.project_for_update(world.workspace, project.id).await).await;
    assert_eq!(found, Some(project.clone()));
    world.write(async |tx| tx.set_project_settings(world.workspace, project.id, &other).await).await;
    let found = world.store.project_by_key(project.id).await.unwrap();
    assert_eq!(found.map(|project| project.settings), Some(other));
}

async fn requests_are_kept_and_their_counts_add_up(database: Database) {
    let world = World::new(database).await;
    let project = add_project(&world, "shop").await.id;
    let request = |millis, status, rows, error_code: Option<&str>| RequestRecord {
        project,
        at: at(millis),
        method: "GET".to_owned(),
        path: "/v1/projects/p/rest/notes".to_owned(),
        table: Some("notes".to_owned()),
        status,
        micros: 1_500,
        key: world.id(),
        rows,
        error_code: error_code.map(str::to_owned),
    };
    let count = |requests, errors, last| RequestCount {
        project,
        minute: at(0).timestamp_millis(),
        bucket: latency_bucket(1_500),
        requests,
        errors,
        last_at: at(last).timestamp_millis(),
    };
    let requests = [request(0, 200, Some(3), None), request(5, 404, None, Some("table_not_found"))];
    world.store.record_requests(&requests, &[count(2, 1, 5)]).await.unwrap();
    world.store.record_requests(&[], &[count(10, 0, 3)]).await.unwrap();
    let kept = world.store.project_requests(project, first(10)).await.unwrap();
    let kept: Vec<RequestRecord> = kept.into_iter().map(|kept| kept.request).collect();
    assert_eq!(kept, [requests[1].clone(), requests[0].clone()]);
    let newest = world.store.project_requests(project, first(1)).await.unwrap();
    assert_eq!(newest.len(), 2, "one more than the limit");
    let next = PageRequest { limit: 1, after: Some(newest[0].number) };
    assert_eq!(world.store.project_requests(project, next).await.unwrap(), newest[1..]);
    assert_eq!(world.store.project_requests(world.id(), first(10)).await.unwrap(), []);
    let begin = TrafficMetrics::window_start(at(0));
    let counts = world.store.project_request_counts(project, begin).await.unwrap();
    assert_eq!(counts, [count(12, 1, 5)]);
    assert_eq!(TrafficMetrics::from_counts(&counts, begin).total, 12);
    assert_eq!(
        world.store.project_request_counts(project, at(0).timestamp_millis() + MINUTE_MS).await.unwrap(),
        []
    );
    // What is old is taken away.
    let late = at(0) + chrono::TimeDelta::days(3);
    world.store.delete_expired(late).await.unwrap();
    assert_eq!(world.store.project_requests(project, first(10)).await.unwrap(), []);
    assert_eq!(world.store.project_request_counts(project, begin).await.unwrap(), []);
}
