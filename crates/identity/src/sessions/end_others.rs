//! Ending a person's other sessions, or all of them.

use kernel::{Context, caller::SessionCaller};

use crate::{IdentityError, ports::SessionTx};

/// Ends the person's other sessions, and the current one too if `include_current` is set. Returns their number.
///
/// # Errors
/// [`IdentityError::Store`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn end_other_sessions(
    tx: &mut dyn SessionTx,
    ctx: &Context,
    caller: &SessionCaller,
    include_current: bool,
) -> Result<u64, IdentityError> {
    let keep = (!include_current).then_some(caller.session);
    let ended = tx.delete_sessions_of(caller.user, keep).await?;
    tx.audit(
        ctx.audit_entry("session.end_all").target(caller.user).detail(serde_json::json!({ "ended": ended })),
    );
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use kernel::{
        StoreError,
        testing::{at, id},
    };
    use serde_json::json;

    use super::*;
    use crate::testing::{FakeStore, aru, bek, peppers, session, session_caller, signed_in};

    fn store() -> FakeStore {
        let digest = peppers().digest("secret");
        let sessions = [(1, aru()), (2, aru()), (3, aru()), (4, bek())];
        let sessions = sessions.map(|(number, user)| (session(number, &user, at(0)), digest));
        FakeStore { sessions: sessions.into(), ..FakeStore::default() }
    }

    #[tokio::test]
    async fn the_current_session_stays_unless_it_is_included() {
        for (include_current, ended, kept) in [(false, 2, vec![id(1), id(4)]), (true, 3, vec![id(4)])] {
            let (mut store, ctx, caller) = (store(), signed_in(&aru()), session_caller(&aru()));
            let count = end_other_sessions(&mut store, &ctx, &caller, include_current).await.unwrap();

            assert_eq!(count, ended);
            assert_eq!(store.sessions.iter().map(|(session, _)| session.id).collect::<Vec<_>>(), kept);
            store.assert_audited(&[("session.end_all", &aru().id, &aru().id)]);
            assert_eq!(store.work.audit[0].detail, Some(json!({ "ended": ended })));
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let mut store = FakeStore::unavailable();
        let refused = end_other_sessions(&mut store, &signed_in(&aru()), &session_caller(&aru()), true).await;
        assert!(matches!(refused, Err(IdentityError::Store(StoreError::Unavailable(_)))));
        assert!(store.work.audit.is_empty());
    }
}
