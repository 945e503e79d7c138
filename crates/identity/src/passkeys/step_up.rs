//! Stepping a session up with a passkey.

use kernel::{Context, caller::SessionCaller, id::CeremonyId, token::Peppers};
use secrecy::SecretString;
use serde_json::Value;

use super::{
    CeremonyPurpose, Passkey, RelyingParty,
    ceremony::{consume_ceremony, store_challenge},
};
use crate::{IdentityError, ports::PasskeyTx, sessions::step_up};

/// Starts a step-up and returns the ceremony's id and the options for the browser.
///
/// # Errors
/// [`IdentityError::NoPasskey`] if the person has none; [`IdentityError::PasskeyRejected`] if no challenge can be made;
/// [`IdentityError::Store`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn start_step_up(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    relying_party: &dyn RelyingParty,
    caller: &SessionCaller,
    keys: &[Passkey],
) -> Result<(CeremonyId, Value), IdentityError> {
    if keys.is_empty() {
        return Err(IdentityError::NoPasskey);
    }
    let challenge = relying_party.step_up_challenge(keys)?;
    Ok(store_challenge(tx, ctx, CeremonyPurpose::StepUp(caller.session), challenge).await?)
}

/// Records the step-up and returns the session's new secret for the cookie.
///
/// A rejected response uses the ceremony up, so the caller commits if the outer result is `Ok`, and then returns the
/// inner one: the secret, [`IdentityError::InvalidCeremony`] or [`IdentityError::PasskeyRejected`].
///
/// # Errors
/// The outer [`IdentityError::SessionNotFound`] if the session has ended; the outer [`IdentityError::Store`] if the
/// store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn finish_step_up(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    (relying_party, peppers): (&dyn RelyingParty, &Peppers),
    caller: &SessionCaller,
    (ceremony, response): (CeremonyId, &Value),
    keys: &[Passkey],
) -> Result<Result<SecretString, IdentityError>, IdentityError> {
    let Some(ceremony) = consume_ceremony(tx, ctx, ceremony).await? else {
        return Ok(Err(IdentityError::InvalidCeremony));
    };
    if ceremony.purpose != CeremonyPurpose::StepUp(caller.session) {
        return Ok(Err(IdentityError::InvalidCeremony));
    }
    let verified = match relying_party.verify_step_up(&ceremony.state, response, keys) {
        Ok(verified) => verified,
        Err(rejected) => return Ok(Err(rejected.into())),
    };
    tx.record_passkey_use(caller.user, &verified.credential_id, verified.credential.as_deref(), ctx.now)
        .await?;
    Ok(Ok(step_up(tx, ctx, peppers, caller.session).await?))
}

#[cfg(test)]
mod tests {
    use kernel::{
        StoreError,
        testing::{at, id},
    };
    use secrecy::ExposeSecret as _;

    use super::*;
    use crate::{
        passkeys::CEREMONY_LIFETIME,
        testing::{
            FakeRelyingParty, FakeStore, aru, later, passkey, peppers, response, session, session_caller,
            signed_in,
        },
    };

    fn keys() -> Vec<Passkey> {
        vec![passkey(1, &aru())]
    }

    fn store() -> FakeStore {
        let sessions = vec![(session(1, &aru(), at(-1)), peppers().digest("old"))];
        FakeStore { sessions, passkeys: keys(), ..FakeStore::default() }
    }

    async fn start(
        store: &mut FakeStore,
        ctx: &Context,
        keys: &[Passkey],
    ) -> Result<(CeremonyId, Value), IdentityError> {
        start_step_up(store, ctx, &FakeRelyingParty::default(), &session_caller(&aru()), keys).await
    }

    async fn finish(
        store: &mut FakeStore,
        ctx: &Context,
        response: (CeremonyId, &Value),
    ) -> Result<Result<SecretString, IdentityError>, IdentityError> {
        let (checks, caller) = ((&FakeRelyingParty::default() as _, &peppers()), session_caller(&aru()));
        finish_step_up(store, ctx, checks, &caller, response, &keys()).await
    }

