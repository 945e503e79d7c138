//! Device logins, the list of sessions, passkeys and other issuers' names.

use ::identity::{
    IdentityRead as _, IdentityTx as _,
    device::{
        DeviceApproval, DeviceLogin, DeviceLoginDecision, DeviceLoginRequest, LIFETIME, POLL_INTERVAL,
        Purpose,
    },
    passkeys::{Ceremony, CeremonyPurpose as Ceremonial, Passkey},
    ports::{
        DeviceRead as _, DeviceTx as _, OidcTx as _, OpenLoginCounts, PasskeyRead as _, PasskeyTx as _,
        SessionRead as _, SessionTx as _, SessionUsageWriter as _,
    },
    sessions::{Session, SignInMethod},
};
use chrono::TimeDelta;
use kernel::{
    StoreError,
    token::{Digest, Peppers},
    vault::MasterKeys,
};

use crate::{
    contract,
    harness::{Database, PAGE, World, at},
};

contract!(
    a_login_is_found_by_either_code,
    a_login_is_decided_once_and_delivered_once,
    open_logins_are_counted_by_network_and_time,
    the_interval_grows_with_each_early_question,
    a_person_ends_only_their_own_sessions,
    a_session_is_found_under_its_newest_secret_only,
    a_session_in_use_is_not_remembered_as_idle,
    a_ceremony_is_taken_once_and_in_time,
    a_passkey_is_its_owners,
    an_issuers_name_is_one_persons,
);

fn digest(text: &str) -> Digest {
    Peppers::derive(&MasterKeys::new(vec![[1; 32]]).unwrap()).digest(text)
}

fn login(world: &World) -> DeviceLogin {
    DeviceLogin {
        id: world.id(),
        request: DeviceLoginRequest {
            client: "qala-cli".to_owned(),
            purpose: Purpose::Token,
            name: "Deploys".to_owned(),
            scopes: "read write".parse().unwrap(),
            expires_in_days: 90,
            host: Some("laptop".to_owned()),
        },
        client_ip: Some("192.0.2.7".parse().unwrap()),
        created_at: at(0),
        expires_at: at(0) + LIFETIME,
        decision: DeviceLoginDecision::Pending,
    }
}

fn approval(world: &World) -> DeviceApproval {
    DeviceApproval {
        approved_by: world.user,
        workspace: world.workspace,
        scopes: "read".parse().unwrap(),
        expires_in_days: 30,
    }
}

async fn add(world: &World, network: Option<&str>) -> DeviceLogin {
    let login = login(world);
    let (device, user) = (digest(&format!("d{}", login.id)), digest(&format!("u{}", login.id)));
    let network = network.map(|network| network.parse().unwrap());
    world.write(async |tx| tx.insert_device_login(&login, network, &device, &user).await).await;
    login
}

async fn a_login_is_found_by_either_code(database: Database) {
    let world = World::new(database).await;
    let login = add(&world, None).await;
    let (device, user) = ([digest(&format!("d{}", login.id))], [digest(&format!("u{}", login.id))]);
    let store = &world.store;
    assert_eq!(store.device_login_by_device_code(&device).await.unwrap(), Some(login.clone()));
    assert_eq!(store.device_login_by_user_code(&user).await.unwrap(), Some(login));
    assert_eq!(store.device_login_by_device_code(&user).await.unwrap(), None);
    assert_eq!(store.device_login_by_user_code(&device).await.unwrap(), None);
}

async fn a_login_is_decided_once_and_delivered_once(database: Database) {
    let world = World::new(database).await;
    let login = add(&world, None).await;
    let (approved, late) = (DeviceLoginDecision::Approved(approval(&world)), at(0) + LIFETIME);
    let decide = async |decision: &DeviceLoginDecision, now| {
        world.write(async |tx| tx.decide_device_login(login.id, decision, now).await).await
    };
    let claim = async |now| world.write(async |tx| tx.mark_device_login_delivered(login.id, now).await).await;
    assert!(!claim(at(1)).await, "nobody approved it");
    assert!(!decide(&approved, late).await, "it is too old");
    assert!(decide(&approved, at(1)).await);
    assert!(
        !decide(&DeviceLoginDecision::Denied, at(2)).await && !decide(&approved, at(2)).await,
        "it is decided"
    );
    let user = [digest(&format!("u{}", login.id))];
    let found = world.store.device_login_by_user_code(&user).await.unwrap().unwrap();
    assert_eq!(found.decision, approved);

    assert!(!claim(late).await, "it is too old");
    let claims = futures::future::join_all((0..50).map(|_| claim(at(3)))).await;
    assert_eq!(claims.into_iter().filter(|claimed| *claimed).count(), 1);
    let found = world.store.device_login_by_user_code(&user).await.unwrap().unwrap();
    assert_eq!(found.decision, DeviceLoginDecision::Delivered);
}

