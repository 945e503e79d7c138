//! Signing in with a passkey, without giving an e-mail address first.

use kernel::{Context, id::CeremonyId, token::Peppers};
use serde_json::Value;

use super::{
    CeremonyPurpose, Passkey, RelyingParty,
    ceremony::{consume_ceremony, store_challenge},
};
use crate::{
    IdentityError, IdentityTx, User,
    ports::PasskeyTx,
    sessions::{OpenedSession, SignInClient, SignInMethod, open_session},
};

/// Starts a sign-in and returns the ceremony's id and the options for the browser.
///
/// # Errors
/// [`IdentityError::PasskeyRejected`] if no challenge can be made; [`IdentityError::Store`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn start_sign_in(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    relying_party: &dyn RelyingParty,
) -> Result<(CeremonyId, Value), IdentityError> {
    let challenge = relying_party.sign_in_challenge()?;
    Ok(store_challenge(tx, ctx, CeremonyPurpose::SignIn, challenge).await?)
}

/// Opens a session for the person whose passkey signed the response. `claimed` is the person whom the response names,
/// with their passkeys; none if there is no such person.
///
/// A rejected response uses the ceremony up, so the caller commits if the outer result is `Ok`, and then returns the
/// inner one: the session, [`IdentityError::InvalidCeremony`] or [`IdentityError::PasskeyRejected`].
///
/// # Errors
/// The outer [`IdentityError::Store`] if the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn finish_sign_in(
    tx: &mut dyn IdentityTx,
    ctx: &Context,
    (relying_party, peppers): (&dyn RelyingParty, &Peppers),
    (ceremony, response): (CeremonyId, &Value),
    claimed: Option<(User, Vec<Passkey>)>,
    client: &SignInClient,
) -> Result<Result<OpenedSession, IdentityError>, IdentityError> {
    let Some(ceremony) = consume_ceremony(tx, ctx, ceremony).await? else {
        return Ok(Err(IdentityError::InvalidCeremony));
    };
    let Some((user, keys)) = claimed.filter(|_| ceremony.purpose == CeremonyPurpose::SignIn) else {
        return Ok(Err(IdentityError::InvalidCeremony));
    };
    let verified = match relying_party.verify_sign_in(&ceremony.state, response, &keys) {
        Ok(verified) => verified,
        Err(rejected) => return Ok(Err(rejected.into())),
    };
    tx.record_passkey_use(user.id, &verified.credential_id, verified.credential.as_deref(), ctx.now).await?;
    Ok(Ok(open_session(tx, ctx, peppers, user, None, SignInMethod::Passkey, client).await?))
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
        testing::{FakeRelyingParty, FakeStore, aru, bek, later, passkey, peppers, response, visitor},
    };

    async fn start(store: &mut FakeStore, ctx: &Context) -> (CeremonyId, Value) {
        start_sign_in(store, ctx, &FakeRelyingParty::default()).await.unwrap()
    }

    async fn finish(
        store: &mut FakeStore,
        ctx: &Context,
        response: (CeremonyId, &Value),
        claimed: Option<(User, Vec<Passkey>)>,
    ) -> Result<Result<OpenedSession, IdentityError>, IdentityError> {
        let (checks, client) = ((&FakeRelyingParty::default() as _, &peppers()), SignInClient::default());
        finish_sign_in(store, ctx, checks, response, claimed, &client).await
    }

    fn claimed_aru() -> Option<(User, Vec<Passkey>)> {
        Some((aru(), vec![passkey(1, &aru())]))
    }

    #[tokio::test]
    async fn a_passkey_opens_a_stepped_up_session_once() {
        let (mut store, ctx) = (FakeStore::default(), visitor());
        store.passkeys = vec![passkey(1, &aru()), passkey(2, &aru())];
        let (ceremony, options) = start(&mut store, &ctx).await;
        let response = response(&options, "key-1");
        let opened = finish(&mut store, &ctx, (ceremony, &response), claimed_aru()).await.unwrap().unwrap();
        let again = finish(&mut store, &ctx, (ceremony, &response), claimed_aru()).await.unwrap();

        assert!(matches!(again, Err(IdentityError::InvalidCeremony)));
        assert_eq!((&opened.user, opened.session.method), (&aru(), SignInMethod::Passkey));
        assert_eq!(opened.session.stepped_up_at, Some(at(0)));
        assert_eq!(store.sessions.len(), 1);
        let used =
            Passkey { credential: "counter 2".to_owned(), last_used_at: Some(at(0)), ..passkey(1, &aru()) };
        assert_eq!(store.passkeys, [used, passkey(2, &aru())]);
        store.assert_audited(&[
            ("passkey.ask", &"visitor", &ceremony),
            ("passkey.answer", &"visitor", &ceremony),
            ("session.create", &aru().id, &opened.session.id),
        ]);
        store.assert_not_audited(&[opened.secret.expose_secret(), "key-1", "counter"]);
    }

    #[tokio::test]
    async fn a_challenge_that_cannot_be_made_is_refused() {
        let mut store = FakeStore::default();
        let refused = start_sign_in(&mut store, &visitor(), &FakeRelyingParty { is_broken: true }).await;
        assert!(matches!(refused, Err(IdentityError::PasskeyRejected(_))));
        assert!(store.ceremonies.is_empty() && store.work.audit.is_empty());
    }

    #[tokio::test]
    async fn a_person_who_is_unknown_or_whose_passkey_it_is_not_gets_no_session() {
        for claimed in [None, Some((bek(), vec![passkey(2, &bek())])), Some((bek(), vec![]))] {
            let (mut store, ctx) = (FakeStore::default(), visitor());
            let (ceremony, options) = start(&mut store, &ctx).await;
            let is_unknown = claimed.is_none();
            let refused = finish(&mut store, &ctx, (ceremony, &response(&options, "key-1")), claimed).await;
            match refused.unwrap() {
                Err(IdentityError::InvalidCeremony) => assert!(is_unknown),
                Err(IdentityError::PasskeyRejected(_)) => assert!(!is_unknown),
                other => panic!("{other:?}"),
            }
            assert!(store.sessions.is_empty() && store.ceremonies.is_empty());
            assert_eq!(store.work.audited_actions(), ["passkey.ask", "passkey.answer"]);
        }
    }

    #[tokio::test]
    async fn a_ceremony_of_another_purpose_or_a_late_answer_gets_no_session() {
        for (purpose, late) in [
            (CeremonyPurpose::Register(id(1)), false),
            (CeremonyPurpose::StepUp(id(1)), false),
            (CeremonyPurpose::SignIn, true),
        ] {
            let (mut store, mut ctx) = (FakeStore::default(), visitor());
            let (ceremony, options) = start(&mut store, &ctx).await;
            store.ceremonies[0].purpose = purpose;
            if late {
                ctx = later(&ctx, CEREMONY_LIFETIME);
            }
            let response = response(&options, "key-1");
            let refused = finish(&mut store, &ctx, (ceremony, &response), claimed_aru()).await.unwrap();
            assert!(matches!(refused, Err(IdentityError::InvalidCeremony)), "{purpose:?}");
            assert!(store.sessions.is_empty());
        }
    }

    #[tokio::test]
    async fn a_failure_of_the_store_is_passed_on() {
        let mut store = FakeStore::unavailable();
        let failed = start_sign_in(&mut store, &visitor(), &FakeRelyingParty::default()).await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Unavailable(_)))));
        let failed = finish(&mut store, &visitor(), (id(5), &Value::Null), claimed_aru()).await;
        assert!(matches!(failed, Err(IdentityError::Store(StoreError::Unavailable(_)))));
    }
}
