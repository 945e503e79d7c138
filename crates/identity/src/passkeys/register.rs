//! Registering a passkey.

use kernel::{Context, caller::SessionCaller, id::CeremonyId};
use serde_json::Value;

use super::{
    CeremonyPurpose, MAX_PASSKEYS, Passkey, RelyingParty,
    ceremony::{consume_ceremony, store_challenge},
};
use crate::{IdentityError, InvalidInput, User, ports::PasskeyTx, sessions::StepUpProof, text};

/// Starts to register a passkey and returns the ceremony's id and the options for the browser.
///
/// A person who has a passkey must step up first: otherwise the thief of a session could register their own.
///
/// # Errors
/// [`IdentityError::TooManyPasskeys`] at [`MAX_PASSKEYS`]; [`IdentityError::PasskeyRejected`] if no challenge can be
/// made; [`IdentityError::Store`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn start_registration(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    relying_party: &dyn RelyingParty,
    proof: &StepUpProof,
    (user, existing): (&User, &[Passkey]),
) -> Result<(CeremonyId, Value), IdentityError> {
    if existing.len() >= MAX_PASSKEYS {
        return Err(IdentityError::TooManyPasskeys);
    }
    let challenge = relying_party.registration_challenge(user, existing)?;
    store_challenge(tx, ctx, CeremonyPurpose::Register(proof.session()), challenge).await.map_err(Into::into)
}

/// Stores the passkey of a browser's response.
///
/// A rejected response uses the ceremony up, so the caller commits if the outer result is `Ok`, and then returns the
/// inner one: the passkey, [`IdentityError::InvalidCeremony`] or [`IdentityError::PasskeyRejected`].
///
/// # Errors
/// The outer [`IdentityError::InvalidInput`] if the name is out of bounds; the outer [`IdentityError::Store`] if the
/// store fails, with [`Duplicate`](kernel::StoreError::Duplicate) if the passkey is registered already.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn finish_registration(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    relying_party: &dyn RelyingParty,
    caller: &SessionCaller,
    (ceremony, response): (CeremonyId, &Value),
    name: &str,
) -> Result<Result<Passkey, IdentityError>, IdentityError> {
    let name = text::validate_label(name, 60, InvalidInput::PasskeyName)?;
    let Some(ceremony) = consume_ceremony(tx, ctx, ceremony).await? else {
        return Ok(Err(IdentityError::InvalidCeremony));
    };
    if ceremony.purpose != CeremonyPurpose::Register(caller.session) {
        return Ok(Err(IdentityError::InvalidCeremony));
    }
    let registered = match relying_party.verify_registration(&ceremony.state, response) {
        Ok(registered) => registered,
        Err(rejected) => return Ok(Err(rejected.into())),
    };
    let passkey = Passkey {
        id: ctx.new_id(),
        user: caller.user,
        name,
        credential_id: registered.credential_id,
        credential: registered.credential,
        created_at: ctx.now,
        last_used_at: None,
    };
    tx.insert_passkey(&passkey).await?;
    tx.audit(ctx.audit_entry("passkey.create").target(passkey.id));
    Ok(Ok(passkey))
}

#[cfg(test)]
mod tests {
    use kernel::{
        StoreError,
        testing::{at, id},
    };

    use super::*;
    use crate::{
        passkeys::{CEREMONY_LIFETIME, Ceremony},
        sessions::require_step_up,
        testing::{
            FakeRelyingParty, FakeStore, aru, bek, later, passkey, response, session, session_caller,
            signed_in,
        },
    };

    async fn start(
        store: &mut FakeStore,
        ctx: &Context,
        existing: &[Passkey],
    ) -> Result<(CeremonyId, Value), IdentityError> {
        let proof = require_step_up(&session(1, &aru(), at(0)), false, at(0)).unwrap();
        start_registration(store, ctx, &FakeRelyingParty::default(), &proof, (&aru(), existing)).await
    }

    async fn finish(
        store: &mut FakeStore,
        ctx: &Context,
        response: (CeremonyId, &Value),
        name: &str,
    ) -> Result<Result<Passkey, IdentityError>, IdentityError> {
        let caller = session_caller(&aru());
        finish_registration(store, ctx, &FakeRelyingParty::default(), &caller, response, name).await
    }

    #[tokio::test]
    async fn a_passkey_is_registered_once_for_each_ceremony() {
        let (mut store, ctx) = (FakeStore::default(), signed_in(&aru()));
        let (ceremony, options) = start(&mut store, &ctx, &[passkey(1, &aru())]).await.unwrap();
        assert_eq!(options["state"], "register Aru beside 1");
        assert_eq!(store.ceremonies[0].purpose, CeremonyPurpose::Register(id(1)));
        let response = response(&options, "key-2");
        let made = finish(&mut store, &ctx, (ceremony, &response), " Phone ").await.unwrap().unwrap();
        let again = finish(&mut store, &ctx, (ceremony, &response), "Phone").await.unwrap();

        assert!(matches!(again, Err(IdentityError::InvalidCeremony)));
        let expected = Passkey { id: made.id, name: "Phone".to_owned(), ..passkey(2, &aru()) };
        assert_eq!((&made, &store.passkeys[..]), (&expected, &[expected.clone()][..]));
        store.assert_audited(&[
            ("passkey.ask", &aru().id, &ceremony),
            ("passkey.answer", &aru().id, &ceremony),
            ("passkey.create", &aru().id, &made.id),
        ]);
        store.assert_not_audited(&["key-2", "counter"]);
    }

