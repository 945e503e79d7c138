//! A relying party without cryptography.

use kernel::id::UserId;
use serde_json::{Value, json};

use crate::{
    User,
    passkeys::{
        CeremonyChallenge, Passkey, PasskeyRejected, RegisteredCredential, RelyingParty, VerifiedCredential,
    },
};

/// A relying party whose challenges are names. An response `{"state": …, "credential": …}` is accepted when it repeats the
/// challenge's state and, except in a registration, names one of the passkeys.
#[derive(Debug, Default)]
pub(crate) struct FakeRelyingParty {
    /// True when no challenge can be made.
    pub(crate) is_broken: bool,
}

/// The response to a challenge with the passkey that the authenticator names `credential`.
pub(crate) fn response(options: &Value, credential: &str) -> Value {
    json!({ "state": options["state"], "credential": credential })
}

impl FakeRelyingParty {
    fn challenge(&self, state: String) -> Result<CeremonyChallenge, PasskeyRejected> {
        if self.is_broken {
            return Err(PasskeyRejected("the stored passkey cannot be read".to_owned()));
        }
        Ok(CeremonyChallenge { options: json!({ "state": state }), state })
    }
}

fn credential_id(state: &str, response: &Value) -> Result<Vec<u8>, PasskeyRejected> {
    match response["credential"].as_str() {
        Some(credential) if response["state"] == state => Ok(credential.as_bytes().to_vec()),
        _ => Err(PasskeyRejected("wrong state".to_owned())),
    }
}

fn verify(state: &str, response: &Value, keys: &[Passkey]) -> Result<VerifiedCredential, PasskeyRejected> {
    let credential_id = credential_id(state, response)?;
    if !keys.iter().any(|key| key.credential_id == credential_id) {
        return Err(PasskeyRejected("unknown passkey".to_owned()));
    }
    Ok(VerifiedCredential { credential_id, credential: Some("counter 2".to_owned()) })
}

impl RelyingParty for FakeRelyingParty {
    fn registration_challenge(
        &self,
        user: &User,
        existing: &[Passkey],
    ) -> Result<CeremonyChallenge, PasskeyRejected> {
        self.challenge(format!("register {} beside {}", user.name, existing.len()))
    }

    fn verify_registration(
        &self,
        state: &str,
        response: &Value,
    ) -> Result<RegisteredCredential, PasskeyRejected> {
        let credential_id = credential_id(state, response)?;
        Ok(RegisteredCredential { credential_id, credential: "counter 1".to_owned() })
    }

    fn sign_in_challenge(&self) -> Result<CeremonyChallenge, PasskeyRejected> {
        self.challenge("sign in".to_owned())
    }

    fn identify_user(&self, _: &Value) -> Result<UserId, PasskeyRejected> {
        Err(PasskeyRejected("the use cases are told who is claimed".to_owned()))
    }

    fn verify_sign_in(
        &self,
        state: &str,
        response: &Value,
        keys: &[Passkey],
    ) -> Result<VerifiedCredential, PasskeyRejected> {
        verify(state, response, keys)
    }

    fn step_up_challenge(&self, keys: &[Passkey]) -> Result<CeremonyChallenge, PasskeyRejected> {
        self.challenge(format!("step up with one of {}", keys.len()))
    }

    fn verify_step_up(
        &self,
        state: &str,
        response: &Value,
        keys: &[Passkey],
    ) -> Result<VerifiedCredential, PasskeyRejected> {
        verify(state, response, keys)
    }
}
