//! Calls that are accepted, and duplicates of them.

use super::*;

#[tokio::test]
async fn an_accepted_call_brings_everything_its_run_needs() {
    let fixture = Fixture::signed();
    let accepted = fixture.receive(&Request::json("{\"a\":1}").signed(SECRET, 50)).await.unwrap();
    let calls = fixture.store.take_accepted();
    let [call] = &calls[..] else { panic!("{calls:?}") };
    let expected =
        AcceptedCall { run: call.run, delivery: call.delivery, is_duplicate: false, form_response: None };
    assert_eq!(accepted, expected);
    assert_eq!((call.hook, call.automation, call.app), (id(40), id(10), app()));
    assert_eq!((call.workspace, call.trigger), (workspace(), TriggerKind::Webhook));
    assert_eq!(call.revisions, RevisionVector([1; 4]));
    assert_eq!((call.input.get(), call.bytes), ("{\"a\":1}", 7));
    assert_eq!((call.at, call.max_concurrency, call.runs_per_month), (at(60_000), Some(3), Some(100)));
    assert!(call.keys.is_empty() && call.may_start && !call.is_sample && call.audit.is_none());
    let signature = call.signature.as_ref().unwrap();
    assert_eq!(signature.digest[..8], at(50_000).timestamp().to_be_bytes());
    assert_eq!(signature.expires_at, at(60_000) + SIGNATURE_LIFETIME);
    assert_eq!(fixture.store.reads(), [Freshness::Cached]);
    assert_eq!(fixture.rate_limiter.calls(), [(id(40), 60)]);
    assert!(fixture.rate_limiter.submissions().is_empty());
}

#[tokio::test]
async fn calls_without_a_key_or_signature_are_independent() {
    let fixture = Fixture::new(Proof::None);
    for _ in 0..2 {
        assert!(!fixture.receive(&Request::json("1")).await.unwrap().is_duplicate);
    }
    assert_eq!(fixture.store.count_accepted(), 2);
}

#[tokio::test]
async fn a_call_with_a_known_key_gets_the_first_response() {
    let bot = || Proof::Messenger(TokenDigest { digest: peppers().digest("qwt_1"), hint: String::new() });
    let hub = |request: Request| {
        let value = proof::hub_signature_header(&SECRET.into(), &request.body);
        request.header(&proof::HUB_SIGNATURE_HEADER, &value)
    };
    let delivery = |name: &str| hub(Request::json("1")).header(&proof::DELIVERY_HEADERS[1], name);
    let update = |number: u32| {
        Request::json(&format!("{{\"update_id\":{number}}}")).header(&proof::BOT_TOKEN_HEADERS[1], "qwt_1")
    };
    for (proof, first, same, other) in [
        (
            Proof::None,
            Request::json("1").key("k1"),
            Request::json("2").key("k1"),
            Request::json("1").key("k2"),
        ),
        (Proof::CodeHost(sealed(SECRET)), delivery("d1"), delivery("d1"), delivery("d2")),
        (bot(), update(1), update(1), update(2)),
    ] {
        let fixture = Fixture::new(proof);
        let accepted = fixture.receive(&first).await.unwrap();
        let repeated = fixture.receive(&same).await.unwrap();
        assert_eq!(repeated, AcceptedCall { is_duplicate: true, ..accepted.clone() });
        assert_ne!(fixture.receive(&other).await.unwrap().run, accepted.run);
        let calls = fixture.store.take_accepted();
        assert_eq!(calls.len(), 2);
        assert!(calls.iter().all(|call| call.keys[0].expires_at == at(60_000) + KEY_LIFETIME));
    }
}

#[tokio::test]
async fn the_same_name_of_different_kinds_is_not_the_same_key() {
    let fixture = Fixture::new(Proof::CodeHost(sealed(SECRET)));
    let hub = proof::hub_signature_header(&SECRET.into(), b"1");
    let request = || Request::json("1").header(&proof::HUB_SIGNATURE_HEADER, &hub);
    fixture.receive(&request().key("x")).await.unwrap();
    fixture.receive(&request().header(&proof::DELIVERY_HEADERS[0], "x")).await.unwrap();
    assert_eq!(fixture.store.count_accepted(), 2);
}

#[tokio::test]
async fn a_signed_request_starts_one_run() {
    let fixture = Fixture::signed();
    let request = || Request::json("1").signed(SECRET, 60);
    let accepted = fixture.receive(&request().key("k1")).await.unwrap();
    // With its key it is an honest retry, without one a replay.
    assert_eq!(fixture.receive(&request().key("k1")).await.unwrap().run, accepted.run);
    for replay in [request(), request().key("k2")] {
        let refused = fixture.receive(&replay).await;
        assert!(matches!(refused, Err(WebhookRefusal::Replayed)), "{refused:?}");
    }
    assert_eq!(fixture.store.count_accepted(), 1);
    let refused = fixture.store.take_refused();
    assert_eq!(refused.iter().map(|refused| refused.code).collect::<Vec<_>>(), ["replayed"; 2]);
    assert!(refused.iter().all(|refused| refused.dead_letter.is_none()));
}

#[tokio::test]
async fn a_rotated_secret_counts_at_once() {
    let mut fixture = Fixture::signed();
    fixture.store.cached = fixture.store.current.clone();
    fixture.change(|state| {
        *state = WebhookSnapshot {
            revisions: state.revisions,
            ..webhook_snapshot(Proof::Signed(sealed("qws_new")))
        }
    });
    fixture.receive(&Request::json("1").signed("qws_new", 60)).await.unwrap();
    assert_eq!(fixture.store.reads(), [Freshness::Cached, Freshness::Fresh]);
    // The old one is not refused by what the cache says alone, nor accepted by it.
    let refused = fixture.receive(&Request::json("1").signed(SECRET, 60)).await;
    assert!(matches!(refused, Err(WebhookRefusal::BadSignature)), "{refused:?}");
    assert_eq!(fixture.store.count_accepted(), 1);
}

#[tokio::test]
async fn a_webhook_that_was_resumed_on_another_node_takes_calls_at_once() {
    for (paused, _) in states_without_start(&Proof::None) {
        let mut fixture = Fixture::new(Proof::None);
        fixture.store.cached = Some(paused.into());
        fixture.change(|_| {});
        fixture.receive(&Request::json("1")).await.unwrap();
        assert_eq!(fixture.store.count_accepted(), 1);
        // One call takes once from the limit, however often it is decided about.
        assert_eq!(fixture.rate_limiter.calls().len(), 1);
    }
}

#[tokio::test]
async fn a_state_that_never_settles_is_told_to_retry() {
    let mut fixture = Fixture::new(Proof::None);
    fixture.store.is_changing = true;
    let refused = fixture.receive(&Request::json("1")).await;
    let Err(WebhookRefusal::RateLimited(exceeded)) = refused else { panic!("{refused:?}") };
    assert_eq!((exceeded.retry_after, exceeded.limit_per_minute), (Duration::from_secs(1), None));
    assert_eq!(fixture.store.reads().len(), 1 + MAX_DECISION_ATTEMPTS);
    fixture.assert_nothing_stored();
}
