//! Agent clients, what they ask, and what they were let into.

use chrono::TimeDelta;
use identity::oauth::{
    AccessToken, AgentAccess, Authorization, Client, ClientKind, ClientSnapshot, Grant, OAuthRead as _,
    OAuthTx as _, RefreshToken, Stage, authorizations::Allowed, grants::RefreshState, pkce::Challenge,
    ports::GrantUse as _,
};
use kernel::{
    StoreError,
    id::OAuthClientId,
    token::{Digest, Hint, Peppers},
    vault::MasterKeys,
};

use crate::{
    contract,
    harness::{Database, World, at},
};

contract! {
    a_registered_client_comes_back_as_it_was,
    an_authorization_keeps_each_stage_with_its_data,
    a_grants_tokens_are_found_with_it,
    a_grant_has_one_newest_refresh_token,
    grants_are_ended_by_workspace_and_person,
    the_last_use_of_a_grant_is_kept,
    what_agent_clients_leave_behind_is_swept,
}

fn digest(secret: &str) -> Digest {
    Peppers::derive(&MasterKeys::new(vec![[7; 32]]).unwrap()).digest(secret)
}

fn snapshot(id: &str) -> ClientSnapshot {
    ClientSnapshot { id: id.to_owned(), kind: ClientKind::Registered, name: "Agent".to_owned(), host: None }
}

fn client(id: OAuthClientId) -> Client {
    Client {
        who: snapshot(&id.to_string()),
        redirects: ["https://agent.example/cb", "http://localhost/cb"]
            .map(|uri| uri.parse().unwrap())
            .to_vec(),
        homepage_host: Some("agent.example".to_owned()),
    }
}

fn authorization(world: &World) -> Authorization {
    Authorization {
        id: world.id(),
        client: ClientSnapshot {
            id: "https://agent.example/client.json".to_owned(),
            kind: ClientKind::Metadata,
            name: "Агент".to_owned(),
            host: Some("agent.example".to_owned()),
        },
        homepage_host: None,
        redirect: "http://localhost:5000/cb".parse().unwrap(),
        state: Some("a state".to_owned()),
        challenge: Challenge::from_slice(&[3; 32]).unwrap(),
        audience: "https://qala.example/mcp".to_owned(),
        requested: AgentAccess::Write,
        created_at: at(0),
        expires_at: at(600_000),
        stage: Stage::Waiting,
    }
}

fn grant(world: &World, client: &str) -> Grant {
    Grant {
        id: world.id(),
        workspace: world.workspace,
        user: world.user,
        client: snapshot(client),
        access: AgentAccess::Read,
        audience: "https://qala.example/mcp".to_owned(),
        created_at: at(0),
        last_used_at: None,
        expires_at: at(1_000_000),
        revoked_at: None,
    }
}

fn refresh_token(world: &World, grant: &Grant) -> RefreshToken {
    RefreshToken {
        id: world.id(),
        grant: grant.id,
        workspace: grant.workspace,
        generation: 4,
        created_at: at(0),
        state: RefreshState::Newest,
    }
}

fn access_token(world: &World, grant: &Grant) -> AccessToken {
    AccessToken {
        id: world.id(),
        grant: grant.id,
        workspace: grant.workspace,
        access: AgentAccess::Read,
        hint: Hint { prefix: "qao_abcd".to_owned(), last4: "wxyz".to_owned() },
        created_at: at(0),
        expires_at: at(3_600_000),
    }
}

async fn a_registered_client_comes_back_as_it_was(database: Database) {
    let world = World::new(database).await;
    let id = world.id();
    let client = client(id);
    world.write(async |tx| tx.insert_client(id, &client, at(0)).await).await;
    assert_eq!(world.store.registered_client(id).await.unwrap(), Some(client));
    assert_eq!(world.store.registered_client(world.id()).await.unwrap(), None);
}

