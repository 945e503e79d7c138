//! The parts that all ceremonies share: a challenge is stored, and consumed once.

use kernel::{Context, StoreError, id::CeremonyId};
use serde_json::Value;

use super::{CEREMONY_LIFETIME, Ceremony, CeremonyChallenge, CeremonyPurpose};
use crate::ports::PasskeyTx;

/// Stores a challenge as a ceremony and returns the ceremony's id and the options for the browser.
pub(super) async fn store_challenge(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    purpose: CeremonyPurpose,
    challenge: CeremonyChallenge,
) -> Result<(CeremonyId, Value), StoreError> {
    let ceremony = Ceremony {
        id: ctx.new_id(),
        purpose,
        state: challenge.state,
        expires_at: ctx.now + CEREMONY_LIFETIME,
    };
    tx.insert_ceremony(&ceremony).await?;
    tx.audit(ctx.audit_entry("passkey.ask").target(ceremony.id));
    Ok((ceremony.id, challenge.options))
}

/// Takes a ceremony out of the store, so that it is answered once; none if it is unknown, used or expired.
pub(super) async fn consume_ceremony(
    tx: &mut dyn PasskeyTx,
    ctx: &Context,
    id: CeremonyId,
) -> Result<Option<Ceremony>, StoreError> {
    let ceremony = tx.consume_ceremony(id, ctx.now).await?;
    if let Some(ceremony) = &ceremony {
        tx.audit(ctx.audit_entry("passkey.answer").target(ceremony.id));
    }
    Ok(ceremony)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use kernel::testing::at;
    use serde_json::json;

    use super::*;
    use crate::testing::{FakeStore, aru, later, signed_in};

    fn challenge() -> CeremonyChallenge {
        CeremonyChallenge { options: json!({ "challenge": "c" }), state: "secret state".to_owned() }
    }

    #[tokio::test]
    async fn a_challenge_is_kept_for_five_minutes_and_consumed_once() {
        let (mut store, ctx) = (FakeStore::default(), signed_in(&aru()));
        let purpose = CeremonyPurpose::SignIn;
        let (id, options) = store_challenge(&mut store, &ctx, purpose, challenge()).await.unwrap();
        assert_eq!(options, json!({ "challenge": "c" }));
        let kept = Ceremony { id, purpose, state: "secret state".to_owned(), expires_at: at(300_000) };
        assert_eq!(store.ceremonies, std::slice::from_ref(&kept));

        let in_time = later(&ctx, TimeDelta::milliseconds(299_999));
        assert_eq!(consume_ceremony(&mut store, &in_time, id).await.unwrap(), Some(kept));
        assert_eq!(consume_ceremony(&mut store, &in_time, id).await.unwrap(), None);
        store.assert_audited(&[("passkey.ask", &aru().id, &id), ("passkey.answer", &aru().id, &id)]);
        store.assert_not_audited(&["secret state"]);
    }

    #[tokio::test]
    async fn a_ceremony_that_is_too_old_is_not_consumed() {
        let (mut store, ctx) = (FakeStore::default(), signed_in(&aru()));
        let stored = store_challenge(&mut store, &ctx, CeremonyPurpose::SignIn, challenge()).await;
        let (id, _) = stored.unwrap();
        let late = later(&ctx, CEREMONY_LIFETIME);
        assert_eq!(consume_ceremony(&mut store, &late, id).await.unwrap(), None);
        assert_eq!(store.work.audited_actions(), ["passkey.ask"]);
    }
}