    #[tokio::test]
    async fn a_passkey_steps_the_session_up_once() {
        let (mut store, ctx) = (store(), signed_in(&aru()));
        let (ceremony, options) = start(&mut store, &ctx, &keys()).await.unwrap();
        assert_eq!(store.ceremonies[0].purpose, CeremonyPurpose::StepUp(id(1)));
        let response = response(&options, "key-1");
        let secret = finish(&mut store, &ctx, (ceremony, &response)).await.unwrap().unwrap();
        let again = finish(&mut store, &ctx, (ceremony, &response)).await.unwrap();

        assert!(matches!(again, Err(IdentityError::InvalidCeremony)));
        let (session, digest) = &store.sessions[0];
        assert_eq!(session.stepped_up_at, Some(at(0)));
        assert_eq!(*digest, peppers().digest(secret.expose_secret()));
        assert_eq!(store.passkeys[0].last_used_at, Some(at(0)));
        assert_eq!(store.passkeys[0].credential, "counter 2");
        store.assert_audited(&[
            ("passkey.ask", &aru().id, &ceremony),
            ("passkey.answer", &aru().id, &ceremony),
            ("session.step_up", &aru().id, &session.id),
        ]);
        store.assert_not_audited(&[secret.expose_secret(), "key-1", "counter"]);
    }

    #[tokio::test]
    async fn a_person_without_passkeys_cannot_step_up() {
        let mut store = store();
        let refused = start(&mut store, &signed_in(&aru()), &[]).await;
        assert!(matches!(refused, Err(IdentityError::NoPasskey)));
        assert!(store.ceremonies.is_empty() && store.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_challenge_that_cannot_be_made_is_refused() {
        let (mut store, broken) = (store(), FakeRelyingParty { is_broken: true });
        let (ctx, caller) = (signed_in(&aru()), session_caller(&aru()));
        let refused = start_step_up(&mut store, &ctx, &broken, &caller, &keys()).await;
        assert!(matches!(refused, Err(IdentityError::PasskeyRejected(_))));
        assert!(store.ceremonies.is_empty() && store.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_wrong_answer_uses_the_ceremony_up() {
        let (mut store, ctx) = (store(), signed_in(&aru()));
        let (ceremony, options) = start(&mut store, &ctx, &keys()).await.unwrap();
        let refused = finish(&mut store, &ctx, (ceremony, &response(&options, "key-9"))).await.unwrap();
        assert!(matches!(refused, Err(IdentityError::PasskeyRejected(_))));
        let late = finish(&mut store, &ctx, (ceremony, &response(&options, "key-1"))).await.unwrap();

        assert!(matches!(late, Err(IdentityError::InvalidCeremony)));
        assert_eq!(store.sessions[0], (session(1, &aru(), at(-1)), peppers().digest("old")));
        assert_eq!(store.work.audited_actions(), ["passkey.ask", "passkey.answer"]);
    }

    #[tokio::test]
    async fn a_ceremony_of_another_purpose_or_session_or_a_late_answer_proves_nothing() {
        for (purpose, late) in [
            (CeremonyPurpose::StepUp(id(9)), false),
            (CeremonyPurpose::Register(id(1)), false),
            (CeremonyPurpose::SignIn, false),
            (CeremonyPurpose::StepUp(id(1)), true),
        ] {
            let (mut store, mut ctx) = (store(), signed_in(&aru()));
            let (ceremony, options) = start(&mut store, &ctx, &keys()).await.unwrap();
            store.ceremonies[0].purpose = purpose;
            if late {
                ctx = later(&ctx, CEREMONY_LIFETIME);
            }
            let refused = finish(&mut store, &ctx, (ceremony, &response(&options, "key-1"))).await.unwrap();
            assert!(matches!(refused, Err(IdentityError::InvalidCeremony)), "{purpose:?}");
            assert_eq!(store.sessions[0].0.stepped_up_at, None);
        }
    }

    #[tokio::test]
    async fn a_session_that_ended_meanwhile_does_not_step_up() {
        let (mut store, ctx) = (store(), signed_in(&aru()));
        let (ceremony, options) = start(&mut store, &ctx, &keys()).await.unwrap();
        store.sessions.clear();
        let refused = finish(&mut store, &ctx, (ceremony, &response(&options, "key-1"))).await;
        assert!(matches!(refused, Err(IdentityError::SessionNotFound)));
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let (mut store, ctx) = (FakeStore::unavailable(), signed_in(&aru()));
        let failed = start(&mut store, &ctx, &keys()).await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Unavailable(_)))));
        let failed = finish(&mut store, &ctx, (id(5), &Value::Null)).await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Unavailable(_)))));
    }
}
