//! Passkeys (W3C Web Authentication Level 3): a key pair whose private key stays in the person's authenticator.
//!
//! An implementation of [`RelyingParty`] makes challenges and verifies responses. This module decides when a ceremony
//! may start and what it is valid for, and uses each ceremony once.

mod ceremony;
mod delete;
mod register;
mod reset;
mod sign_in;
mod step_up;

use chrono::TimeDelta;
use kernel::{
    Timestamp,
    id::{CeremonyId, PasskeyId, SessionId, UserId},
};
use serde_json::Value;

use crate::User;

pub use crate::error::PasskeyRejected;
pub use delete::delete_passkey;
pub use register::{finish_registration, start_registration};
pub use reset::{PasskeyReset, reset_passkeys};
pub use sign_in::{finish_sign_in, start_sign_in};
pub use step_up::{finish_step_up, start_step_up};

/// Lifetime of a ceremony.
pub const CEREMONY_LIFETIME: TimeDelta = TimeDelta::minutes(5);
/// Maximum number of passkeys of a person.
pub const MAX_PASSKEYS: usize = 20;

/// A passkey as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passkey {
    /// Id of the passkey.
    pub id: PasskeyId,
    /// Person who owns the passkey.
    pub user: UserId,
    /// Name given by the person, 1 to 60 characters.
    pub name: String,
    /// Credential id, chosen by the authenticator.
    pub credential_id: Vec<u8>,
    /// Public key and signature counter, in the format of the [`RelyingParty`].
    pub credential: String,
    /// Time at which the passkey was registered.
    pub created_at: Timestamp,
    /// Time of the last use.
    pub last_used_at: Option<Timestamp>,
}

/// A pending ceremony: a challenge that has not been answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ceremony {
    /// Id of the ceremony.
    pub id: CeremonyId,
    /// Purpose of the ceremony.
    pub purpose: CeremonyPurpose,
    /// State that the response is verified against, in the format of the [`RelyingParty`].
    pub state: String,
    /// Time at which the ceremony expires.
    pub expires_at: Timestamp,
}

/// Purpose of a ceremony. A response is valid for this purpose only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CeremonyPurpose {
    /// Registers a passkey for the person of this session.
    Register(SessionId),
    /// Signs a person in.
    SignIn,
    /// Steps this session up.
    StepUp(SessionId),
}

/// Challenge for a browser, and the state to keep until its response.
#[derive(Debug)]
pub struct CeremonyChallenge {
    /// Argument of `navigator.credentials.create` or `.get`, in JSON (Web Authentication Level 3, section 5.1).
    pub options: Value,
    /// State to keep, see [`Ceremony::state`].
    pub state: String,
}

/// Verified response to a registration.
#[derive(Debug)]
pub struct RegisteredCredential {
    /// Credential id, chosen by the authenticator.
    pub credential_id: Vec<u8>,
    /// Credential to store, see [`Passkey::credential`].
    pub credential: String,
}

/// Verified response of an existing passkey.
#[derive(Debug)]
pub struct VerifiedCredential {
    /// Credential id, chosen by the authenticator.
    pub credential_id: Vec<u8>,
    /// Credential to store from now on, if the use changed it.
    pub credential: Option<String>,
}

/// Makes challenges for authenticators and verifies their responses.
pub trait RelyingParty: Send + Sync {
    /// Makes a challenge to register a passkey in addition to those the person has.
    ///
    /// # Errors
    /// [`PasskeyRejected`] if a stored passkey cannot be read.
    fn registration_challenge(
        &self,
        user: &User,
        existing: &[Passkey],
    ) -> Result<CeremonyChallenge, PasskeyRejected>;

    /// Verifies the response to [`Self::registration_challenge`].
    ///
    /// # Errors
    /// [`PasskeyRejected`] if the response is not valid.
    fn verify_registration(
        &self,
        state: &str,
        response: &Value,
    ) -> Result<RegisteredCredential, PasskeyRejected>;

    /// Makes a challenge to sign in with any passkey of any person.
    ///
    /// # Errors
    /// [`PasskeyRejected`] if no challenge can be made.
    fn sign_in_challenge(&self) -> Result<CeremonyChallenge, PasskeyRejected>;

    /// Returns the person whom a response to [`Self::sign_in_challenge`] claims to come from; nothing is verified yet.
    ///
    /// # Errors
    /// [`PasskeyRejected`] if the response names nobody.
    fn identify_user(&self, response: &Value) -> Result<UserId, PasskeyRejected>;

    /// Verifies the response to [`Self::sign_in_challenge`] against the claimed person's passkeys.
    ///
    /// # Errors
    /// [`PasskeyRejected`] if the response is not valid.
    fn verify_sign_in(
        &self,
        state: &str,
        response: &Value,
        keys: &[Passkey],
    ) -> Result<VerifiedCredential, PasskeyRejected>;

    /// Makes a challenge to step up with one of these passkeys.
    ///
    /// # Errors
    /// [`PasskeyRejected`] if a stored passkey cannot be read.
    fn step_up_challenge(&self, keys: &[Passkey]) -> Result<CeremonyChallenge, PasskeyRejected>;

    /// Verifies the response to [`Self::step_up_challenge`].
    ///
    /// # Errors
    /// [`PasskeyRejected`] if the response is not valid.
    fn verify_step_up(
        &self,
        state: &str,
        response: &Value,
        keys: &[Passkey],
    ) -> Result<VerifiedCredential, PasskeyRejected>;
}
