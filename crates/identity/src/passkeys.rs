//! Passkeys (W3C Web Authentication Level 3): a key in a person's device proves them, and no secret leaves it.
//!
//! What is proven is checked by an implementation of [`RelyingParty`]. Here is when a ceremony may begin, what it
//! counts for, and that each is used once.

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

pub use delete::delete_passkey;
pub use register::{finish_registration, start_registration};
pub use reset::{PasskeyReset, reset_passkeys};
pub use sign_in::{finish_sign_in, start_sign_in};
pub use step_up::{finish_step_up, start_step_up};

/// How long a ceremony may take.
pub const CEREMONY_LIFETIME: TimeDelta = TimeDelta::minutes(5);
/// How many passkeys a person may have.
pub const MAX_PASSKEYS: usize = 20;

/// A passkey as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passkey {
    /// The passkey's id.
    pub id: PasskeyId,
    /// Whose it is.
    pub user: UserId,
    /// What its owner calls it, 1 to 60 characters.
    pub name: String,
    /// What the authenticator calls it.
    pub credential_id: Vec<u8>,
    /// Public key and counter, in the form of whoever checks them.
    pub credential: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used.
    pub last_used_at: Option<Timestamp>,
}

/// A ceremony under way: a challenge was given out and not yet answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ceremony {
    /// The ceremony's id.
    pub id: CeremonyId,
    /// What it is for.
    pub purpose: CeremonyPurpose,
    /// The challenge, in the form of whoever checks the answer.
    pub state: String,
    /// When it ends by itself.
    pub expires_at: Timestamp,
}

/// What a ceremony is for. An answer to one counts for no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CeremonyPurpose {
    /// A new passkey for the person of this session.
    Register(SessionId),
    /// Signing in.
    SignIn,
    /// Proving oneself again in this session.
    StepUp(SessionId),
}

/// What goes to the browser, and what is kept until it answers.
#[derive(Debug)]
pub struct CeremonyChallenge {
    /// The argument of `navigator.credentials.create` or `.get`, in the JSON form of Web Authentication §5.1.
    pub options: Value,
    /// See [`Ceremony::state`].
    pub state: String,
}

/// A passkey that was just made.
#[derive(Debug)]
pub struct RegisteredCredential {
    /// What the authenticator calls it.
    pub credential_id: Vec<u8>,
    /// See [`Passkey::credential`].
    pub credential: String,
}

/// A passkey that just proved its person.
#[derive(Debug)]
pub struct VerifiedCredential {
    /// What the authenticator calls it.
    pub credential_id: Vec<u8>,
    /// What is to be kept from now on, where the use changed it.
    pub credential: Option<String>,
}

/// The answer does not prove what it should. The text may go into the log.
#[derive(Debug, thiserror::Error)]
#[error("the passkey's answer was refused: {0}")]
pub struct PasskeyRejected(pub String);

/// Checks what authenticators say.
pub trait RelyingParty: Send + Sync {
    /// Asks for a new passkey beside those the person has.
    ///
    /// # Errors
    /// When a kept passkey cannot be read.
    fn registration_challenge(
        &self,
        user: &User,
        existing: &[Passkey],
    ) -> Result<CeremonyChallenge, PasskeyRejected>;

    /// Checks the answer to [`Self::registration_challenge`].
    ///
    /// # Errors
    /// When the answer is not good.
    fn verify_registration(
        &self,
        state: &str,
        answer: &Value,
    ) -> Result<RegisteredCredential, PasskeyRejected>;

    /// Asks whoever is there to sign in with any passkey of theirs.
    ///
    /// # Errors
    /// When no challenge can be made.
    fn sign_in_challenge(&self) -> Result<CeremonyChallenge, PasskeyRejected>;

    /// Who the answer to [`Self::sign_in_challenge`] says it is; nothing is proven yet.
    ///
    /// # Errors
    /// When it does not say.
    fn identify_user(&self, answer: &Value) -> Result<UserId, PasskeyRejected>;

    /// Checks the answer to [`Self::sign_in_challenge`] against that person's passkeys.
    ///
    /// # Errors
    /// When the answer is not good.
    fn verify_sign_in(
        &self,
        state: &str,
        answer: &Value,
        keys: &[Passkey],
    ) -> Result<VerifiedCredential, PasskeyRejected>;

    /// Asks for one of these passkeys.
    ///
    /// # Errors
    /// When a kept passkey cannot be read.
    fn step_up_challenge(&self, keys: &[Passkey]) -> Result<CeremonyChallenge, PasskeyRejected>;

    /// Checks the answer to [`Self::step_up_challenge`].
    ///
    /// # Errors
    /// When the answer is not good.
    fn verify_step_up(
        &self,
        state: &str,
        answer: &Value,
        keys: &[Passkey],
    ) -> Result<VerifiedCredential, PasskeyRejected>;
}
