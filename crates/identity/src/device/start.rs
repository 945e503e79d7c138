//! Asking for a login.

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
use crate::{IdentityError, ports::DeviceTx, text};

/// What a command line wants.
#[derive(Debug, Clone)]
pub struct StartDeviceLogin {
    /// The program, in its own words.
    pub client: String,
    /// What the token is for.
    pub purpose: Purpose,
    /// What the token will be called; made from program and machine when not said.
    pub name: Option<String>,
    /// What the token shall be used for.
    pub scopes: Scopes,
    /// How many days the token shall last.
    pub expires_in_days: u16,
    /// The machine, in its own words.
    pub host: Option<String>,
    /// What open logins are counted by; none where the address is not known.
    pub network: Option<IpAddr>,
}

/// A login and its codes, which are kept nowhere.
#[derive(Debug)]
pub struct StartedDeviceLogin {
    /// What is kept.
    pub login: DeviceLogin,
    /// What the command line keeps to itself.
    pub device_code: SecretString,
    /// What the person types.
    pub user_code: UserCode,
}

/// Opens a login.
///
/// # Errors
/// When a field is out of bounds, too many logins are open, or what the store says.
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

fn validate_request(input: &StartDeviceLogin) -> Result<DeviceLoginRequest, IdentityError> {
    let client = text::validate_label("client", "must have 1 to 60 printable characters", &input.client, 60)?;
    let host = match &input.host {
        Some(host) => Some(text::validate_label("host", "must have 1 to 64 printable characters", host, 64)?),
        None => None,
    };
    let name = match &input.name {
        Some(name) => text::validate_label("name", "must have 1 to 60 printable characters", name, 60)?,
        None => match &host {
            Some(host) => format!("{client} on {host}").chars().take(60).collect(),
            None => client.clone(),
        },
    };
    if input.scopes.allows(Scope::Admin) {
        return Err(IdentityError::InvalidField { field: "scopes", what: "may hold read and write" });
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

pub(super) fn check_days(days: u16) -> Result<(), IdentityError> {
    if (1..=365).contains(&days) {
        Ok(())
    } else {
        Err(IdentityError::InvalidField { field: "expiresInDays", what: "must be from 1 to 365" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_name_is_made_from_program_and_machine() {
        assert_eq!(validate_request(&input()).unwrap().name, "qala on laptop");
        let alone = StartDeviceLogin { host: None, ..input() };
        assert_eq!(validate_request(&alone).unwrap().name, "qala");
        let long = StartDeviceLogin { client: "c".repeat(60), host: Some("h".repeat(64)), ..input() };
        assert_eq!(validate_request(&long).unwrap().name.len(), 60);
    }

    #[test]
    fn what_would_deceive_or_widen_is_refused() {
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
}