    #[tokio::test]
    async fn a_person_has_at_most_twenty_passkeys() {
        let (mut store, ctx) = (FakeStore::default(), signed_in(&aru()));
        let existing: Vec<_> = (1..=20).map(|number| passkey(number, &aru())).collect();
        assert!(start(&mut store, &ctx, &existing[..19]).await.is_ok());
        let refused = start(&mut store, &ctx, &existing).await;
        assert!(matches!(refused, Err(IdentityError::TooManyPasskeys)));
        assert_eq!((store.ceremonies.len(), store.work.audit.len()), (1, 1));
    }

    #[tokio::test]
    async fn a_challenge_that_cannot_be_made_is_refused() {
        let mut store = FakeStore::default();
        let proof = require_step_up(&session(1, &aru(), at(0)), false, at(0)).unwrap();
        let (broken, ctx) = (FakeRelyingParty { is_broken: true }, signed_in(&aru()));
        let refused = start_registration(&mut store, &ctx, &broken, &proof, (&aru(), &[])).await;
        assert!(matches!(refused, Err(IdentityError::PasskeyRejected(_))));
        assert!(store.ceremonies.is_empty() && store.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_wrong_answer_uses_the_ceremony_up() {
        let (mut store, ctx) = (FakeStore::default(), signed_in(&aru()));
        let (ceremony, options) = start(&mut store, &ctx, &[]).await.unwrap();
        let wrong = response(&Value::Null, "key-1");
        let refused = finish(&mut store, &ctx, (ceremony, &wrong), "Phone").await.unwrap();
        assert!(matches!(refused, Err(IdentityError::PasskeyRejected(_))));
        let right = response(&options, "key-1");
        let late = finish(&mut store, &ctx, (ceremony, &right), "Phone").await.unwrap();

        assert!(matches!(late, Err(IdentityError::InvalidCeremony)));
        assert!(store.passkeys.is_empty());
        assert_eq!(store.work.audited_actions(), ["passkey.ask", "passkey.answer"]);
    }

    #[tokio::test]
    async fn a_ceremony_counts_for_its_purpose_session_and_time_only() {
        let ctx = signed_in(&aru());
        let in_time = at(0) + CEREMONY_LIFETIME;
        for (purpose, expires_at) in [
            (CeremonyPurpose::Register(id(9)), in_time),
            (CeremonyPurpose::StepUp(id(1)), in_time),
            (CeremonyPurpose::SignIn, in_time),
            (CeremonyPurpose::Register(id(1)), at(0)),
        ] {
            let mut store = FakeStore::default();
            let ceremony = Ceremony { id: id(5), purpose, state: "s".to_owned(), expires_at };
            store.ceremonies.push(ceremony);
            let response = serde_json::json!({ "state": "s", "credential": "key-1" });
            let refused = finish(&mut store, &ctx, (id(5), &response), "Phone").await.unwrap();
            assert!(matches!(refused, Err(IdentityError::InvalidCeremony)), "{purpose:?}");
            assert!(store.passkeys.is_empty());
        }
    }

    #[tokio::test]
    async fn a_name_out_of_bounds_leaves_the_ceremony_open() {
        let (mut store, ctx) = (FakeStore::default(), signed_in(&aru()));
        let (ceremony, options) = start(&mut store, &ctx, &[]).await.unwrap();
        let response = response(&options, "key-1");
        for name in ["", " ", "a\u{202e}b", &"n".repeat(61)] {
            let refused = finish(&mut store, &ctx, (ceremony, &response), name).await;
            assert!(
                matches!(refused, Err(IdentityError::InvalidInput(InvalidInput::PasskeyName))),
                "{name:?}"
            );
        }
        assert_eq!((store.ceremonies.len(), store.work.audit.len()), (1, 1));
    }

    #[tokio::test]
    async fn a_passkey_that_somebody_has_already_is_a_duplicate() {
        let (mut store, ctx) = (FakeStore::default(), signed_in(&aru()));
        store.passkeys = vec![passkey(1, &bek())];
        let (ceremony, options) = start(&mut store, &ctx, &[]).await.unwrap();
        let refused = finish(&mut store, &ctx, (ceremony, &response(&options, "key-1")), "Phone").await;
        assert!(matches!(refused, Err(IdentityError::Store(StoreError::Duplicate))));
        assert_eq!(store.passkeys, [passkey(1, &bek())]);
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let (mut store, ctx) = (FakeStore::unavailable(), later(&signed_in(&aru()), CEREMONY_LIFETIME));
        let failed = start(&mut store, &ctx, &[]).await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Unavailable(_)))));
        let failed = finish(&mut store, &ctx, (id(5), &Value::Null), "Phone").await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Unavailable(_)))));
    }
}
