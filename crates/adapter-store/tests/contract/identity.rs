//! People, sign-ins, sessions and tokens.

use ::identity::{
    Email, IdentityError, IdentityRead as _, IdentityTx as _,
    ports::TokenUsageWriter as _,
    ports::{SessionRead as _, SessionUsageWriter as _},
    sessions::{Session, SignInClient, SignInMethod, open_session},
    sign_in::{EmailSignIn, StartEmailSignIn, start_email_sign_in, verify_email_sign_in},
    tokens::Token,
};
use ::workspace::WorkspaceTx as _;
use kernel::{
    Caller, Locale, StoreError, UnitOfWork as _,
    authority::{AppFact, AuthorityTx as _, MembershipFact, Role, Sharing},
    caller::{Scope, Scopes},
    id::{UserId, WorkspaceId},
    page::PageRequest,
    token::{Peppers, TokenHint},
    vault::{MasterKeys, Vault},
};

use crate::{
    contract,
    harness::{Database, PAGE, World, at},
};

contract!(
    an_address_belongs_to_one_person,
    an_address_that_was_kept_unfolded_is_found,
    who_signs_in_too_often_loses_the_session_seen_least_recently,
    a_sign_in_is_replaced_and_forgotten,
    a_session_is_found_under_any_pepper,
    a_session_changes_its_workspace_and_ends,
    a_token_is_listed_for_its_owner_only,
    only_the_owner_revokes_and_only_once,
    the_last_use_never_goes_back,
    a_transaction_reads_authority_as_it_is_now,
    asking_for_a_mail_and_a_wrong_code_look_at_no_person,
);

fn peppers(keys: &[u8]) -> Peppers {
    Peppers::derive(&MasterKeys::new(keys.iter().map(|byte| [*byte; 32]).collect()).unwrap())
}

async fn an_address_belongs_to_one_person(database: Database) {
    let world = World::new(database).await;
    let email: Email = "aru@example.com".parse().unwrap();
    let found = world.write(async |tx| tx.find_user_by_email(&email).await).await;
    assert_eq!(found, Some(world.person("Aru", "aru@example.com", world.user)));
    let second = world.person("Other", "aru@example.com", world.id());
    let refused = world.try_write(async |tx| tx.insert_user(&second).await).await;
    assert!(matches!(refused, Err(StoreError::Duplicate)), "{refused:?}");
    assert_eq!(world.store.user(second.id).await.unwrap(), None);
    let same_id = world.person("Other", "other@example.com", world.user);
    let refused = world.try_write(async |tx| tx.insert_user(&same_id).await).await;
    assert!(matches!(refused, Err(StoreError::Duplicate)), "{refused:?}");
}

/// Before addresses were folded they were kept as they were typed, in lower case.
async fn an_address_that_was_kept_unfolded_is_found(database: Database) {
    let world = World::new(database).await;
    let kept = async |id: UserId, email: &str| {
        let person = world.person("Someone", "placeholder@example.com", id);
        world.write(async |tx| tx.insert_user(&person).await).await;
        let values = vec![email.into(), id.uuid().into()];
        world.execute("UPDATE users SET email = $1 WHERE id = $2", values).await;
    };
    let (domain, decomposed) = (world.id(), world.id());
    kept(domain, "user@почта.рф").await;
    kept(decomposed, "jose\u{301}@почта.рф").await;
    let find = async |email: &str| {
        let email: Email = email.parse().unwrap();
        world.write(async |tx| tx.find_user_by_email(&email).await).await
    };
    for spelling in ["user@почта.рф", "user@xn--80a1acny.xn--p1ai", "USER@ПОЧТА.РФ"] {
        let found = find(spelling).await.unwrap();
        assert_eq!(found.id, domain, "{spelling}");
        assert_eq!(found.email.as_str(), "user@xn--80a1acny.xn--p1ai", "it is compared folded");
    }
    for spelling in ["jose\u{301}@почта.рф", "jos\u{e9}@почта.рф", "Jos\u{e9}@xn--80a1acny.xn--p1ai"]
    {
        assert_eq!(find(spelling).await.unwrap().id, decomposed, "{spelling}");
    }
    assert_eq!(find("JOS\u{c9}@почта.рф").await, None);
    // Where there are two, the one that is spelled so is found.
    let twin = world.id();
    let person = world.person("Twin", "user@почта.рф", twin);
    world.write(async |tx| tx.insert_user(&person).await).await;
    assert_eq!(find("user@почта.рф").await.unwrap().id, twin);
}

