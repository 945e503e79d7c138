//! Stepping up: a recent use of a passkey, which sensitive actions require.

use chrono::TimeDelta;
use kernel::{
    Context,
    id::SessionId,
    token::{self, Peppers, TokenKind},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::Session;
use crate::{IdentityError, ports::SessionTx};

/// Time for which a step-up counts as recent.
pub const STEP_UP_LIFETIME: TimeDelta = TimeDelta::minutes(10);

impl Session {
    /// True if the person used a passkey in this session within [`STEP_UP_LIFETIME`].
    #[must_use]
    pub fn has_recent_step_up(&self, now: kernel::Timestamp) -> bool {
        self.stepped_up_at.is_some_and(|at| now < at + STEP_UP_LIFETIME)
    }
}

/// Proof that the person of a session stepped up recently, or has no passkey.
#[derive(Debug)]
pub struct StepUpProof(SessionId);

impl StepUpProof {
    /// Returns the session that the proof is about.
    #[must_use]
    pub fn session(&self) -> SessionId {
        self.0
    }
}

/// Makes the proof. These actions require it: transferring ownership, creating a token with the scope `admin`,
/// registering and deleting passkeys.
///
/// # Errors
/// [`IdentityError::StepUpRequired`] if the person has a passkey and has not used it within [`STEP_UP_LIFETIME`].
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

/// Records the step-up and returns a new secret for the session's cookie: a copy of the old one stops working.
///
/// # Errors
/// [`IdentityError::SessionNotFound`] if the session has ended; [`IdentityError::Store`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
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

#[cfg(test)]
mod tests {
    use kernel::{
        StoreError,
        testing::{at, id},
    };

    use super::*;
    use crate::testing::{FakeStore, aru, peppers, session, signed_in};

    #[test]
    fn a_passkey_must_have_been_used_in_the_last_ten_minutes() {
        let fresh = STEP_UP_LIFETIME - TimeDelta::milliseconds(1);
        for (stepped_up_at, has_passkey, after, proven) in [
            (Some(at(0)), true, fresh, true),
            (Some(at(0)), true, STEP_UP_LIFETIME, false),
            (None, true, TimeDelta::zero(), false),
            (None, false, STEP_UP_LIFETIME, true),
        ] {
            let session = Session { stepped_up_at, ..session(1, &aru(), at(0)) };
            match require_step_up(&session, has_passkey, at(0) + after) {
                Ok(proof) => assert!(proven && proof.session() == session.id),
                Err(error) => assert!(!proven && matches!(error, IdentityError::StepUpRequired)),
            }
        }
    }

    #[tokio::test]
    async fn stepping_up_gives_the_session_a_new_secret() {
        let (mut store, ctx) = (FakeStore::default(), signed_in(&aru()));
        let old = peppers().digest("old");
        store.sessions = vec![(session(1, &aru(), at(-1)), old), (session(2, &aru(), at(-1)), old)];
        let secret = step_up(&mut store, &ctx, &peppers(), id(1)).await.unwrap();
        let secret = secret.expose_secret();

        assert_eq!(token::detect_kind(secret), Some(TokenKind::Session));
        assert_eq!(store.sessions[0].1, peppers().digest(secret));
        assert_eq!(store.sessions[0].0.stepped_up_at, Some(at(0)));
        assert_eq!(store.sessions[1], (session(2, &aru(), at(-1)), old));
        let session: SessionId = id(1);
        store.assert_audited(&[("session.step_up", &aru().id, &session)]);
        store.assert_not_audited(&[secret]);
    }

    #[tokio::test]
    async fn a_session_that_has_ended_does_not_step_up() {
        let mut store = FakeStore::default();
        let refused = step_up(&mut store, &signed_in(&aru()), &peppers(), id(1)).await;
        assert!(matches!(refused, Err(IdentityError::SessionNotFound)));
        assert!(store.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let mut store = FakeStore::unavailable();
        let refused = step_up(&mut store, &signed_in(&aru()), &peppers(), id(1)).await;
        assert!(matches!(refused, Err(IdentityError::Store(StoreError::Unavailable(_)))));
    }
}
