//! The caller cache, and how soon changes reach it.

use std::time::{Duration, Instant};

use ::apps::{App, AppsRead as _, AppsTx as _};
use ::identity::{
    IdentityRead as _, IdentityTx as _,
    oauth::{AccessToken, AgentAccess, ClientKind, ClientSnapshot, Grant, OAuthRead as _, OAuthTx as _},
    tokens::Token,
};
use ::workspace::{WorkspaceRead as _, WorkspaceTx as _, workspaces::deletion::DeletionTx as _};
use kernel::{
    authority::{Role, Sharing},
    caller::{Scope, Scopes},
    token::{Digest, Peppers, TokenHint},
    vault::MasterKeys,
};

use crate::{
    contract,
    harness::{Database, World, at},
};

contract!(
    a_revocation_holds_at_once_here_and_within_a_second_elsewhere,
    a_role_is_narrowed_at_once_here_and_within_a_second_elsewhere,
    what_was_undone_is_not_forgotten_nor_told,
    a_known_token_costs_no_look_at_the_database,
    an_agent_is_out_at_once_here_and_within_a_second_elsewhere,
    a_known_agent_costs_no_look_at_the_database,
    an_app_changes_at_once_here_and_within_a_second_elsewhere,
    a_known_app_costs_no_look_at_the_database,
);

fn digests(text: &str) -> Vec<Digest> {
    Peppers::derive(&MasterKeys::new(vec![[1; 32]]).unwrap()).candidate_digests(text).collect()
}

async fn add_token(world: &World) -> Token {
    let token = Token {
        id: world.id(),
        workspace: world.workspace,
        user: world.user,
        name: "ci".to_owned(),
        scopes: Scopes::new(&[Scope::Read]).unwrap(),
        hint: TokenHint { prefix: "qat_abcd".to_owned(), last4: "wxyz".to_owned() },
        created_at: at(0),
        last_used_at: None,
        expires_at: None,
        revoked_at: None,
    };
    let written = token.clone();
    world.write(async |tx| tx.insert_token(&written, &digests("secret")[0]).await).await;
    token
}

/// Returns the time that passes until `holds`; a test that waits for long fails.
async fn wait_until(holds: impl AsyncFn() -> bool) -> Duration {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < Duration::from_secs(20), "it never happens");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    begun.elapsed()
}

async fn a_revocation_holds_at_once_here_and_within_a_second_elsewhere(database: Database) {
    let world = World::new(database).await;
    let elsewhere = world.database.open().await;
    let token = add_token(&world).await;
    for store in [&world.store, &elsewhere] {
        for _ in 0..2 {
            assert_eq!(store.token_by_digest(&digests("secret")).await.unwrap().as_ref(), Some(&token));
        }
    }
    world.write(async |tx| tx.revoke_token(token.workspace, token.user, token.id, at(5)).await).await;
    let revoked = async |store: &adapter_store::Store| {
        let found = store.token_by_digest(&digests("secret")).await.unwrap().unwrap();
        found.revoked_at == Some(at(5))
    };
    assert!(revoked(&world.store).await);
    let took = wait_until(async || revoked(&elsewhere).await).await;
    // What is promised is a second; a busy machine may be late to notice.
    assert!(took < Duration::from_secs(5), "{took:?}");
}

async fn a_role_is_narrowed_at_once_here_and_within_a_second_elsewhere(database: Database) {
    let world = World::new(database).await;
    let elsewhere = world.database.open().await;
    let role = async |store: &adapter_store::Store| {
        let fact = store.membership(world.workspace, world.user).await.unwrap();
        fact.map(|fact| fact.role)
    };
    assert_eq!((role(&world.store).await, role(&elsewhere).await), (Some(Role::Owner), Some(Role::Owner)));
    world.write(async |tx| tx.upsert_member(world.workspace, world.user, Role::Viewer, at(9)).await).await;
    assert_eq!(role(&world.store).await, Some(Role::Viewer));
    wait_until(async || role(&elsewhere).await == Some(Role::Viewer)).await;
}