async fn an_authorization_keeps_each_stage_with_its_data(database: Database) {
    let world = World::new(database).await;
    let mut asked = authorization(&world);
    world.write(async |tx| tx.insert_authorization(&asked).await).await;
    let allowed = Allowed { by: world.user, workspace: world.workspace, access: AgentAccess::Read };
    let code = digest("code");
    for (stage, code) in [
        (Stage::Waiting, None),
        (Stage::Seen { by: world.user }, None),
        (Stage::Denied { by: world.user }, None),
        (Stage::Allowed { allowed, until: at(60_000) }, Some(&code)),
        // The code stays known, so that it is noticed when it comes again.
        (Stage::Redeemed { allowed, grant: world.id() }, None),
    ] {
        asked.stage = stage;
        world.write(async |tx| tx.set_stage(asked.id, &asked.stage, code).await).await;
        let found = world.write(async |tx| tx.authorization(asked.id).await).await;
        assert_eq!(found.as_ref(), Some(&asked));
    }
    let found = world.write(async |tx| tx.authorization_by_code(&[digest("other"), code]).await).await;
    assert_eq!(found, Some(asked));
    assert_eq!(world.write(async |tx| tx.authorization_by_code(&[digest("other")]).await).await, None);
}

async fn a_grants_tokens_are_found_with_it(database: Database) {
    let world = World::new(database).await;
    let grant = grant(&world, "qac_1");
    let (access, refresh) = (access_token(&world, &grant), refresh_token(&world, &grant));
    world
        .write(async |tx| {
            tx.insert_grant(&grant).await?;
            tx.insert_access_token(&access, &digest("access")).await?;
            tx.insert_refresh_token(&refresh, &digest("refresh")).await
        })
        .await;
    let pair = Some((access.clone(), grant.clone()));
    assert_eq!(world.store.access_token_by_digest(&[digest("access")]).await.unwrap(), pair);
    assert_eq!(world.store.access_token_by_digest(&[digest("refresh")]).await.unwrap(), None);
    assert_eq!(world.store.access_token_of(world.workspace, access.id).await.unwrap(), pair);
    assert_eq!(world.store.access_token_of(world.id(), access.id).await.unwrap(), None);
    assert_eq!(world.store.oauth_grants(world.workspace, world.user).await.unwrap(), [grant.clone()]);
    assert_eq!(world.store.oauth_grants(world.workspace, world.id()).await.unwrap(), []);

    let elsewhere = world.id();
    world
        .write(async |tx| {
            assert_eq!(tx.grant(elsewhere, grant.id).await?, None);
            assert_eq!(tx.grant(world.workspace, grant.id).await?.as_ref(), Some(&grant));
            assert_eq!(tx.access_token(&[digest("access")]).await?.as_ref(), Some(&access));
            assert_eq!(tx.refresh_token(&[digest("refresh")]).await?.as_ref(), Some(&refresh));
            tx.delete_access_token(elsewhere, access.id).await?;
            assert!(tx.access_token(&[digest("access")]).await?.is_some());
            tx.delete_access_token(world.workspace, access.id).await?;
            tx.renew_grant(elsewhere, grant.id, at(5)).await?;
            tx.renew_grant(world.workspace, grant.id, at(2_000_000)).await
        })
        .await;
    assert_eq!(world.store.access_token_by_digest(&[digest("access")]).await.unwrap(), None);
    let found = world.store.oauth_grants(world.workspace, world.user).await.unwrap();
    assert_eq!(found, [Grant { expires_at: at(2_000_000), ..grant }]);
}

async fn a_grant_has_one_newest_refresh_token(database: Database) {
    let world = World::new(database).await;
    let grant = grant(&world, "qac_1");
    let (first, second) = (refresh_token(&world, &grant), refresh_token(&world, &grant));
    world
        .write(async |tx| {
            tx.insert_grant(&grant).await?;
            tx.insert_refresh_token(&first, &digest("first")).await
        })
        .await;
    let taken = world.try_write(async |tx| tx.insert_refresh_token(&second, &digest("second")).await).await;
    assert!(matches!(taken, Err(StoreError::Duplicate)), "{taken:?}");
    world
        .write(async |tx| {
            tx.spend_refresh_token(world.workspace, first.id, at(9)).await?;
            tx.insert_refresh_token(&second, &digest("second")).await?;
            assert_eq!(tx.newest_refresh_token(world.workspace, grant.id).await?.as_ref(), Some(&second));
            let spent = tx.refresh_token(&[digest("first")]).await?;
            assert_eq!(spent.map(|token| token.state), Some(RefreshState::Spent { at: at(9) }));
            Ok(())
        })
        .await;
}

