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
pub const FRESH: TimeDelta = TimeDelta::minutes(10);

impl Session {
    /// Whether a passkey proved the person a short while ago.
    #[must_use]
    pub fn is_fresh(&self, now: kernel::Timestamp) -> bool {
        self.stepped_up_at.is_some_and(|at| now < at + FRESH)
    }
}

/// Notes that the person was proven, and gives the session a new secret: whoever had copied the old one is out.
///
/// # Errors
/// [`IdentityError::SessionNotFound`] when it has ended meanwhile, or what the store says.
pub async fn step_up<T: SessionTx + ?Sized>(
    tx: &mut T,
    ctx: &Context,
    peppers: &Peppers,
    session: SessionId,
) -> Result<SecretString, IdentityError> {
    let secret = token::mint(TokenKind::Session, ctx.random());
    if !tx.step_session_up(session, &peppers.digest(secret.expose_secret()), ctx.now).await? {
        return Err(IdentityError::SessionNotFound);
    }
    tx.audit(ctx.audit("session.step_up").target(session));
    Ok(secret)
}