async fn open_logins_are_counted_by_network_and_time(database: Database) {
    let world = World::new(database).await;
    let count = async |network: Option<&str>, now| {
        let network = network.map(|network| network.parse().unwrap());
        world.write(async |tx| tx.count_open_device_logins(network, now).await).await
    };
    let (one, other) = (Some("192.0.2.1"), Some("192.0.2.2"));
    add(&world, one).await;
    add(&world, one).await;
    let denied = add(&world, other).await;
    add(&world, None).await;
    world
        .write(async |tx| tx.decide_device_login(denied.id, &DeviceLoginDecision::Denied, at(1)).await)
        .await;
    assert_eq!(count(one, at(1)).await, OpenLoginCounts { total: 3, from_network: 2 });
    assert_eq!(count(other, at(1)).await, OpenLoginCounts { total: 3, from_network: 0 });
    assert_eq!(count(None, at(1)).await, OpenLoginCounts { total: 3, from_network: 0 });
    assert_eq!(count(one, at(0) + LIFETIME).await, OpenLoginCounts { total: 0, from_network: 0 });
    world.store.delete_expired(at(0) + LIFETIME * 2).await.unwrap();
    assert_eq!(world.count("device_logins").await, 0);
}

async fn the_interval_grows_with_each_early_question(database: Database) {
    let world = World::new(database).await;
    let login = add(&world, None).await;
    let ask = async |now| {
        let pace = world.store.record_device_login_poll(login.id, at(now)).await.unwrap();
        (pace.is_too_early, pace.interval.num_seconds())
    };
    assert_eq!(ask(0).await, (false, 5));
    assert_eq!(ask(5_000).await, (false, 5));
    // Half a second is forgiven, and no more.
    assert_eq!(ask(9_600).await, (false, 5));
    assert_eq!(ask(14_000).await, (true, 10));
    assert_eq!(ask(20_000).await, (true, 15));
    assert_eq!(ask(35_000).await, (false, 15));
    assert_eq!(ask(49_000).await, (true, 20));
    // Of many at once one is in time.
    let fresh = add(&world, None).await;
    let store = &world.store;
    let asked =
        futures::future::join_all((0..10).map(|_| store.record_device_login_poll(fresh.id, at(0)))).await;
    assert_eq!(asked.iter().filter(|pace| !pace.as_ref().unwrap().is_too_early).count(), 1);
    let slowest = asked.iter().map(|pace| pace.as_ref().unwrap().interval).max();
    assert_eq!(slowest, Some(POLL_INTERVAL + TimeDelta::seconds(45)));
}

fn session(world: &World, user: kernel::id::UserId) -> Session {
    Session {
        id: world.id(),
        user,
        workspace: None,
        is_dev_login: false,
        method: SignInMethod::Oidc,
        authenticated_at: at(0),
        stepped_up_at: None,
        client_ip: None,
        device: None,
        last_seen_at: at(0),
        created_at: at(0),
        expires_at: at(0) + TimeDelta::days(30),
    }
}

async fn open(world: &World, user: kernel::id::UserId) -> Session {
    let session = session(world, user);
    let secret = digest(&session.id.to_string());
    world.write(async |tx| tx.insert_session(&session, &secret).await).await;
    session
}

async fn a_person_ends_only_their_own_sessions(database: Database) {
    let world = World::new(database).await;
    let bek = world.add_person("bek").await;
    let (first, second, third) =
        (open(&world, world.user).await, open(&world, world.user).await, open(&world, world.user).await);
    let of_bek = open(&world, bek).await;
    let store = &world.store;
    let listed = store.sessions_of(world.user, PAGE).await.unwrap();
    assert_eq!(listed, [third.clone(), second.clone(), first.clone()]);
    assert_eq!(store.session(of_bek.id).await.unwrap(), Some(of_bek.clone()));
    assert!(!world.write(async |tx| tx.delete_session_of(world.user, of_bek.id).await).await);
    assert!(world.write(async |tx| tx.delete_session_of(world.user, first.id).await).await);
    // What is ended is not remembered either.
    let of_third = [digest(&third.id.to_string())];
    assert!(store.session_by_digest(&of_third).await.unwrap().is_some());
    assert_eq!(world.write(async |tx| tx.delete_sessions_of(world.user, Some(second.id)).await).await, 1);
    assert_eq!(store.session_by_digest(&of_third).await.unwrap(), None);
    assert_eq!(store.sessions_of(world.user, PAGE).await.unwrap(), [second]);
    assert_eq!(world.write(async |tx| tx.delete_sessions_of(world.user, None).await).await, 1);
    assert_eq!(store.sessions_of(bek, PAGE).await.unwrap(), [of_bek]);
}

