//! Calls that are kept for replay.

use super::*;

#[tokio::test]
async fn a_call_that_could_not_start_is_kept_for_replay() {
    for (state, code) in states_without_start(&Proof::None) {
        let fixture = Fixture::of_state(state);
        let refusal = fixture.receive(&Request::json(" {\"a\":1}")).await.unwrap_err();
        let refused = fixture.assert_recorded(code);
        let kept = refused.dead_letter.unwrap();
        assert_eq!((kept.automation, kept.app, kept.trigger), (id(10), app(), TriggerKind::Webhook));
        assert_eq!((kept.input.get(), refused.bytes), ("{\"a\":1}", 8));
        assert_eq!((&*kept.message, kept.digest), (refusal.display_message(), None));
        assert_eq!(refusal.delivery_code(), Some(code));
        // No refusal rests on a state that may be old.
        assert_eq!(fixture.store.reads(), [Freshness::Cached, Freshness::Fresh]);
        assert_eq!(fixture.rate_limiter.calls().len(), 1);
    }
}

#[tokio::test]
async fn a_call_beyond_the_quota_is_kept_for_replay() {
    let fixture =
        Fixture::of_state(WebhookSnapshot { runs_per_month: Some(0), ..webhook_snapshot(Proof::None) });
    let refused = fixture.receive(&Request::json("1").key("k1")).await;
    assert!(matches!(refused, Err(WebhookRefusal::QuotaReached)), "{refused:?}");
    let kept = fixture.assert_recorded("quota_reached").dead_letter.unwrap();
    assert_eq!((kept.input.get(), kept.digest.is_some()), ("1", true));
}

/// The digest by which a later call is known as the same as an accepted one.
async fn accepted_digest(proof: Proof, request: &Request) -> [u8; 32] {
    let fixture = Fixture::new(proof);
    fixture.receive(request).await.unwrap();
    let call: AcceptCall = fixture.store.take_accepted().remove(0);
    call.all_dedup_keys().next().unwrap().digest
}

#[tokio::test]
async fn a_dead_letter_is_known_by_its_senders_key_or_else_by_its_signature() {
    let signed = || Proof::Signed(sealed(SECRET));
    let request = || Request::json("1").signed(SECRET, 60);
    let mut digests = Vec::new();
    for request in [request(), request().key("k1")] {
        let expected = accepted_digest(signed(), &request).await;
        for state in [
            states_without_start(&signed())[0].0.clone(),
            WebhookSnapshot { runs_per_month: Some(0), ..webhook_snapshot(signed()) },
        ] {
            let fixture = Fixture::of_state(state);
            fixture.receive(&request).await.unwrap_err();
            let kept = fixture.store.take_refused().remove(0).dead_letter.unwrap();
            assert_eq!(kept.digest, Some(expected));
        }
        digests.push(expected);
    }
    assert_ne!(digests[0], digests[1]);
}

#[tokio::test]
async fn a_repeat_of_an_accepted_call_gets_its_response_while_nothing_starts() {
    for (paused, _) in states_without_start(&Proof::None) {
        let mut fixture = Fixture::new(Proof::None);
        let accepted = fixture.receive(&Request::json("1").key("k1")).await.unwrap();
        fixture.change(|state| *state = WebhookSnapshot { revisions: state.revisions, ..paused });
        let repeated = fixture.receive(&Request::json("1").key("k1")).await.unwrap();
        assert_eq!(repeated, AcceptedCall { is_duplicate: true, ..accepted });
        assert!(fixture.store.take_refused().is_empty());
    }
}

#[tokio::test]
async fn a_call_that_cannot_be_read_is_refused_for_the_state_and_not_kept() {
    for request in [Request::json("{"), Request::json("1").key("a b")] {
        for (state, code) in states_without_start(&Proof::None) {
            let fixture = Fixture::of_state(state);
            let refusal = fixture.receive(&request).await.unwrap_err();
            assert_eq!(refusal.delivery_code(), Some(code));
            assert!(fixture.assert_recorded(code).dead_letter.is_none());
        }
    }
}
