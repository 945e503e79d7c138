//! Deleting all passkeys of a person who lost them.

use kernel::{Context, StoreError, id::UserId};

use crate::ports::PasskeyTx;

/// Result of a reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasskeyReset {
    /// Number of deleted passkeys.
    pub passkeys: u64,
    /// Number of ended sessions.
    pub sessions: u64,
}

/// Deletes all passkeys of a person and ends their sessions. They can still sign in by e-mail, and no action asks for
/// a passkey until they register one.
///
/// Only the operator can do this, for a person who lost their device, because it removes the second factor.
///
/// # Errors
/// [`StoreError`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn reset_passkeys(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    user: UserId,
) -> Result<PasskeyReset, StoreError> {
    let passkeys = tx.delete_passkeys_of(user).await?;
    // A stolen device may also hold a session that it opened.
    let sessions = tx.delete_sessions_of(user, None).await?;
    let detail = serde_json::json!({ "passkeys": passkeys, "sessions": sessions });
    tx.audit(ctx.audit_entry("passkey.take_off").target(user).detail(detail));
    Ok(PasskeyReset { passkeys, sessions })
}

#[cfg(test)]
mod tests {
    use kernel::{
        Caller,
        testing::{at, context},
    };
    use serde_json::json;

    use super::*;
    use crate::testing::{FakeStore, aru, bek, passkey, peppers, session};

    #[tokio::test]
    async fn the_operator_deletes_all_passkeys_and_ends_all_sessions_of_a_person() {
        let mut store = FakeStore {
            passkeys: vec![passkey(1, &aru()), passkey(2, &aru()), passkey(3, &bek())],
            ..FakeStore::default()
        };
        let digest = peppers().digest("secret");
        store.sessions = vec![(session(1, &aru(), at(0)), digest), (session(2, &bek(), at(0)), digest)];
        let ctx = context(Caller::System("admin"), at(0));
        let first = reset_passkeys(&mut store, &ctx, aru().id).await.unwrap();
        let second = reset_passkeys(&mut store, &ctx, aru().id).await.unwrap();

        assert_eq!(first, PasskeyReset { passkeys: 2, sessions: 1 });
        assert_eq!(second, PasskeyReset { passkeys: 0, sessions: 0 });
        assert_eq!(store.passkeys, [passkey(3, &bek())]);
        assert_eq!(store.sessions, [(session(2, &bek(), at(0)), digest)]);
        let entry = ("passkey.take_off", &"system:admin" as _, &aru().id as _);
        store.assert_audited(&[entry, entry]);
        assert_eq!(store.work.audit[0].detail, Some(json!({ "passkeys": 2, "sessions": 1 })));
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let (mut store, ctx) = (FakeStore::unavailable(), context(Caller::System("admin"), at(0)));
        let failed = reset_passkeys(&mut store, &ctx, aru().id).await;
        assert!(matches!(failed, Err(StoreError::Unavailable(_))));
        assert!(store.work.audit.is_empty());
    }
}
