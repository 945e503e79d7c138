//! Agent clients, what they ask, and what they were let into.

use chrono::TimeDelta;
use identity::oauth::{
    AccessToken, AgentAccess, Authorization, AuthorizationStage, Client, ClientKind, ClientSnapshot,
    ConsentError, Grant, GrantError, OAuthRead as _, OAuthTx as _, RefreshToken,
    authorizations::{
        AuthorizationRequest, Consent, ConsentDecision, create_authorization, decide_authorization,
    },
    grants::{CodeExchange, RefreshRequest, RefreshTokenState, TokenPair, exchange_code, refresh_tokens},
    pkce::CodeChallenge,
    ports::GrantUsageWriter as _,
};
use kernel::{
    Caller, Context, StoreError, UnitOfWork as _,
    authority::{MembershipFact, Role, authorize_member},
    caller::SessionCaller,
    id::OAuthClientId,
    token::{Digest, Peppers, TokenHint},
    vault::MasterKeys,
};
use secrecy::{ExposeSecret as _, SecretString};

use crate::{
    contract,
    harness::{Database, PAGE, World, at},
};

contract! {
    a_registered_client_comes_back_as_it_was,
    an_authorization_keeps_each_stage_with_its_data,
    a_grants_tokens_are_found_with_it,
    a_grant_has_one_newest_refresh_token,
    grants_are_ended_by_workspace_and_person,
    the_last_use_of_a_grant_is_kept,
    what_agent_clients_leave_behind_is_swept,
    a_sign_in_ends_with_what_comes_too_late,
}

fn digest(secret: &str) -> Digest {
    Peppers::derive(&MasterKeys::new(vec![[7; 32]]).unwrap()).digest(secret)
}

fn snapshot(id: &str) -> ClientSnapshot {
    ClientSnapshot { id: id.to_owned(), kind: ClientKind::Registered, name: "Agent".to_owned(), host: None }
}

fn client(id: OAuthClientId) -> Client {
    Client {
        snapshot: snapshot(&id.to_string()),
        redirect_uris: ["https://agent.example/cb", "http://localhost/cb"]
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
        redirect_uri: "http://localhost:5000/cb".parse().unwrap(),
        state: Some("a state".to_owned()),
        challenge: CodeChallenge::from_slice(&[3; 32]).unwrap(),
        audience: "https://qala.example/mcp".to_owned(),
        requested: AgentAccess::Write,
        created_at: at(0),
        expires_at: at(600_000),
        stage: AuthorizationStage::Pending,
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
        state: RefreshTokenState::Current,
    }
}