async fn grants_are_ended_by_workspace_and_person(database: Database) {
    let world = World::new(database).await;
    let (other, elsewhere) = (world.add_person("bek").await, world.id());
    world.add_workspace(elsewhere, "elsewhere").await;
    let (mine, ended) = (grant(&world, "qac_1"), grant(&world, "qac_2"));
    let theirs = Grant { user: other, ..grant(&world, "qac_3") };
    let away = Grant { workspace: elsewhere, ..grant(&world, "qac_4") };
    world
        .write(async |tx| {
            for grant in [&mine, &ended, &theirs, &away] {
                tx.insert_grant(grant).await?;
            }
            assert!(tx.revoke_grant(world.workspace, ended.id, at(1)).await?);
            assert!(!tx.revoke_grant(world.workspace, ended.id, at(2)).await?, "it keeps its first moment");
            assert!(!tx.revoke_grant(elsewhere, mine.id, at(2)).await?);
            assert_eq!(tx.revoke_grants(world.workspace, world.user, at(3)).await?, [mine.id]);
            assert_eq!(tx.revoke_grants(world.workspace, world.user, at(4)).await?, []);
            Ok(())
        })
        .await;
    let ends = async |workspace, user| {
        let grants = world.store.oauth_grants(workspace, user).await.unwrap();
        grants.into_iter().map(|grant| grant.revoked_at).collect::<Vec<_>>()
    };
    assert_eq!(ends(world.workspace, world.user).await, [Some(at(1)), Some(at(3))], "newest first");
    assert_eq!(ends(world.workspace, other).await, [None]);
    assert_eq!(ends(elsewhere, world.user).await, [None]);
}

async fn the_last_use_of_a_grant_is_kept(database: Database) {
    let world = World::new(database).await;
    let grants = [grant(&world, "qac_1"), grant(&world, "qac_2"), grant(&world, "qac_3")];
    world
        .write(async |tx| {
            for grant in &grants {
                tx.insert_grant(grant).await?;
            }
            Ok(())
        })
        .await;
    let [first, second, _] = &grants;
    world.store.touch_grants(&[(first.id, at(5)), (second.id, at(6)), (first.id, at(9))]).await.unwrap();
    world.store.touch_grants(&[(first.id, at(7)), (world.id(), at(1))]).await.unwrap();
    let found = world.store.oauth_grants(world.workspace, world.user).await.unwrap();
    let uses: Vec<_> = found.into_iter().map(|grant| grant.last_used_at).collect();
    assert_eq!(uses, [None, Some(at(6)), Some(at(9))], "newest grant first");
}

async fn what_agent_clients_leave_behind_is_swept(database: Database) {
    let world = World::new(database).await;
    let [idle, used, ended]: [OAuthClientId; 3] = [world.id(), world.id(), world.id()];
    let live = Grant { expires_at: at(0) + TimeDelta::days(90), ..grant(&world, &used.to_string()) };
    let dead = Grant { revoked_at: Some(at(1)), ..grant(&world, &ended.to_string()) };
    let (token, newest) = (refresh_token(&world, &live), refresh_token(&world, &live));
    let asked = authorization(&world);
    world
        .write(async |tx| {
            for id in [idle, used, ended] {
                tx.insert_client(id, &client(id), at(0)).await?;
            }
            tx.insert_grant(&live).await?;
            tx.insert_grant(&dead).await?;
            tx.insert_access_token(&access_token(&world, &live), &digest("access")).await?;
            tx.insert_refresh_token(&token, &digest("refresh")).await?;
            tx.spend_refresh_token(world.workspace, token.id, at(0)).await?;
            tx.insert_refresh_token(&newest, &digest("newest")).await?;
            tx.insert_authorization(&asked).await
        })
        .await;
    let left = async |after: TimeDelta| {
        world.store.sweep(at(0) + after).await.unwrap();
        let mut left = Vec::new();
        for table in ["oauth_clients", "oauth_authorizations", "oauth_access_tokens", "oauth_refresh_tokens"]
        {
            left.push(world.count(table).await);
        }
        left
    };
    assert_eq!(left(TimeDelta::minutes(59)).await, [3, 1, 1, 2]);
    assert_eq!(left(TimeDelta::hours(1)).await, [3, 1, 0, 2]);
    assert_eq!(left(TimeDelta::days(1)).await, [1, 1, 0, 2], "whom somebody let in stays");
    assert_eq!(left(TimeDelta::days(1) + TimeDelta::minutes(10)).await, [1, 0, 0, 2]);
    assert_eq!(left(TimeDelta::days(30)).await, [1, 0, 0, 1]);
    assert_eq!(left(TimeDelta::days(91)).await, [0, 0, 0, 1], "its grant ended by itself");
}
