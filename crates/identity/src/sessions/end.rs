//! Signing out.

use kernel::{Context, StoreError, id::SessionId};

use crate::IdentityTx;

/// Ends a session; succeeds if it has ended already.
///
/// # Errors
/// [`StoreError`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn end_session(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    session: SessionId,
) -> Result<(), StoreError> {
    if tx.delete_session(session).await? {
        tx.audit(ctx.audit_entry("session.end").target(session));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::testing::{at, id};

    use super::*;
    use crate::testing::{FakeStore, aru, peppers, session, signed_in};

    #[tokio::test]
    async fn a_session_ends_and_ending_it_again_changes_nothing() {
        let (mut store, ctx) = (FakeStore::default(), signed_in(&aru()));
        let digest = peppers().digest("secret");
        store.sessions = vec![(session(1, &aru(), at(0)), digest), (session(2, &aru(), at(0)), digest)];
        for _ in 0..2 {
            end_session(&mut store, &ctx, id(1)).await.unwrap();
        }

        assert_eq!(store.sessions, [(session(2, &aru(), at(0)), digest)]);
        let ended: SessionId = id(1);
        store.assert_audited(&[("session.end", &aru().id, &ended)]);
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let mut store = FakeStore::unavailable();
        let refused = end_session(&mut store, &signed_in(&aru()), id(1)).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))));
        assert!(store.work.audit.is_empty());
    }
}
