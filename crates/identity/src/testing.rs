//! Fixtures for the tests of this crate: people, requests, and a store and a relying party in memory.

pub(crate) mod agents;
mod relying_party;
mod store;

use chrono::TimeDelta;
use kernel::{
    Caller, Context, Locale, Timestamp,
    caller::{Scope, Scopes, SessionCaller},
    id::WorkspaceId,
    mail::{ClaimedEmail, OutboxEmail, RenderedEmail},
    testing::{at, context, id, session_of},
    token::{Peppers, TokenHint},
    vault::{MasterKeys, Vault},
};

use crate::{
    Email, User,
    device::{self, DeviceApproval, DeviceLogin, DeviceLoginDecision, DeviceLoginRequest, Purpose, UserCode},
    passkeys::Passkey,
    sessions::{LIFETIME, Session, SignInMethod},
    sign_in::{StartEmailSignIn, start_email_sign_in},
    tokens::Token,
};

pub(crate) use relying_party::{FakeRelyingParty, response};
pub(crate) use store::{FakeStore, StoredDeviceLogin};

fn master_keys() -> MasterKeys {
    MasterKeys::new(vec![[1; 32]]).unwrap()
}

pub(crate) fn peppers() -> Peppers {
    Peppers::derive(&master_keys())
}

pub(crate) fn vault() -> Vault {
    Vault::new(&master_keys())
}

pub(crate) fn workspace() -> WorkspaceId {
    id(100)
}

pub(crate) fn aru() -> User {
    person(11, "Aru", "aru@example.com")
}

pub(crate) fn bek() -> User {
    person(12, "Bek", "bek@example.com")
}

fn person(number: u128, name: &str, email: &str) -> User {
    User { id: id(number), name: name.to_owned(), email: email.parse().unwrap(), created_at: at(0) }
}

/// A request of nobody who is known.
pub(crate) fn visitor() -> Context {
    context(Caller::Anonymous, at(0))
}

/// A request of a person who is signed in, in the session that [`session_caller`] names.
pub(crate) fn signed_in(user: &User) -> Context {
    context(session_of(user.id), at(0))
}

pub(crate) fn session_caller(user: &User) -> SessionCaller {
    let Caller::Session(caller) = session_of(user.id) else { panic!("a session") };
    caller
}

/// A later request of the same caller. It draws from the same randomness, so no id or secret is made twice.
pub(crate) fn later(ctx: &Context, by: TimeDelta) -> Context {
    let mut later = ctx.clone();
    later.now += by;
    later
}

/// A request of another caller at the same time, from the same randomness.
pub(crate) fn request_of(ctx: &Context, caller: Caller) -> Context {
    let mut other = ctx.clone();
    other.caller = caller;
    other
}

/// A session that was last seen when it was opened.
pub(crate) fn session(number: u128, user: &User, created_at: Timestamp) -> Session {
    Session {
        id: id(number),
        user: user.id,
        workspace: None,
        is_dev_login: false,
        method: SignInMethod::Email,
        authenticated_at: created_at,
        stepped_up_at: None,
        client_ip: None,
        device: None,
        last_seen_at: created_at,
        created_at,
        expires_at: created_at + LIFETIME,
    }
}

/// A passkey whose authenticator names it `key-<number>`.
pub(crate) fn passkey(number: u128, user: &User) -> Passkey {
    Passkey {
        id: id(number),
        user: user.id,
        name: format!("Key {number}"),
        credential_id: format!("key-{number}").into_bytes(),
        credential: "counter 1".to_owned(),
        created_at: at(0),
        last_used_at: None,
    }
}

/// The code and the link's token that a sign-in by e-mail mails.
pub(crate) struct MailedSignIn {
    pub(crate) code: String,
    pub(crate) token: String,
}

/// Starts a sign-in by e-mail and opens the mail, in a store that then holds no audit entries.
pub(crate) async fn mailed_sign_in(store: &mut FakeStore, ctx: &Context, email: &Email) -> MailedSignIn {
    let link_base = "https://qala.example/sign-in".to_owned();
    let input = StartEmailSignIn { email: email.clone(), locale: Locale::En, link_base };
    start_email_sign_in(store, ctx, &peppers(), &vault(), input).await.unwrap();
    store.work.audit.clear();
    let text = opened_email(store.work.emails.last().unwrap()).text;
    let code = text.lines().find_map(|line| line.strip_prefix("    ")).unwrap().to_owned();
    let token = text.lines().find_map(|line| line.split_once("token=")).unwrap().1.to_owned();
    MailedSignIn { code, token }
}

/// The e-mail as its recipient sees it.
pub(crate) fn opened_email(email: &OutboxEmail) -> RenderedEmail {
    let claimed = ClaimedEmail {
        id: email.id,
        kind: email.kind.to_owned(),
        sealed: email.sealed.clone(),
        attempts: 0,
        expires_at: email.expires_at,
    };
    claimed.open(&vault()).unwrap()
}

/// A token of [`workspace`] that never expires.
pub(crate) fn token(number: u128, user: &User) -> Token {
    Token {
        id: id(number),
        workspace: workspace(),
        user: user.id,
        name: format!("Token {number}"),
        scopes: Scopes::of(Scope::Read),
        hint: TokenHint { prefix: "qat_abcd".to_owned(), last4: "wxyz".to_owned() },
        created_at: at(0),
        last_used_at: None,
        expires_at: None,
        revoked_at: None,
    }
}

/// A pending login of a command line that asks for the scopes `read write`.
pub(crate) fn device_login(number: u128, created_at: Timestamp) -> DeviceLogin {
    DeviceLogin {
        id: id(number),
        request: DeviceLoginRequest {
            client: "qala".to_owned(),
            purpose: Purpose::Login,
            name: "qala on laptop".to_owned(),
            scopes: Scopes::of(Scope::Read).with(Scope::Write),
            expires_in_days: 90,
            host: Some("laptop".to_owned()),
        },
        client_ip: None,
        created_at,
        expires_at: created_at + device::LIFETIME,
        decision: DeviceLoginDecision::Pending,
    }
}

/// The approval of [`device_login`] by a person for [`workspace`].
pub(crate) fn device_approval(user: &User) -> DeviceApproval {
    DeviceApproval {
        approved_by: user.id,
        workspace: workspace(),
        scopes: Scopes::of(Scope::Read),
        expires_in_days: 30,
    }
}

/// A login as the store keeps it, under the digest of this device code.
pub(crate) fn stored_device_login(login: DeviceLogin, device_code: &str) -> StoredDeviceLogin {
    let user_code = UserCode::generate(visitor().random());
    StoredDeviceLogin {
        login,
        network: None,
        device_digest: peppers().digest(device_code),
        user_digest: user_code.digest(&peppers()),
    }
}
