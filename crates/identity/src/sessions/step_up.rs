//! Proving oneself again in a session.

use chrono::TimeDelta;
use kernel::{
    Context,
    id::SessionId,
    token::{self, Peppers, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::Session;
use crate::{IdentityError, ports::SessionTx};

/// How long a proof is fresh.
pub const STEP_UP_LIFETIME: TimeDelta = TimeDelta::minutes(10);

impl Session {
    /// Whether a passkey proved the person a short while ago.
    #[must_use]
    pub fn has_recent_step_up(&self, now: kernel::Timestamp) -> bool {
        self.stepped_up_at.is_some_and(|at| now < at + STEP_UP_LIFETIME)
    }
}

/// Proof that the person behind a session is there: a passkey proved them a short while ago, or they have none.
#[derive(Debug)]
pub struct StepUpProof(SessionId);

impl StepUpProof {
    /// The session.
    #[must_use]
    pub fn session(&self) -> SessionId {
        self.0
    }
}

/// Makes the proof. What asks for it: giving ownership away, making a token with the scope `admin`, making and taking
/// away passkeys.
///
/// # Errors
/// [`IdentityError::StepUpRequired`] when the person has a passkey and did not use it in the last ten minutes.
pub fn require_step_up(
    session: &Session,
    has_passkey: bool,
    now: kernel::Timestamp,
) -> Result<StepUpProof, IdentityError> {
    if has_passkey && !session.has_recent_step_up(now) {
        return Err(IdentityError::StepUpRequired);
    }
    Ok(StepUpProof(session.id))
}

/// Notes that the person was proven, and gives the session a new secret: whoever had copied the old one is out.
///
/// # Errors
/// [`IdentityError::SessionNotFound`] when it has ended meanwhile, or what the store says.
pub async fn step_up(
    tx: &mut dyn SessionTx,
    ctx: &Context,
    peppers: &Peppers,
    session: SessionId,
) -> Result<SecretString, IdentityError> {
    let secret = token::mint(TokenKind::Session, ctx.random());
    if !tx.record_step_up(session, &peppers.digest(secret.expose_secret()), ctx.now).await? {
        return Err(IdentityError::SessionNotFound);
    }
    tx.audit(ctx.audit_entry("session.step_up").target(session));
    Ok(secret)
}
