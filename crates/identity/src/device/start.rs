//! Starting a device login.

use std::net::IpAddr;

use kernel::{
    Context,
    caller::{Scope, Scopes},
    token::{self, Peppers, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{
    DeviceLogin, DeviceLoginDecision, DeviceLoginRequest, LIFETIME, MAX_OPEN, MAX_OPEN_PER_ADDRESS, Purpose,
    UserCode,
};
use crate::{IdentityError, InvalidInput, ports::DeviceTx, text};

/// Request of a command line.
#[derive(Debug, Clone)]
pub struct StartDeviceLogin {
    /// Name of the program, 1 to 60 printable characters.
    pub client: String,
    /// Purpose of the token.
    pub purpose: Purpose,
    /// Name of the token, 1 to 60 printable characters; by default the program and the machine.
    pub name: Option<String>,
    /// Requested scopes; `admin` is refused.
    pub scopes: Scopes,
    /// Requested lifetime of the token in days, 1 to 365.
    pub expires_in_days: u16,
    /// Name of the machine, 1 to 64 printable characters.
    pub host: Option<String>,
    /// Network whose open logins are limited; none if the client's address is not known.
    pub network: Option<IpAddr>,
}

/// A new login and its codes, of which only digests are stored.
#[derive(Debug)]
pub struct StartedDeviceLogin {
    /// The login as stored.
    pub login: DeviceLogin,
    /// Code with which the command line polls.
    pub device_code: SecretString,
    /// Code that the person enters.
    pub user_code: UserCode,
}

/// Starts a login.
///
/// # Errors
/// [`IdentityError::InvalidInput`] if a field is out of bounds; [`IdentityError::TooManyDeviceLogins`] if [`MAX_OPEN`]
/// or [`MAX_OPEN_PER_ADDRESS`] is reached; [`IdentityError::Store`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn start_device_login(
    tx: &mut dyn DeviceTx,
    ctx: &Context,
    peppers: &Peppers,
    input: StartDeviceLogin,
) -> Result<StartedDeviceLogin, IdentityError> {
    let network = input.network;
    let request = validate_request(&input)?;
    let open = tx.count_open_device_logins(network, ctx.now).await?;
    if open.total >= MAX_OPEN || open.from_network >= MAX_OPEN_PER_ADDRESS {
        return Err(IdentityError::TooManyDeviceLogins);
    }
    let login = DeviceLogin {
        id: ctx.new_id(),
        request,
        client_ip: ctx.client_ip,
        created_at: ctx.now,
        expires_at: ctx.now + LIFETIME,
        decision: DeviceLoginDecision::Pending,
    };
    let device_code = token::mint(TokenKind::DeviceCode, ctx.random());
    let user_code = UserCode::generate(ctx.random());
    let digests = (peppers.digest(device_code.expose_secret()), user_code.digest(peppers));
    tx.insert_device_login(&login, network, &digests.0, &digests.1).await?;
    tx.audit(ctx.audit_entry("device.start").target(login.id).detail(serde_json::json!({
        "client": login.request.client,
        "host": login.request.host,
        "scopes": login.request.scopes.to_string(),
    })));
    Ok(StartedDeviceLogin { login, device_code, user_code })
}

fn validate_request(input: &StartDeviceLogin) -> Result<DeviceLoginRequest, InvalidInput> {
    let client = text::validate_label(&input.client, 60, InvalidInput::DeviceClientName)?;
    let host = match &input.host {
        Some(host) => Some(text::validate_label(host, 64, InvalidInput::DeviceHostName)?),
        None => None,
    };
    let name = match &input.name {
        Some(name) => text::validate_label(name, 60, InvalidInput::TokenName)?,
        None => match &host {
            Some(host) => format!("{client} on {host}").chars().take(60).collect(),
            None => client.clone(),
        },
    };
    if input.scopes.allows(Scope::Admin) {
        return Err(InvalidInput::DeviceAdminScope);
    }
    check_days(input.expires_in_days)?;
    Ok(DeviceLoginRequest {
        client,
        purpose: input.purpose,
        name,
        scopes: input.scopes,
        expires_in_days: input.expires_in_days,
        host,
    })
}

pub(super) fn check_days(days: u16) -> Result<(), InvalidInput> {
    if (1..=365).contains(&days) { Ok(()) } else { Err(InvalidInput::DeviceTokenLifetime) }
}

#[cfg(test)]
mod tests {
    use kernel::{StoreError, testing::at};
    use serde_json::json;

    use super::*;
    use crate::testing::{FakeStore, StoredDeviceLogin, device_login, peppers, stored_device_login, visitor};

    fn input() -> StartDeviceLogin {
        StartDeviceLogin {
            client: " qala ".to_owned(),
            purpose: Purpose::Login,
            name: None,
            scopes: "read write".parse().unwrap(),
            expires_in_days: 90,
            host: Some("laptop".to_owned()),
            network: None,
        }
    }

    #[test]
    fn the_default_name_is_the_program_and_the_machine() {
        assert_eq!(validate_request(&input()).unwrap().name, "qala on laptop");
        let alone = StartDeviceLogin { host: None, ..input() };
        assert_eq!(validate_request(&alone).unwrap().name, "qala");
        let long = StartDeviceLogin { client: "c".repeat(60), host: Some("h".repeat(64)), ..input() };
        assert_eq!(validate_request(&long).unwrap().name.len(), 60);
    }

    #[test]
    fn deceptive_names_and_excessive_requests_are_refused() {
        for client in ["", "a\nb", "evil\u{202e}alaq", "a\u{200b}b", &"c".repeat(61)] {
            let input = StartDeviceLogin { client: client.to_owned(), ..input() };
            assert!(validate_request(&input).is_err(), "{client:?}");
        }
        assert!(
            validate_request(&StartDeviceLogin { scopes: "read admin".parse().unwrap(), ..input() }).is_err()
        );
        for days in [0, 366] {
            assert!(
                validate_request(&StartDeviceLogin { expires_in_days: days, ..input() }).is_err(),
                "{days}"
            );
        }
    }

    async fn start(
        store: &mut FakeStore,
        input: StartDeviceLogin,
    ) -> Result<StartedDeviceLogin, IdentityError> {
        start_device_login(store, &visitor(), &peppers(), input).await
    }

    #[tokio::test]
    async fn a_login_is_stored_under_the_digests_of_both_codes() {
        let mut store = FakeStore::default();
        let network = Some(IpAddr::from([192, 0, 2, 1]));
        let started = start(&mut store, StartDeviceLogin { network, ..input() }).await.unwrap();

        let [stored] = &store.device_logins[..] else { panic!("one login") };
        assert_eq!((&stored.login, stored.network), (&started.login, network));
        let device_code = started.device_code.expose_secret();
        assert_eq!(token::detect_kind(device_code), Some(TokenKind::DeviceCode));
        assert_eq!(stored.device_digest, peppers().digest(device_code));
        assert_eq!(stored.user_digest, started.user_code.digest(&peppers()));
        assert_eq!(started.login.decision, DeviceLoginDecision::Pending);
        assert_eq!((started.login.created_at, started.login.expires_at), (at(0), at(600_000)));
        assert_eq!(started.login.request.client, "qala");
        store.assert_audited(&[("device.start", &"visitor", &started.login.id)]);
        let detail = json!({ "client": "qala", "host": "laptop", "scopes": "read write" });
        assert_eq!(store.work.audit[0].detail, Some(detail));
        store.assert_not_audited(&[device_code, &started.user_code.to_string()]);
    }

    #[tokio::test]
    async fn an_invalid_field_is_named_and_nothing_is_stored() {
        for (input, expected) in [
            (StartDeviceLogin { client: String::new(), ..input() }, InvalidInput::DeviceClientName),
            (StartDeviceLogin { host: Some("h".repeat(65)), ..input() }, InvalidInput::DeviceHostName),
            (StartDeviceLogin { name: Some("n".repeat(61)), ..input() }, InvalidInput::TokenName),
            (
                StartDeviceLogin { scopes: "admin".parse().unwrap(), ..input() },
                InvalidInput::DeviceAdminScope,
            ),
            (StartDeviceLogin { expires_in_days: 0, ..input() }, InvalidInput::DeviceTokenLifetime),
        ] {
            let mut store = FakeStore::default();
            let refused = start(&mut store, input).await;
            assert!(
                matches!(refused, Err(IdentityError::InvalidInput(invalid)) if invalid == expected),
                "{expected:?}"
            );
            assert!(store.device_logins.is_empty() && store.work.audit.is_empty());
        }
    }

    #[tokio::test]
    async fn open_logins_are_limited_in_total_and_for_each_network() {
        let [near, far] = [1, 2].map(|host| Some(IpAddr::from([192, 0, 2, host])));
        for (count, open_from, network, refused) in [
            (MAX_OPEN_PER_ADDRESS, near, near, true),
            (MAX_OPEN_PER_ADDRESS - 1, near, near, false),
            (MAX_OPEN_PER_ADDRESS, near, far, false),
            (MAX_OPEN_PER_ADDRESS, None, None, false),
            (MAX_OPEN, near, far, true),
            (MAX_OPEN - 1, near, far, false),
        ] {
            let mut store = FakeStore::default();
            let open = StoredDeviceLogin {
                network: open_from,
                ..stored_device_login(device_login(1, at(0)), "code")
            };
            store.device_logins = vec![open; usize::try_from(count).unwrap()];
            let started = start(&mut store, StartDeviceLogin { network, ..input() }).await;
            assert_eq!(matches!(started, Err(IdentityError::TooManyDeviceLogins)), refused, "{count}");
            assert_eq!(started.is_err(), refused);
            assert_eq!(store.work.audit.is_empty(), refused);
        }
    }

    #[tokio::test]
    async fn logins_that_are_over_do_not_count() {
        let mut store = FakeStore::default();
        let expired = stored_device_login(device_login(1, at(-600_000)), "code");
        store.device_logins = vec![expired; usize::try_from(MAX_OPEN).unwrap()];
        assert!(start(&mut store, input()).await.is_ok());
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let failed = start(&mut FakeStore::unavailable(), input()).await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Unavailable(_)))));
    }
}