async fn what_was_undone_is_not_forgotten_nor_told(database: Database) {
    let world = World::new(database).await;
    let token = add_token(&world).await;
    let before = world.count("caller_changes").await;
    let mut tx = world.store.begin().await.unwrap();
    tx.revoke_token(token.workspace, token.user, token.id, at(5)).await.unwrap();
    drop(tx);
    assert_eq!(world.store.token_by_digest(&digests("secret")).await.unwrap(), Some(token));
    assert_eq!(world.count("caller_changes").await, before);
}

async fn a_known_token_costs_no_look_at_the_database(database: Database) {
    let world = World::new(database).await;
    let token = add_token(&world).await;
    assert_eq!(world.store.token_by_digest(&digests("secret")).await.unwrap().as_ref(), Some(&token));
    // Behind the store's back, so that only a look at the database could tell.
    world.execute("DELETE FROM tokens", Vec::new()).await;
    assert_eq!(world.store.token_by_digest(&digests("secret")).await.unwrap(), Some(token));
}

/// A grant with two access tokens, stored under these secrets.
async fn add_agent(world: &World, secrets: [&str; 2]) -> (Grant, [AccessToken; 2]) {
    let grant = Grant {
        id: world.id(),
        workspace: world.workspace,
        user: world.user,
        client: ClientSnapshot {
            id: "qac_1".to_owned(),
            kind: ClientKind::Registered,
            name: "Agent".to_owned(),
            host: None,
        },
        access: AgentAccess::Read,
        audience: "https://qala.example/mcp".to_owned(),
        created_at: at(0),
        last_used_at: None,
        expires_at: at(1_000_000),
        revoked_at: None,
    };
    let tokens = [(); 2].map(|()| AccessToken {
        id: world.id(),
        grant: grant.id,
        workspace: world.workspace,
        access: AgentAccess::Read,
        hint: TokenHint { prefix: "qao_abcd".to_owned(), last4: "wxyz".to_owned() },
        created_at: at(0),
        expires_at: at(3_600_000),
    });
    let written = (grant.clone(), tokens.clone());
    world
        .write(async |tx| {
            tx.insert_grant(&written.0).await?;
            for (token, secret) in written.1.iter().zip(secrets) {
                tx.insert_access_token(token, &digests(secret)[0]).await?;
            }
            Ok(())
        })
        .await;
    (grant, tokens)
}

async fn an_agent_is_out_at_once_here_and_within_a_second_elsewhere(database: Database) {
    let world = World::new(database).await;
    let elsewhere = world.database.open().await;
    let (grant, [first, second]) = add_agent(&world, ["first", "second"]).await;
    let found = async |store: &adapter_store::Store, secret: &str| {
        store.access_token_by_digest(&digests(secret)).await.unwrap()
    };
    for store in [&world.store, &elsewhere] {
        for _ in 0..2 {
            assert_eq!(found(store, "first").await, Some((first.clone(), grant.clone())));
            assert_eq!(found(store, "second").await, Some((second.clone(), grant.clone())));
        }
    }

    // One token is given back, and the other stays.
    world.write(async |tx| tx.delete_access_token(world.workspace, first.id).await).await;
    assert_eq!(found(&world.store, "first").await, None);
    assert_eq!(world.store.access_token_of(world.workspace, first.id).await.unwrap(), None);
    let took = wait_until(async || found(&elsewhere, "first").await.is_none()).await;
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(found(&elsewhere, "second").await.is_some());

    // A refresh puts off the end of all of them.
    world.write(async |tx| tx.extend_grant(world.workspace, grant.id, at(2_000_000)).await).await;
    let end = async |store: &adapter_store::Store| found(store, "second").await.unwrap().1.expires_at;
    assert_eq!(end(&world.store).await, at(2_000_000));
    wait_until(async || end(&elsewhere).await == at(2_000_000)).await;

    // The end of the grant is the end of what is left, by either way.
    world.write(async |tx| tx.revoke_grant(world.workspace, grant.id, at(5)).await).await;
    let ended = async |store: &adapter_store::Store, secret: &str| {
        found(store, secret).await.unwrap().1.revoked_at == Some(at(5))
    };
    assert!(ended(&world.store, "second").await);
    let took = wait_until(async || ended(&elsewhere, "second").await).await;
    assert!(took < Duration::from_secs(5), "{took:?}");

    add_agent(&world, ["third", "fourth"]).await;
    for store in [&world.store, &elsewhere] {
        assert!(!ended(store, "third").await);
    }
    world.write(async |tx| tx.revoke_grants(world.workspace, world.user, at(5)).await).await;
    assert!(ended(&world.store, "third").await);
    let took = wait_until(async || ended(&elsewhere, "third").await).await;
    assert!(took < Duration::from_secs(5), "{took:?}");
}