async fn who_signs_in_too_often_loses_the_session_seen_least_recently(database: Database) {
    let world = World::new(database).await;
    let peppers = peppers(&[1]);
    let user = world.person("Aru", "aru@example.com", world.user);
    let sign_in = async |millis: i64| {
        let mut ctx = world.context();
        ctx.now = at(millis);
        let mut tx = world.store.begin().await.unwrap();
        let (method, arrival) = (SignInMethod::Email, SignInClient::default());
        let opened =
            open_session(&mut tx, &ctx, &peppers, user.clone(), None, method, &arrival).await.unwrap();
        Box::new(tx).commit().await.unwrap();
        opened.session.id
    };
    let mut opened = Vec::new();
    for number in 0..100 {
        opened.push(sign_in(1_000 + number).await);
    }
    // The first one is in use; the second is the one that was seen least recently.
    world.store.touch_sessions(&[(opened[0], at(5_000))]).await.unwrap();
    let last = sign_in(6_000).await;
    let all = PageRequest { limit: 200, after: None };
    let left: Vec<_> =
        world.store.sessions_of(world.user, all).await.unwrap().into_iter().map(|one| one.id).collect();
    assert_eq!(left.len(), 100);
    assert!(left.contains(&opened[0]) && !left.contains(&opened[1]) && left.contains(&last));
    assert_eq!(world.count("audit_log WHERE action = 'session.end' AND detail LIKE '%too_many%'").await, 1);
    let page = world.store.sessions_of(world.user, PageRequest { limit: 2, after: Some(left[1].uuid()) });
    let page: Vec<_> = page.await.unwrap().into_iter().map(|one| one.id).collect();
    assert_eq!(page, left[2..5], "one more than the limit");
}

async fn a_sign_in_is_replaced_and_forgotten(database: Database) {
    let world = World::new(database).await;
    let email: Email = "new@example.com".parse().unwrap();
    let sign_in = |code: &str, tries_left| EmailSignIn {
        email: email.clone(),
        code: peppers(&[1]).digest(code),
        link: Some(peppers(&[1]).digest(&format!("link {code}"))),
        attempts_left: tries_left,
        expires_at: at(600_000),
    };
    assert_eq!(world.write(async |tx| tx.find_sign_in(&email).await).await, None);
    for state in [sign_in("111111", 5), sign_in("222222", 4)] {
        world.write(async |tx| tx.upsert_sign_in(&state).await).await;
        assert_eq!(world.write(async |tx| tx.find_sign_in(&email).await).await, Some(state));
    }
    let by_link = async |keys: &[u8], code: &str| {
        let digests: Vec<_> = peppers(keys).candidate_digests(&format!("link {code}")).collect();
        world.write(async |tx| tx.find_sign_in_by_link(&digests).await).await
    };
    assert_eq!(by_link(&[2, 1], "222222").await, Some(sign_in("222222", 4)));
    assert_eq!(by_link(&[1], "111111").await, None);
    assert_eq!(by_link(&[2], "222222").await, None);
    world.write(async |tx| tx.delete_sign_in(&email).await).await;
    assert_eq!(world.write(async |tx| tx.find_sign_in(&email).await).await, None);
}

fn session(world: &World) -> Session {
    Session {
        id: world.id(),
        user: world.user,
        workspace: None,
        is_dev_login: true,
        method: SignInMethod::Dev,
        authenticated_at: at(0),
        stepped_up_at: None,
        client_ip: Some("192.0.2.7".parse().unwrap()),
        device: Some("Firefox on Linux".to_owned()),
        last_seen_at: at(0),
        created_at: at(0),
        expires_at: at(30_000),
    }
}

async fn a_session_is_found_under_any_pepper(database: Database) {
    let world = World::new(database).await;
    let session = session(&world);
    let old = peppers(&[1]).digest("secret");
    world.write(async |tx| tx.insert_session(&session, &old).await).await;
    let candidates: Vec<_> = peppers(&[2, 1]).candidate_digests("secret").collect();
    assert_eq!(world.store.session_by_digest(&candidates).await.unwrap(), Some(session.clone()));
    let newer_only: Vec<_> = peppers(&[2]).candidate_digests("secret").collect();
    assert_eq!(world.store.session_by_digest(&newer_only).await.unwrap(), None);
    assert_eq!(world.store.session_by_digest(&[]).await.unwrap(), None);
}

