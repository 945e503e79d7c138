//! Passkeys (W3C Web Authentication Level 3), checked by `webauthn-rs`.
//!
//! Its challenges come from its own generator and its attestations are looked at by its own clock: it takes neither as
//! an argument.

use identity::{
    User,
    passkeys::{Authenticators, Challenge, NewCredential, Passkey as Kept, Refused, UsedCredential},
};
use kernel::{Id, id::UserId};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use url::Url;
use webauthn_rs::prelude::{
    AuthenticationResult, CredentialID, DiscoverableAuthentication, DiscoverableKey, Passkey,
    PasskeyAuthentication, PasskeyRegistration, PublicKeyCredential, RegisterPublicKeyCredential, Webauthn,
    WebauthnBuilder,
};

/// Passkeys of one site.
#[derive(Debug)]
pub struct Site(Webauthn);

/// Passkeys belong to a host name, which the site does not have.
#[derive(Debug, thiserror::Error)]
#[error("passkeys need a site with a host name: {0}")]
pub struct NoHostName(String);

impl Site {
    /// The site whose pages are at `origin`. Its host name becomes a part of every passkey: another one later makes all
    /// of them useless.
    ///
    /// # Errors
    /// When the origin has an IP address in place of a name.
    pub fn new(origin: &Url) -> Result<Self, NoHostName> {
        let host = origin.domain().ok_or_else(|| NoHostName(origin.to_string()))?;
        let builder = WebauthnBuilder::new(host, origin).map_err(|error| NoHostName(error.to_string()))?;
        let site = builder.rp_name("Qala").build().map_err(|error| NoHostName(error.to_string()))?;
        Ok(Self(site))
    }
}

fn refused(error: impl std::fmt::Display) -> Refused {
    Refused(error.to_string())
}

fn write<T: Serialize>(value: &T) -> Result<String, Refused> {
    serde_json::to_string(value).map_err(refused)
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, Refused> {
    serde_json::from_str(text).map_err(refused)
}

fn answer<T: DeserializeOwned>(value: &Value) -> Result<T, Refused> {
    T::deserialize(value).map_err(refused)
}

fn keys(kept: &[Kept]) -> Result<Vec<Passkey>, Refused> {
    kept.iter().map(|kept| read(&kept.credential)).collect()
}

/// What changed in a key by its use: its counter, or whether it is backed up.
fn used(mut keys: Vec<Passkey>, result: &AuthenticationResult) -> Result<UsedCredential, Refused> {
    let key = keys.iter_mut().find(|key| key.cred_id() == result.cred_id());
    let key = key.ok_or_else(|| refused("the key is another's"))?;
    let changed = key.update_credential(result) == Some(true);
    let credential = if changed { Some(write(key)?) } else { None };
    Ok(UsedCredential { credential_id: result.cred_id().as_slice().to_vec(), credential })
}

impl Authenticators for Site {
    fn ask_to_register(&self, user: &User, existing: &[Kept]) -> Result<Challenge, Refused> {
        let exclude = existing.iter().map(|kept| CredentialID::from(kept.credential_id.clone())).collect();
        let (challenge, state) = self
            .0
            .start_passkey_registration(user.id.uuid(), user.email.as_str(), &user.name, Some(exclude))
            .map_err(refused)?;
        let mut options = serde_json::to_value(challenge).map_err(refused)?;
        // Signing in asks for nobody's name, so the device must keep the key where it finds it without one.
        options["publicKey"]["authenticatorSelection"]["residentKey"] = "required".into();
        options["publicKey"]["authenticatorSelection"]["requireResidentKey"] = true.into();
        Ok(Challenge { options, state: write(&state)? })
    }

    fn check_registered(&self, state: &str, value: &Value) -> Result<NewCredential, Refused> {
        let state: PasskeyRegistration = read(state)?;
        let response: RegisterPublicKeyCredential = answer(value)?;
        let key = self.0.finish_passkey_registration(&response, &state).map_err(refused)?;
        Ok(NewCredential { credential_id: key.cred_id().as_slice().to_vec(), credential: write(&key)? })
    }

    fn ask_to_sign_in(&self) -> Result<Challenge, Refused> {
        let (mut challenge, state) = self.0.start_discoverable_authentication().map_err(refused)?;
        // Whether the browser asks at once or offers it beside a field is for the page to say.
        challenge.mediation = None;
        Ok(Challenge { options: serde_json::to_value(challenge).map_err(refused)?, state: write(&state)? })
    }

    fn claimed_user(&self, value: &Value) -> Result<UserId, Refused> {
        let response: PublicKeyCredential = answer(value)?;
        let (user, _) = self.0.identify_discoverable_authentication(&response).map_err(refused)?;
        Ok(Id::from_uuid(user))
    }

    fn check_signed_in(&self, state: &str, value: &Value, kept: &[Kept]) -> Result<UsedCredential, Refused> {
        let state: DiscoverableAuthentication = read(state)?;
        let response: PublicKeyCredential = answer(value)?;
        let keys = keys(kept)?;
        let key = keys.iter().find(|key| key.cred_id().as_ref() as &[u8] == response.get_credential_id());
        let key = key.ok_or_else(|| refused("the key is another's"))?;
        let result = self
            .0
            .finish_discoverable_authentication_v2(&response, state, DiscoverableKey::from(key))
            .map_err(refused)?;
        used(keys, &result)
    }

    fn ask_to_step_up(&self, kept: &[Kept]) -> Result<Challenge, Refused> {
        let (challenge, state) = self.0.start_passkey_authentication(&keys(kept)?).map_err(refused)?;
        Ok(Challenge { options: serde_json::to_value(challenge).map_err(refused)?, state: write(&state)? })
    }

    fn check_stepped_up(&self, state: &str, value: &Value, kept: &[Kept]) -> Result<UsedCredential, Refused> {
        let state: PasskeyAuthentication = read(state)?;
        let response: PublicKeyCredential = answer(value)?;
        let result = self.0.finish_passkey_authentication(&response, &state).map_err(refused)?;
        used(keys(kept)?, &result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_needs_a_name() {
        let site = |origin: &str| Site::new(&origin.parse().unwrap());
        assert!(site("https://qala.example.com").is_ok());
        assert!(site("http://localhost:7420").is_ok());
        assert!(site("http://127.0.0.1:7420").is_err());
    }
}