fn access_token(world: &World, grant: &Grant) -> AccessToken {
    AccessToken {
        id: world.id(),
        grant: grant.id,
        workspace: grant.workspace,
        access: AgentAccess::Read,
        hint: TokenHint { prefix: "qao_abcd".to_owned(), last4: "wxyz".to_owned() },
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
    let allowed = Consent { by: world.user, workspace: world.workspace, access: AgentAccess::Read };
    let code = digest("code");
    for (stage, code) in [
        (AuthorizationStage::Pending, None),
        (AuthorizationStage::Claimed { by: world.user }, None),
        (AuthorizationStage::Denied { by: world.user }, None),
        (AuthorizationStage::Allowed { consent: allowed, code_expires_at: at(60_000) }, Some(&code)),
        // The code stays known, so that it is noticed when it comes again.
        (AuthorizationStage::Redeemed { consent: allowed, grant: world.id() }, None),
    ] {
        asked.stage = stage;
        world.write(async |tx| tx.set_authorization_stage(asked.id, &asked.stage, code).await).await;
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
    assert_eq!(
        world.store.oauth_grants(world.workspace, world.user, PAGE).await.unwrap(),
        std::slice::from_ref(&grant)
    );
    assert_eq!(world.store.oauth_grants(world.workspace, world.id(), PAGE).await.unwrap(), []);

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
            tx.extend_grant(elsewhere, grant.id, at(5)).await?;
            tx.extend_grant(world.workspace, grant.id, at(2_000_000)).await
        })
        .await;
    assert_eq!(world.store.access_token_by_digest(&[digest("access")]).await.unwrap(), None);
    let found = world.store.oauth_grants(world.workspace, world.user, PAGE).await.unwrap();
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
            tx.mark_refresh_token_rotated(world.workspace, first.id, at(9)).await?;
            tx.insert_refresh_token(&second, &digest("second")).await?;
            assert_eq!(tx.current_refresh_token(world.workspace, grant.id).await?.as_ref(), Some(&second));
            let spent = tx.refresh_token(&[digest("first")]).await?;
            assert_eq!(spent.map(|token| token.state), Some(RefreshTokenState::Rotated { at: at(9) }));
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
        let grants = world.store.oauth_grants(workspace, user, PAGE).await.unwrap();
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
    let found = world.store.oauth_grants(world.workspace, world.user, PAGE).await.unwrap();
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
            tx.mark_refresh_token_rotated(world.workspace, token.id, at(0)).await?;
            tx.insert_refresh_token(&newest, &digest("newest")).await?;
            tx.insert_authorization(&asked).await
        })
        .await;
    let left = async |after: TimeDelta| {
        world.store.delete_expired(at(0) + after).await.unwrap();
        let mut left = Vec::new();
        for table in ["oauth_clients", "oauth_authorizations", "oauth_access_tokens", "oauth_refresh_tokens"]
        {
            left.push(world.count(table).await);
        }
        left
    };
    assert_eq!(left(TimeDelta::minutes(59)).await, [3, 1, 1, 2]);
    assert_eq!(left(TimeDelta::hours(1)).await, [3, 1, 0, 2]);
    assert_eq!(left(TimeDelta::days(1)).await, [3, 1, 0, 2]);
    assert_eq!(left(TimeDelta::days(1) + TimeDelta::minutes(10)).await, [3, 0, 0, 2]);
    assert_eq!(left(TimeDelta::days(7)).await, [1, 0, 0, 2], "whom somebody let in stays");
    assert_eq!(left(TimeDelta::days(30)).await, [1, 0, 0, 1]);
    assert_eq!(left(TimeDelta::days(91)).await, [0, 0, 0, 1], "its grant ended by itself");
}

