//! Deleting a passkey.

use kernel::{Context, id::PasskeyId, id::UserId};

use crate::{IdentityError, ports::PasskeyTx, sessions::StepUpProof};

/// Deletes one of the person's passkeys. It requires a step-up: once the last passkey is gone, nothing asks for one.
///
/// # Errors
/// [`IdentityError::PasskeyNotFound`] if the person has no such passkey; [`IdentityError::Store`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn delete_passkey(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    _proof: &StepUpProof,
    user: UserId,
    passkey: PasskeyId,
) -> Result<(), IdentityError> {
    if !tx.delete_passkey(user, passkey).await? {
        return Err(IdentityError::PasskeyNotFound);
    }
    tx.audit(ctx.audit_entry("passkey.delete").target(passkey));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::{
        StoreError,
        testing::{at, id},
    };

    use super::*;
    use crate::{
        sessions::require_step_up,
        testing::{FakeStore, aru, bek, passkey, session, signed_in},
    };

    async fn delete(store: &mut FakeStore, number: u128) -> Result<(), IdentityError> {
        let proof = require_step_up(&session(1, &aru(), at(0)), false, at(0)).unwrap();
        delete_passkey(store, &signed_in(&aru()), &proof, aru().id, id(number)).await
    }

    #[tokio::test]
    async fn a_passkey_of_the_person_is_deleted_once() {
        let mut store =
            FakeStore { passkeys: vec![passkey(1, &aru()), passkey(2, &aru())], ..FakeStore::default() };
        delete(&mut store, 1).await.unwrap();
        let again = delete(&mut store, 1).await;

        assert!(matches!(again, Err(IdentityError::PasskeyNotFound)));
        assert_eq!(store.passkeys, [passkey(2, &aru())]);
        let deleted: PasskeyId = id(1);
        store.assert_audited(&[("passkey.delete", &aru().id, &deleted)]);
    }

    #[tokio::test]
    async fn a_passkey_of_somebody_else_is_not_found() {
        let mut store = FakeStore { passkeys: vec![passkey(1, &bek())], ..FakeStore::default() };
        assert!(matches!(delete(&mut store, 1).await, Err(IdentityError::PasskeyNotFound)));
        assert_eq!((store.passkeys.len(), store.work.audit.len()), (1, 0));
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let failed = delete(&mut FakeStore::unavailable(), 1).await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Unavailable(_)))));
    }
}
