//! Ending one of a person's sessions.

use kernel::{Context, caller::SessionCaller, id::SessionId};

use crate::{IdentityError, ports::SessionTx};

/// Ends one of the person's own sessions.
///
/// # Errors
/// [`IdentityError::SessionNotFound`] if the person has no such session; [`IdentityError::Store`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn end_one_session(
    tx: &mut dyn SessionTx,
    ctx: &Context,
    caller: &SessionCaller,
    session: SessionId,
) -> Result<(), IdentityError> {
    if !tx.delete_session_of(caller.user, session).await? {
        return Err(IdentityError::SessionNotFound);
    }
    tx.audit(ctx.audit_entry("session.end").target(session));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::{
        StoreError,
        testing::{at, id},
    };

    use super::*;
    use crate::testing::{FakeStore, aru, bek, peppers, session, session_caller, signed_in};

    #[tokio::test]
    async fn a_person_ends_another_session_of_theirs_once() {
        let (mut store, ctx) = (FakeStore::default(), signed_in(&aru()));
        let digest = peppers().digest("secret");
        store.sessions = vec![(session(1, &aru(), at(0)), digest), (session(2, &aru(), at(0)), digest)];
        let caller = session_caller(&aru());
        end_one_session(&mut store, &ctx, &caller, id(2)).await.unwrap();
        let again = end_one_session(&mut store, &ctx, &caller, id(2)).await;

        assert!(matches!(again, Err(IdentityError::SessionNotFound)));
        assert_eq!(store.sessions, [(session(1, &aru(), at(0)), digest)]);
        let ended: SessionId = id(2);
        store.assert_audited(&[("session.end", &aru().id, &ended)]);
    }

    #[tokio::test]
    async fn a_session_of_somebody_else_is_not_found() {
        let (mut store, ctx) = (FakeStore::default(), signed_in(&aru()));
        store.sessions = vec![(session(2, &bek(), at(0)), peppers().digest("secret"))];
        let refused = end_one_session(&mut store, &ctx, &session_caller(&aru()), id(2)).await;

        assert!(matches!(refused, Err(IdentityError::SessionNotFound)));
        assert_eq!((store.sessions.len(), store.work.audit.len()), (1, 0));
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let mut store = FakeStore::unavailable();
        let refused = end_one_session(&mut store, &signed_in(&aru()), &session_caller(&aru()), id(1)).await;
        assert!(matches!(refused, Err(IdentityError::Store(StoreError::Unavailable(_)))));
    }
}