async fn a_sign_in_ends_with_what_comes_too_late(database: Database) {
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    let world = World::new(database).await;
    let peppers = Peppers::derive(&MasterKeys::new(vec![[7; 32]]).unwrap());
    let moment = |millis: i64| {
        let mut ctx = world.context();
        ctx.now = at(millis);
        ctx.caller = Caller::Session(SessionCaller {
            session: world.id(),
            user: world.user,
            workspace: None,
            is_dev_login: false,
            view_as: None,
        });
        ctx
    };
    let id = world.id();
    let client = client(id);
    let ask = AuthorizationRequest {
        redirect_uri: "http://localhost:5000/cb".parse().unwrap(),
        state: None,
        challenge: CodeChallenge::parse("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM").unwrap(),
        audience: "https://qala.example/mcp".to_owned(),
        requested: AgentAccess::Write,
    };
    let fact = MembershipFact {
        workspace: world.workspace,
        user: world.user,
        role: Role::Owner,
        access_ends_at: None,
    };
    let allow = |ctx: &Context| {
        let member = authorize_member(&ctx.caller, world.workspace, Some(&fact), ctx.now).unwrap();
        ConsentDecision::Allow { member, access: None }
    };
    let code = async |begun: i64, decided: i64| {
        let ctx = moment(begun);
        let mut tx = world.store.begin().await.unwrap();
        let asked = create_authorization(&mut tx, &ctx, &client, ask.clone()).await.unwrap();
        Box::new(tx).commit().await.unwrap();
        let ctx = moment(decided);
        let mut tx = world.store.begin().await.unwrap();
        let whose = (asked.id, world.user);
        let decided = decide_authorization(&mut tx, &ctx, &peppers, "https://q", whose, allow(&ctx)).await?;
        Box::new(tx).commit().await.unwrap();
        let next = decided.redirect_to.expose_secret().to_owned();
        Ok::<_, ConsentError>(next.split(['=', '&']).nth(1).unwrap().to_owned())
    };
    let exchange = async |code: &str, now: i64| {
        let mut tx = world.store.begin().await.unwrap();
        let input = CodeExchange {
            code,
            client_id: &client.snapshot.id,
            verifier: VERIFIER,
            redirect_uri: None,
            audience: None,
        };
        let tokens = exchange_code(&mut tx, &moment(now), &peppers, input).await.unwrap();
        Box::new(tx).commit().await.unwrap();
        tokens
    };
    let refresh = async |token: &SecretString, now: i64| {
        let mut tx = world.store.begin().await.unwrap();
        let token = token.expose_secret();
        let input = RefreshRequest { token, client_id: &client.snapshot.id, access: None, audience: None };
        let tokens = refresh_tokens(&mut tx, &moment(now), &peppers, input).await.unwrap();
        Box::new(tx).commit().await.unwrap();
        tokens
    };

    assert!(
        matches!(code(0, 600_000).await, Err(ConsentError::AuthorizationNotFound)),
        "ten minutes are over"
    );
    let late = code(0, 1000).await.unwrap();
    assert_eq!(exchange(&late, 61_000).await.unwrap_err(), GrantError::InvalidGrant, "a minute is over");
    let first = exchange(&code(0, 1000).await.unwrap(), 60_999).await.unwrap();

    // A minute's grace, and no more. Whoever comes within it has the same successor, and goes on with it.
    let same = |one: &TokenPair, other: &TokenPair| {
        one.refresh_token.expose_secret() == other.refresh_token.expose_secret()
            && one.access_token.expose_secret() != other.access_token.expose_secret()
    };
    let second = refresh(&first.refresh_token, 90_000).await.unwrap();
    let third = refresh(&first.refresh_token, 149_999).await.unwrap();
    assert!(same(&second, &third) && !same(&first, &second));
    let fourth = refresh(&third.refresh_token, 159_999).await.unwrap();
    let fifth = refresh(&second.refresh_token, 160_000).await.unwrap();
    assert!(same(&fourth, &fifth));
    // A copy that comes too late, or after its successor was used, ends everything.
    assert_eq!(refresh(&second.refresh_token, 219_999).await.unwrap_err(), GrantError::InvalidGrant);
    for token in [&first, &second, &third, &fourth, &fifth] {
        let again = refresh(&token.refresh_token, 220_000).await;
        assert_eq!(again.unwrap_err(), GrantError::InvalidGrant, "the grant has ended");
    }
    let found = world.store.oauth_grants(world.workspace, world.user, PAGE).await.unwrap();
    assert_eq!(found[0].revoked_at, Some(at(219_999)));
    assert_eq!(world.count("audit_log WHERE action = 'oauth_grant.refresh_reused'").await, 1);

    // Ninety days without a refresh end it, too.
    let idle = exchange(&code(0, 1000).await.unwrap(), 2000).await.unwrap();
    let days = i64::from(90 * 24) * 3_600_000;
    assert_eq!(refresh(&idle.refresh_token, 2000 + days).await.unwrap_err(), GrantError::InvalidGrant);
    assert!(refresh(&idle.refresh_token, 1999 + days).await.is_ok());

    for kind in ["qoc!_", "qao!_", "qar!_"] {
        let held =
            format!("audit_log WHERE detail LIKE '%{kind}%' ESCAPE '!' OR target LIKE '%{kind}%' ESCAPE '!'");
        assert_eq!(world.count(&held).await, 0, "the audit log holds no secret");
    }
}