async fn a_session_changes_its_workspace_and_ends(database: Database) {
    let world = World::new(database).await;
    let (mine, other) = (session(&world), session(&world));
    let digests = [peppers(&[1]).digest("mine"), peppers(&[1]).digest("other")];
    world
        .write(async |tx| {
            tx.insert_session(&mine, &digests[0]).await?;
            tx.insert_session(&other, &digests[1]).await?;
            tx.set_session_workspace(mine.id, world.workspace).await
        })
        .await;
    let found = world.store.session_by_digest(&digests[..1]).await.unwrap().unwrap();
    assert_eq!(found, Session { workspace: Some(world.workspace), ..mine.clone() });
    assert_eq!(world.store.session_by_digest(&digests[1..]).await.unwrap(), Some(other));

    assert!(world.write(async |tx| tx.delete_session(mine.id).await).await);
    assert!(!world.write(async |tx| tx.delete_session(mine.id).await).await);
    assert_eq!(world.store.session_by_digest(&digests[..1]).await.unwrap(), None);
    assert_eq!(world.count("sessions").await, 1);
}

fn token(world: &World, workspace: WorkspaceId, user: UserId) -> Token {
    Token {
        id: world.id(),
        workspace,
        user,
        name: "ci".to_owned(),
        scopes: Scopes::new(&[Scope::Read, Scope::Write]).unwrap(),
        hint: TokenHint { prefix: "qat_abcd".to_owned(), last4: "wxyz".to_owned() },
        created_at: at(0),
        last_used_at: None,
        expires_at: Some(at(1_000)),
        revoked_at: None,
    }
}

async fn add_token(world: &World, workspace: WorkspaceId, user: UserId) -> Token {
    let token = token(world, workspace, user);
    let digest = peppers(&[1]).digest(&token.id.to_string());
    world.write(async |tx| tx.insert_token(&token, &digest).await).await;
    token
}

async fn a_token_is_listed_for_its_owner_only(database: Database) {
    let world = World::new(database).await;
    let bek = world.add_person("bek").await;
    let elsewhere = world.id();
    world.add_workspace(elsewhere, "elsewhere").await;
    world.write(async |tx| tx.insert_member(world.workspace, bek, Role::Member, at(0)).await).await;
    let first = add_token(&world, world.workspace, world.user).await;
    let second = add_token(&world, world.workspace, world.user).await;
    let of_bek = add_token(&world, world.workspace, bek).await;
    let of_elsewhere = add_token(&world, elsewhere, world.user).await;

    let list = async |workspace, user| world.store.tokens(workspace, user, PAGE).await.unwrap();
    assert_eq!(list(world.workspace, world.user).await, [second, first.clone()]);
    assert_eq!(list(world.workspace, bek).await, [of_bek]);
    assert_eq!(list(elsewhere, world.user).await, [of_elsewhere]);
    assert_eq!(list(elsewhere, bek).await, []);

    let candidates: Vec<_> = peppers(&[3, 1]).candidate_digests(&first.id.to_string()).collect();
    assert_eq!(world.store.token_by_digest(&candidates).await.unwrap(), Some(first.clone()));
    let twin = token(&world, world.workspace, world.user);
    let taken = peppers(&[1]).digest(&first.id.to_string());
    let refused = world.try_write(async |tx| tx.insert_token(&twin, &taken).await).await;
    assert!(matches!(refused, Err(StoreError::Duplicate)), "{refused:?}");
}

async fn only_the_owner_revokes_and_only_once(database: Database) {
    let world = World::new(database).await;
    let bek = world.add_person("bek").await;
    let elsewhere = world.id();
    world.add_workspace(elsewhere, "elsewhere").await;
    let token = add_token(&world, world.workspace, world.user).await;
    for (workspace, user) in [(elsewhere, world.user), (world.workspace, bek), (elsewhere, bek)] {
        let revoked = world.write(async |tx| tx.revoke_token(workspace, user, token.id, at(5)).await).await;
        assert_eq!(revoked, None);
    }
    assert_eq!(
        *world.store.tokens(world.workspace, world.user, PAGE).await.unwrap(),
        *std::slice::from_ref(&token)
    );
    for moment in [at(5), at(9)] {
        let revoked = world
            .write(async |tx| tx.revoke_token(world.workspace, world.user, token.id, moment).await)
            .await;
        assert_eq!(revoked, Some(Token { revoked_at: Some(at(5)), ..token.clone() }));
    }
}