async fn a_session_is_found_under_its_newest_secret_only(database: Database) {
    let world = World::new(database).await;
    let session = open(&world, world.user).await;
    let (old, new) = ([digest(&session.id.to_string())], [digest("new")]);
    let store = &world.store;
    assert!(store.session_by_digest(&old).await.unwrap().is_some());
    assert!(world.write(async |tx| tx.record_step_up(session.id, &new[0], at(9)).await).await);
    assert_eq!(store.session_by_digest(&old).await.unwrap(), None);
    let found = store.session_by_digest(&new).await.unwrap();
    assert_eq!(found, Some(Session { stepped_up_at: Some(at(9)), ..session }));
    let nobody = world.id();
    assert!(!world.write(async |tx| tx.record_step_up(nobody, &digest("x"), at(9)).await).await);
}

async fn a_session_in_use_is_not_remembered_as_idle(database: Database) {
    let world = World::new(database).await;
    let session = open(&world, world.user).await;
    let secret = [digest(&session.id.to_string())];
    let seen = async || world.store.session_by_digest(&secret).await.unwrap().unwrap().last_seen_at;
    assert_eq!(seen().await, at(0));
    for (noted, kept) in [(50, 50), (40, 50), (70, 70)] {
        world.store.touch_sessions(&[(session.id, at(noted)), (world.id(), at(noted))]).await.unwrap();
        assert_eq!(seen().await, at(kept));
    }
}

async fn a_ceremony_is_taken_once_and_in_time(database: Database) {
    let world = World::new(database).await;
    let ceremony =
        |purpose| Ceremony { id: world.id(), purpose, state: "{}".to_owned(), expires_at: at(100) };
    let session = world.id();
    let take = async |id, now| world.write(async |tx| tx.consume_ceremony(id, at(now)).await).await;
    for purpose in [Ceremonial::SignIn, Ceremonial::Register(session), Ceremonial::StepUp(session)] {
        let ceremony = ceremony(purpose);
        world.write(async |tx| tx.insert_ceremony(&ceremony).await).await;
        assert_eq!(take(ceremony.id, 100).await, None, "it is too old");
        let taken = futures::future::join_all((0..10).map(|_| take(ceremony.id, 99))).await;
        assert_eq!(taken.into_iter().flatten().collect::<Vec<_>>(), [ceremony]);
    }
}

async fn a_passkey_is_its_owners(database: Database) {
    let world = World::new(database).await;
    let bek = world.add_person("bek").await;
    let passkey = |user, name: &[u8]| Passkey {
        id: world.id(),
        user,
        name: "Laptop".to_owned(),
        credential_id: name.to_vec(),
        credential: "{\"counter\":0}".to_owned(),
        created_at: at(0),
        last_used_at: None,
    };
    let mine = passkey(world.user, b"one");
    world.write(async |tx| tx.insert_passkey(&mine).await).await;
    let stolen = passkey(bek, b"one");
    let refused = world.try_write(async |tx| tx.insert_passkey(&stolen).await).await;
    assert!(matches!(refused, Err(StoreError::Duplicate)), "{refused:?}");
    world.write(async |tx| tx.record_passkey_use(bek, b"one", Some("forged"), at(4)).await).await;
    world.write(async |tx| tx.record_passkey_use(world.user, b"one", None, at(5)).await).await;
    let kept = world.store.passkeys_of(world.user).await.unwrap();
    assert_eq!(kept, [Passkey { last_used_at: Some(at(5)), ..mine.clone() }]);
    world.write(async |tx| tx.record_passkey_use(world.user, b"one", Some("{}"), at(6)).await).await;
    assert_eq!(world.store.passkeys_of(world.user).await.unwrap()[0].credential, "{}");
    assert!(world.store.passkeys_of(bek).await.unwrap().is_empty());
    assert!(!world.write(async |tx| tx.delete_passkey(bek, mine.id).await).await);
    assert!(world.write(async |tx| tx.delete_passkey(world.user, mine.id).await).await);
    assert!(world.store.passkeys_of(world.user).await.unwrap().is_empty());
}

async fn an_issuers_name_is_one_persons(database: Database) {
    let world = World::new(database).await;
    let bek = world.add_person("bek").await;
    let (issuer, subject) = ("https://id.example.com", "1");
    let find = async |issuer: &str| {
        let found = world.write(async |tx| tx.find_user_by_identity(issuer, subject).await).await;
        found.map(|user| user.id)
    };
    assert_eq!(find(issuer).await, None);
    world.write(async |tx| tx.insert_identity(issuer, subject, world.user, at(0)).await).await;
    assert_eq!(find(issuer).await, Some(world.user));
    assert_eq!(find("https://other.example.com").await, None);
    let taken = world.try_write(async |tx| tx.insert_identity(issuer, subject, bek, at(0)).await).await;
    assert!(matches!(taken, Err(StoreError::Duplicate)), "{taken:?}");
}