async fn a_known_agent_costs_no_look_at_the_database(database: Database) {
    let world = World::new(database).await;
    let (grant, [token, _]) = add_agent(&world, ["first", "second"]).await;
    let found = async || world.store.access_token_by_digest(&digests("first")).await.unwrap();
    assert!(found().await.is_some());
    // Behind the store's back, so that only a look at the database could tell.
    world.execute("DELETE FROM oauth_access_tokens", Vec::new()).await;
    world.execute("DELETE FROM oauth_grants", Vec::new()).await;
    assert_eq!(found().await, Some((token.clone(), grant.clone())));
    let by_id = world.store.access_token_of(world.workspace, token.id).await.unwrap();
    assert_eq!(by_id, Some((token.clone(), grant)));
    assert_eq!(
        world.store.access_token_of(world.id(), token.id).await.unwrap(),
        None,
        "of its workspace only"
    );
}

async fn an_app_changes_at_once_here_and_within_a_second_elsewhere(database: Database) {
    let world = World::new(database).await;
    let elsewhere = world.database.open().await;
    let first = world.store.app(world.workspace, world.app).await.unwrap().unwrap();
    let version = world.id();
    world.add_version(world.app, version, 2, world.manifest()).await;
    let seen = async |store: &adapter_store::Store| store.app_by_slug(&first.slug).await.unwrap();
    let changed_to = async |expected: Option<App>| {
        assert_eq!(seen(&world.store).await, expected);
        wait_until(async || seen(&elsewhere).await == expected).await;
    };
    changed_to(Some(first.clone())).await;
    let published = App { current_version: Some(version), ..first.clone() };
    world.publish(world.app, Some(version), false).await;
    changed_to(Some(published.clone())).await;
    world.publish(world.app, Some(world.version), false).await;
    changed_to(Some(first.clone())).await;
    world.publish(world.app, Some(version), true).await;
    changed_to(Some(App { is_paused: true, ..published.clone() })).await;
    let renamed = App { name: "Bills".to_owned(), ..published };
    world.write(async |tx| tx.update_app(&renamed).await).await;
    changed_to(Some(renamed.clone())).await;
    world.write(async |tx| tx.replace_access(world.workspace, world.app, Sharing::Team, &[]).await).await;
    let shared = App { sharing: Sharing::Team, ..renamed };
    changed_to(Some(shared.clone())).await;

    let owner = world.user;
    world.write(async |tx| tx.mark_workspace_deleted(world.workspace, at(9), owner).await).await;
    changed_to(None).await;
    world.write(async |tx| tx.unmark_workspace_deleted(world.workspace).await).await;
    changed_to(Some(shared)).await;
    world.write(async |tx| tx.delete_app(world.workspace, world.app, at(9)).await).await;
    changed_to(None).await;
}

async fn a_known_app_costs_no_look_at_the_database(database: Database) {
    let world = World::new(database).await;
    let app = world.store.app(world.workspace, world.app).await.unwrap().unwrap();
    let seen = async || world.store.app_by_slug(&app.slug).await.unwrap();
    // Behind the store's back, as an earlier version does while nodes are replaced: only a look at the database could tell.
    let mut known = None;
    for _ in 0..20 {
        world.execute("UPDATE apps SET deleted_at = NULL", Vec::new()).await;
        wait_until(async || seen().await.as_ref() == Some(&app)).await;
        assert!(world.store.workspace(world.workspace).await.unwrap().is_some());
        world.execute("UPDATE apps SET deleted_at = 5", Vec::new()).await;
        known = seen().await;
        // On a slow machine, or with an entry from before, the second may be over.
        if known.is_some() {
            break;
        }
    }
    assert_eq!(known, Some(app.clone()));
    // And no longer than a change of another node would go unnoticed.
    wait_until(async || seen().await.is_none()).await;
}