async fn a_transaction_reads_authority_as_it_is_now(database: Database) {
    let world = World::new(database).await;
    let session = session(&world);
    let digest = peppers(&[1]).digest("secret");
    world.write(async |tx| tx.insert_session(&session, &digest).await).await;
    let token = add_token(&world, world.workspace, world.user).await;
    let in_session = Caller::Session(session.caller(at(0)).unwrap());
    let by_token = Caller::Token(token.caller(at(0)).unwrap());
    let is_valid =
        async |caller: &Caller, now| world.write(async |tx| tx.lock_credential(caller, now).await).await;
    assert!(is_valid(&in_session, at(1)).await && is_valid(&by_token, at(1)).await);
    assert!(!is_valid(&in_session, at(30_000)).await && !is_valid(&by_token, at(1_000)).await);
    assert!(!is_valid(&Caller::Anonymous, at(1)).await && is_valid(&Caller::System("worker"), at(1)).await);
    world.write(async |tx| tx.revoke_token(world.workspace, world.user, token.id, at(5)).await).await;
    world.write(async |tx| tx.delete_session(session.id).await).await;
    assert!(!is_valid(&in_session, at(6)).await && !is_valid(&by_token, at(6)).await);

    let bek = world.add_person("bek").await;
    let membership =
        async |user| world.write(async |tx| tx.lock_membership(world.workspace, user).await).await;
    assert_eq!(membership(bek).await, None);
    world.write(async |tx| tx.insert_member(world.workspace, bek, Role::Builder, at(0)).await).await;
    let fact =
        MembershipFact { workspace: world.workspace, user: bek, role: Role::Builder, access_ends_at: None };
    assert_eq!(membership(bek).await, Some(fact));

    let app = world.id();
    world.add_app(app, Sharing::Team).await;
    let found = world.write(async |tx| tx.lock_app_fact(app, bek).await).await;
    let expected = AppFact {
        app,
        workspace: world.workspace,
        created_by: world.user,
        sharing: Sharing::Team,
        granted: Default::default(),
    };
    assert_eq!(found, Some(expected));
    assert_eq!(world.write(async |tx| tx.lock_app_fact(world.id(), bek).await).await, None);
}

async fn the_last_use_never_goes_back(database: Database) {
    let world = World::new(database).await;
    let token = add_token(&world, world.workspace, world.user).await;
    let other = add_token(&world, world.workspace, world.user).await;
    let unknown = world.id();
    let used = async || {
        let tokens = world.store.tokens(world.workspace, world.user, PAGE).await.unwrap();
        tokens.iter().rev().map(|token| token.last_used_at).collect::<Vec<_>>()
    };
    world.store.touch_tokens(&[]).await.unwrap();
    world.store.touch_tokens(&[(token.id, at(50)), (unknown, at(60))]).await.unwrap();
    assert_eq!(used().await, [Some(at(50)), None]);
    world.store.touch_tokens(&[(token.id, at(40)), (other.id, at(45))]).await.unwrap();
    assert_eq!(used().await, [Some(at(50)), Some(at(45))]);
    // One token several times, in any order.
    let moments = [70, 90, 80, 60].map(|moment| (token.id, at(moment)));
    world.store.touch_tokens(&moments).await.unwrap();
    assert_eq!(used().await, [Some(at(90)), Some(at(45))]);
}

/// Neither the outcome nor the work behind it tells whether an address is known: without the table of people both go on
/// as before, and leave the same rows.
async fn asking_for_a_mail_and_a_wrong_code_look_at_no_person(database: Database) {
    let world = World::new(database).await;
    let (keys, peppers) = (MasterKeys::new(vec![[1; 32]]).unwrap(), peppers(&[1]));
    let vault = Vault::new(&keys);
    let arrival = SignInClient { device: None, replaced_session: None };
    world.execute("ALTER TABLE users RENAME TO people_nobody_finds", Vec::new()).await;
    let mut left = Vec::new();
    for email in ["aru@example.com", "nobody@example.com"] {
        let email: Email = email.parse().unwrap();
        let rows = async || {
            let mut rows = Vec::new();
            for table in ["sign_ins", "outbox", "audit_log", "sessions", "caller_changes"] {
                rows.push(world.count(table).await);
            }
            rows
        };
        let before = rows().await;
        let input = StartEmailSignIn {
            email: email.clone(),
            locale: Locale::default(),
            link_base: "https://q/sign-in/email".to_owned(),
        };
        let mut tx = world.store.begin().await.unwrap();
        start_email_sign_in(&mut tx, &world.context(), &peppers, &vault, input).await.unwrap();
        Box::new(tx).commit().await.unwrap();
        for _ in 0..6 {
            let mut tx = world.store.begin().await.unwrap();
            let ctx = world.context();
            let refused =
                verify_email_sign_in(&mut tx, &ctx, &peppers, &email, "no code", &arrival).await.unwrap();
            assert!(matches!(refused, Err(IdentityError::InvalidCode)), "{refused:?}");
            Box::new(tx).commit().await.unwrap();
        }
        let after = rows().await;
        left.push(after.iter().zip(before).map(|(after, before)| after - before).collect::<Vec<_>>());
    }
    assert_eq!(left[0], left[1]);
    assert!(left[0][1] == 1 && left[0][2] >= 1 && left[0][3..] == [0, 0], "{left:?}");
}
