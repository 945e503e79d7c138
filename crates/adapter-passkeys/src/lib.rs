//! Passkeys (W3C Web Authentication Level 3), verified by `webauthn-rs`.
//!
//! `webauthn-rs` takes neither a random number generator nor a clock as an argument: challenges come from its own
//! generator, and attestations are verified by its own clock.
//! See `docs/decisions/0040-verify-passkeys-with-webauthn-rs.md`.

use identity::{
    User,
    passkeys::{
        CeremonyChallenge, Passkey as Kept, PasskeyRejected, RegisteredCredential, RelyingParty,
        VerifiedCredential,
    },
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

/// The relying party for the passkeys of one site.
#[derive(Debug)]
pub struct WebauthnRelyingParty(Webauthn);

/// The error for a site without a host name, to which passkeys could be bound.
#[derive(Debug, thiserror::Error)]
#[error("passkeys require a site with a host name: {0}")]
pub struct NoHostName(String);

impl WebauthnRelyingParty {
    /// Creates the relying party for the pages at `origin`. Every passkey is bound to its host name: under another
    /// name, existing passkeys stop working.
    ///
    /// # Errors
    /// Fails if the origin has an IP address instead of a name.
    pub fn new(origin: &Url) -> Result<Self, NoHostName> {
        let host = origin.domain().ok_or_else(|| NoHostName(origin.to_string()))?;
        let builder = WebauthnBuilder::new(host, origin).map_err(|error| NoHostName(error.to_string()))?;
        let site = builder.rp_name("Qala").build().map_err(|error| NoHostName(error.to_string()))?;
        Ok(Self(site))
    }
}

fn refused(error: impl std::fmt::Display) -> PasskeyRejected {
    PasskeyRejected(error.to_string())
}

fn to_json<T: Serialize>(value: &T) -> Result<String, PasskeyRejected> {
    serde_json::to_string(value).map_err(refused)
}

fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, PasskeyRejected> {
    serde_json::from_str(text).map_err(refused)
}

fn parse_response<T: DeserializeOwned>(value: &Value) -> Result<T, PasskeyRejected> {
    T::deserialize(value).map_err(refused)
}

/// Checks that no page of another site had the browser ask for the passkey (Web Authentication Level 3, sections 7.1 and
/// 7.2): Qala is not shown in frames. The library checks the origin of the frame alone.
fn refuse_cross_origin(client_data: &[u8]) -> Result<(), PasskeyRejected> {
    let data: Value = serde_json::from_slice(client_data).map_err(refused)?;
    let is_same_origin = matches!(data.get("crossOrigin"), None | Some(Value::Null | Value::Bool(false)));
    if !is_same_origin || data.get("topOrigin").is_some_and(|origin| !origin.is_null()) {
        return Err(refused("the browser was asked in a frame of another site"));
    }
    Ok(())
}

fn decode_passkeys(kept: &[Kept]) -> Result<Vec<Passkey>, PasskeyRejected> {
    kept.iter().map(|kept| from_json(&kept.credential)).collect()
}

/// Returns the credential as changed by its use: its counter, or its backup state.
fn used_credential(
    mut keys: Vec<Passkey>,
    result: &AuthenticationResult,
) -> Result<VerifiedCredential, PasskeyRejected> {
    let key = keys.iter_mut().find(|key| key.cred_id() == result.cred_id());
    let key = key.ok_or_else(|| refused("the credential belongs to somebody else"))?;
    let changed = key.update_credential(result) == Some(true);
    let credential = if changed { Some(to_json(key)?) } else { None };
    Ok(VerifiedCredential { credential_id: result.cred_id().as_slice().to_vec(), credential })
}

impl RelyingParty for WebauthnRelyingParty {
    fn registration_challenge(
        &self,
        user: &User,
        existing: &[Kept],
    ) -> Result<CeremonyChallenge, PasskeyRejected> {
        let exclude = existing.iter().map(|kept| CredentialID::from(kept.credential_id.clone())).collect();
        let (challenge, state) = self
            .0
            .start_passkey_registration(user.id.uuid(), user.email.as_str(), &user.name, Some(exclude))
            .map_err(refused)?;
        let mut options = serde_json::to_value(challenge).map_err(refused)?;
        // Sign-in does not ask for an account name, so the device must store a discoverable credential.
        options["publicKey"]["authenticatorSelection"]["residentKey"] = "required".into();
        options["publicKey"]["authenticatorSelection"]["requireResidentKey"] = true.into();
        Ok(CeremonyChallenge { options, state: to_json(&state)? })
    }

    fn verify_registration(
        &self,
        state: &str,
        value: &Value,
    ) -> Result<RegisteredCredential, PasskeyRejected> {
        let state: PasskeyRegistration = from_json(state)?;
        let response: RegisterPublicKeyCredential = parse_response(value)?;
        refuse_cross_origin(response.response.client_data_json.as_ref())?;
        let key = self.0.finish_passkey_registration(&response, &state).map_err(refused)?;
        Ok(RegisteredCredential {
            credential_id: key.cred_id().as_slice().to_vec(),
            credential: to_json(&key)?,
        })
    }

    fn sign_in_challenge(&self) -> Result<CeremonyChallenge, PasskeyRejected> {
        let (mut challenge, state) = self.0.start_discoverable_authentication().map_err(refused)?;
        // The page decides if the browser asks at once or offers passkeys in a field (conditional mediation).
        challenge.mediation = None;
        Ok(CeremonyChallenge {
            options: serde_json::to_value(challenge).map_err(refused)?,
            state: to_json(&state)?,
        })
    }

    fn identify_user(&self, value: &Value) -> Result<UserId, PasskeyRejected> {
        let response: PublicKeyCredential = parse_response(value)?;
        let (user, _) = self.0.identify_discoverable_authentication(&response).map_err(refused)?;
        Ok(Id::from_uuid(user))
    }

    fn verify_sign_in(
        &self,
        state: &str,
        value: &Value,
        kept: &[Kept],
    ) -> Result<VerifiedCredential, PasskeyRejected> {
        let state: DiscoverableAuthentication = from_json(state)?;
        let response: PublicKeyCredential = parse_response(value)?;
        refuse_cross_origin(response.response.client_data_json.as_ref())?;
        let keys = decode_passkeys(kept)?;
        let key = keys.iter().find(|key| key.cred_id().as_ref() as &[u8] == response.get_credential_id());
        let key = key.ok_or_else(|| refused("the credential belongs to somebody else"))?;
        let result = self
            .0
            .finish_discoverable_authentication_v2(&response, state, DiscoverableKey::from(key))
            .map_err(refused)?;
        used_credential(keys, &result)
    }

    fn step_up_challenge(&self, kept: &[Kept]) -> Result<CeremonyChallenge, PasskeyRejected> {
        let (challenge, state) =
            self.0.start_passkey_authentication(&decode_passkeys(kept)?).map_err(refused)?;
        Ok(CeremonyChallenge {
            options: serde_json::to_value(challenge).map_err(refused)?,
            state: to_json(&state)?,
        })
    }

    fn verify_step_up(
        &self,
        state: &str,
        value: &Value,
        kept: &[Kept],
    ) -> Result<VerifiedCredential, PasskeyRejected> {
        let state: PasskeyAuthentication = from_json(state)?;
        let response: PublicKeyCredential = parse_response(value)?;
        refuse_cross_origin(response.response.client_data_json.as_ref())?;
        let result = self.0.finish_passkey_authentication(&response, &state).map_err(refused)?;
        used_credential(decode_passkeys(kept)?, &result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_requires_a_host_name() {
        let site = |origin: &str| WebauthnRelyingParty::new(&origin.parse().unwrap());
        assert!(site("https://qala.example.com").is_ok());
        assert!(site("http://localhost:7420").is_ok());
        assert!(site("http://127.0.0.1:7420").is_err());
    }

    #[test]
    fn a_frame_of_another_site_is_refused() {
        for taken in [
            r#"{"type":"webauthn.get","origin":"https://qala.example"}"#,
            r#"{"crossOrigin":false}"#,
            r#"{"crossOrigin":null,"topOrigin":null}"#,
        ] {
            refuse_cross_origin(taken.as_bytes()).unwrap();
        }
        for refused in [
            r#"{"crossOrigin":true}"#,
            r#"{"crossOrigin":"true"}"#,
            r#"{"crossOrigin":"false"}"#,
            r#"{"crossOrigin":1}"#,
            r#"{"crossOrigin":true,"topOrigin":"https://qala.example"}"#,
            r#"{"crossOrigin":false,"topOrigin":"https://evil.example"}"#,
            r#"{"topOrigin":"https://evil.example"}"#,
            r#"{"topOrigin":""}"#,
            "nonsense",
        ] {
            assert!(refuse_cross_origin(refused.as_bytes()).is_err(), "{refused}");
        }
    }
}
