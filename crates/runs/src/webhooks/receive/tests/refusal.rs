//! Calls that are refused.

use std::mem::discriminant;

use super::*;

#[tokio::test]
async fn an_unknown_webhook_is_not_found_by_a_fresh_read() {
    let fixture = Fixture::new(Proof::None);
    let refused = fixture.receive_at(id(41), &Request::json("1")).await;
    assert!(matches!(refused, Err(WebhookRefusal::NotFound)), "{refused:?}");
    assert_eq!(fixture.store.reads(), [Freshness::Cached, Freshness::Fresh]);
    fixture.assert_nothing_stored();
}

#[tokio::test]
async fn a_body_that_is_too_large_or_of_no_known_type_is_refused_unread() {
    let fixture = Fixture::new(Proof::None);
    let large = Request::json(&"1".repeat(body::MAX_BODY + 1));
    let refused = fixture.receive(&large).await;
    assert!(matches!(refused, Err(WebhookRefusal::TooLarge { limit_kib: 256 })), "{refused:?}");
    let refused = fixture.receive(&Request::new("text/plain", "1")).await;
    assert!(matches!(refused, Err(WebhookRefusal::UnsupportedMediaType)), "{refused:?}");
    let compressed = Request::json("1").header(&http::header::CONTENT_ENCODING, "gzip");
    let refused = fixture.receive(&compressed).await;
    assert!(matches!(refused, Err(WebhookRefusal::UnsupportedEncoding)), "{refused:?}");
    // Counting them looks only at what is cached.
    assert_eq!(fixture.store.reads(), [Freshness::Cached; 3]);
    assert_eq!(fixture.refused_calls.take().len(), 3);
    fixture.assert_nothing_stored();
}

#[tokio::test]
async fn a_call_without_proof_leaves_nothing_and_takes_nothing_from_the_limit() {
    let token = || TokenDigest { digest: peppers().digest("qwt_right"), hint: String::new() };
    for (proof, request, expected) in [
        (
            Proof::Signed(sealed(SECRET)),
            Request::json("1").signed("qws_wrong", 60),
            WebhookRefusal::BadSignature,
        ),
        (Proof::Signed(sealed(SECRET)), Request::json("1"), WebhookRefusal::BadSignature),
        (
            Proof::Signed(sealed(SECRET)),
            Request::json("1").signed(SECRET, -241),
            WebhookRefusal::StaleTimestamp,
        ),
        (
            Proof::CodeHost(sealed(SECRET)),
            Request::json("1").header(&proof::HUB_SIGNATURE_HEADER, "sha256=00"),
            WebhookRefusal::BadSignature,
        ),
        (
            Proof::Token(token()),
            Request::json("1").header(&proof::TOKEN_HEADER, "qwt_wrong"),
            WebhookRefusal::BadToken,
        ),
        (Proof::Token(token()), Request::json("1"), WebhookRefusal::BadToken),
        // Each mode has a header of its own.
        (
            Proof::Messenger(token()),
            Request::json("1").header(&proof::TOKEN_HEADER, "qwt_right"),
            WebhookRefusal::BadToken,
        ),
    ] {
        let fixture = Fixture::new(proof);
        let refusal = fixture.receive(&request).await.unwrap_err();
        assert!(refusal.counts_against_sender());
        assert_eq!(discriminant(&refusal), discriminant(&expected), "{refusal:?}");
        fixture.assert_nothing_stored();
        assert!(fixture.rate_limiter.calls().is_empty());
    }
    let fixture = Fixture::new(Proof::Token(token()));
    let right = Request::json("1").header(&proof::TOKEN_HEADER, "qwt_right");
    fixture.receive(&right).await.unwrap();
}

#[tokio::test]
async fn a_secret_that_does_not_open_is_reported_as_such() {
    let mut fixture = Fixture::signed();
    fixture.vault = Vault::new(&kernel::vault::MasterKeys::new(vec![[8; 32]]).unwrap());
    let refused = fixture.receive(&Request::json("1").signed(SECRET, 60)).await;
    assert!(matches!(refused, Err(WebhookRefusal::SecretUnreadable)), "{refused:?}");
    fixture.assert_nothing_stored();
}

#[tokio::test]
async fn a_call_beyond_the_limit_is_refused_without_a_row_or_a_fresh_read() {
    let mut fixture = Fixture::new(Proof::None);
    fixture.rate_limiter.max_calls = 0;
    let refused = fixture.receive(&Request::json("1")).await;
    let Err(WebhookRefusal::RateLimited(exceeded)) = refused else { panic!("{refused:?}") };
    assert_eq!((exceeded.retry_after, exceeded.limit_per_minute), (Duration::from_secs(7), Some(60)));
    assert_eq!(fixture.store.reads(), [Freshness::Cached]);
    fixture.assert_nothing_stored();
}

#[tokio::test]
async fn a_call_that_cannot_be_read_leaves_a_row_and_no_dead_letter() {
    for (request, code) in
        [(Request::json("{"), "invalid_body"), (Request::json("1").key("a b"), "invalid_idempotency_key")]
    {
        let fixture = Fixture::new(Proof::None);
        let refusal = fixture.receive(&request).await.unwrap_err();
        assert_eq!(refusal.delivery_code(), Some(code));
        let refused = fixture.assert_recorded(code);
        assert_eq!(refused.bytes as usize, request.body.len());
        assert!(refused.dead_letter.is_none() && refused.audit.is_none() && !refused.is_sample);
    }
}

#[tokio::test]
async fn a_failure_of_the_store_is_returned() {
    for failing in ["read", "accept"] {
        let mut fixture = Fixture::new(Proof::None);
        fixture.store.failing = Some(failing);
        let refused = fixture.receive(&Request::json("1")).await;
        let is_store = matches!(refused, Err(WebhookRefusal::Store(StoreError::Unavailable(_))));
        assert!(is_store, "{failing}: {refused:?}");
    }
    let mut fixture = Fixture::new(Proof::None);
    fixture.store.failing = Some("record");
    let refused = fixture.receive(&Request::json("{")).await;
    let is_store = matches!(refused, Err(WebhookRefusal::Store(StoreError::Unavailable(_))));
    assert!(is_store, "{refused:?}");
}
