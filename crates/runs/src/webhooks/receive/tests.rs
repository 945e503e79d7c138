use http::{
    HeaderName, HeaderValue,
    header::{CONTENT_TYPE, ORIGIN},
};
use kernel::{
    AuditTarget, Caller, StoreError,
    testing::{at, context, id},
};
use serde_json::json;

use super::*;
use crate::{
    AutomationStatus, TriggerKind,
    testing::{
        FakeRateLimiter, FakeWebhookStore, Freshness, app, editor_context, editor_id, peppers, sealed, vault,
        webhook_snapshot, workspace,
    },
    webhooks::{AcceptCall, FormSettings, RevisionVector, TokenDigest, form, proof},
};

const SECRET: &str = "qws_secret";

/// A request to webhook 40.
struct Request {
    headers: HeaderMap,
    body: Vec<u8>,
    is_sample: bool,
}

impl Request {
    fn new(content_type: &'static str, body: &str) -> Self {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]);
        Self { headers, body: body.as_bytes().to_vec(), is_sample: false }
    }

    fn json(body: &str) -> Self {
        Self::new("application/json", body)
    }

    fn form(body: &str) -> Self {
        Self::new("application/x-www-form-urlencoded", body)
    }

    fn header(mut self, name: &HeaderName, value: &str) -> Self {
        self.headers.append(name, value.parse().unwrap());
        self
    }

    fn key(self, key: &str) -> Self {
        self.header(&HeaderName::from_static("idempotency-key"), key)
    }

    /// Signs the body with `secret` this many seconds after the fixtures were created.
    fn signed(self, secret: &str, seconds: i64) -> Self {
        let time = (at(0).timestamp() + seconds).to_string();
        let value = proof::signature_header(&secret.into(), &time, &self.body);
        self.header(&proof::SIGNATURE_HEADER, &value)
    }

    fn sample(self) -> Self {
        Self { is_sample: true, ..self }
    }
}

/// A receiver with its surroundings. Requests come one minute after the fixtures were created.
struct Fixture {
    ctx: Context,
    store: FakeWebhookStore,
    rate_limiter: FakeRateLimiter,
    vault: Vault,
    peppers: Peppers,
}

impl Fixture {
    fn of_state(state: WebhookSnapshot) -> Self {
        let mut ctx = context(Caller::Anonymous, at(60_000));
        ctx.client_ip = Some([192, 0, 2, 7].into());
        Self {
            ctx,
            store: FakeWebhookStore::with(state),
            rate_limiter: FakeRateLimiter::open(),
            vault: vault(),
            peppers: peppers(),
        }
    }

    fn new(proof: Proof) -> Self {
        Self::of_state(webhook_snapshot(proof))
    }

    fn signed() -> Self {
        Self::new(Proof::Signed(sealed(SECRET)))
    }

    fn form() -> Self {
        Self::new(Proof::Form(FormSettings::default()))
    }

    /// Changes the state in the database.
    fn change(&mut self, change: impl FnOnce(&mut WebhookSnapshot)) {
        let mut state = WebhookSnapshot::clone(self.store.current.as_ref().unwrap());
        state.revisions.0[0] += 1;
        change(&mut state);
        self.store.current = Some(state.into());
    }

    async fn receive_at(&self, hook: HookId, request: &Request) -> Result<AcceptedCall, WebhookRefusal> {
        let receiver = WebhookReceiver {
            store: &self.store,
            rate_limiter: &self.rate_limiter,
            vault: &self.vault,
            peppers: &self.peppers,
        };
        let Request { headers, body, is_sample } = request;
        receiver.receive(&self.ctx, WebhookCall { hook, headers, body, is_sample: *is_sample }).await
    }

    async fn receive(&self, request: &Request) -> Result<AcceptedCall, WebhookRefusal> {
        self.receive_at(id(40), request).await
    }

    /// Checks that a refused call left no run and one row with this code, which it returns.
    #[track_caller]
    fn assert_recorded(&self, code: &str) -> RefusedDelivery {
        assert_eq!(self.store.count_accepted(), 0);
        let mut refused = self.store.take_refused();
        assert_eq!(refused.len(), 1, "{refused:?}");
        let refused = refused.remove(0);
        let expected = (code, id(40), workspace(), id(10), app());
        assert_eq!(
            (refused.code, refused.hook, refused.workspace, refused.automation, refused.app),
            expected
        );
        assert_eq!(refused.at, at(60_000));
        refused
    }

    /// Checks that a refused call left nothing behind.
    #[track_caller]
    fn assert_nothing_stored(&self) {
        assert_eq!(self.store.count_accepted(), 0);
        let refused = self.store.take_refused();
        assert!(refused.is_empty(), "{refused:?}");
    }
}

/// States in which a webhook starts nothing, with the code of the refusal.
fn states_without_start(proof: &Proof) -> [(WebhookSnapshot, &'static str); 4] {
    let state = || webhook_snapshot(proof.clone());
    let mut disabled = state();
    disabled.webhook.is_enabled = false;
    [
        (disabled, "hook_disabled"),
        (WebhookSnapshot { automation_status: AutomationStatus::Paused, ..state() }, "automation_paused"),
        (WebhookSnapshot { is_app_runnable: false, ..state() }, "not_runnable"),
        (WebhookSnapshot { declares_trigger: false, ..state() }, "trigger_not_declared"),
    ]
}

mod acceptance {
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
            Request::json(&format!("{{\"update_id\":{number}}}"))
                .header(&proof::BOT_TOKEN_HEADERS[1], "qwt_1")
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
}

mod refusal {
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
        assert!(fixture.store.reads().is_empty());
        fixture.assert_nothing_stored();
    }

    #[tokio::test]
    async fn a_call_without_proof_leaves_nothing_and_takes_nothing_from_the_limit() {
        let token = || TokenDigest { digest: peppers().digest("qwt_right"), hint: String::new() };
        for (proof, request, code) in [
            (Proof::Signed(sealed(SECRET)), Request::json("1").signed("qws_wrong", 60), "bad_signature"),
            (Proof::Signed(sealed(SECRET)), Request::json("1"), "bad_signature"),
            (Proof::Signed(sealed(SECRET)), Request::json("1").signed(SECRET, -241), "stale_timestamp"),
            (
                Proof::CodeHost(sealed(SECRET)),
                Request::json("1").header(&proof::HUB_SIGNATURE_HEADER, "sha256=00"),
                "bad_signature",
            ),
            (
                Proof::Token(token()),
                Request::json("1").header(&proof::TOKEN_HEADER, "qwt_wrong"),
                "bad_token",
            ),
            (Proof::Token(token()), Request::json("1"), "bad_token"),
            // Each mode has a header of its own.
            (
                Proof::Messenger(token()),
                Request::json("1").header(&proof::TOKEN_HEADER, "qwt_right"),
                "bad_token",
            ),
        ] {
            let fixture = Fixture::new(proof);
            let refusal = fixture.receive(&request).await.unwrap_err();
            assert!(refusal.counts_against_sender());
            assert_eq!(kernel::Problem::from(refusal).code, code);
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
            assert_eq!(kernel::Problem::from(refusal).code, code);
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
}

mod dead_letters {
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
            assert_eq!(kernel::Problem::from(refusal).code, code);
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
                assert_eq!(kernel::Problem::from(refusal).code, code);
                assert!(fixture.assert_recorded(code).dead_letter.is_none());
            }
        }
    }
}

mod forms {
    use super::*;

    fn settings(settings: FormSettings) -> Fixture {
        Fixture::new(Proof::Form(settings))
    }

    #[tokio::test]
    async fn a_submission_is_answered_with_a_page_or_a_redirect() {
        let url = "https://a.example/thanks".to_owned();
        let redirecting = FormSettings { redirect: Some(url.clone()), ..FormSettings::default() };
        for (fixture, expected) in
            [(Fixture::form(), FormResponse::Page), (settings(redirecting), FormResponse::Redirect(url))]
        {
            let request = Request::form("name=Aida&_gotcha=").key("k1");
            for is_duplicate in [false, true] {
                let accepted = fixture.receive(&request).await.unwrap();
                assert_eq!(
                    (accepted.is_duplicate, accepted.form_response),
                    (is_duplicate, Some(expected.clone()))
                );
            }
            let calls = fixture.store.take_accepted();
            assert_eq!((calls.len(), calls[0].trigger), (1, TriggerKind::Form));
            assert_eq!(calls[0].input.get(), r#"{"_gotcha":"","name":"Aida"}"#);
        }
    }

    #[tokio::test]
    async fn a_filled_hidden_field_is_answered_as_usual_and_starts_nothing() {
        let fixture = Fixture::form();
        let accepted = fixture.receive(&Request::form("name=Bot&_gotcha=x")).await.unwrap();
        assert_eq!((accepted.is_duplicate, accepted.form_response), (false, Some(FormResponse::Page)));
        let refused = fixture.assert_recorded("honeypot");
        assert_eq!(refused.id, accepted.delivery);
        assert!(refused.dead_letter.is_none());
        assert_eq!(fixture.rate_limiter.submissions().len(), 1);
    }

    #[tokio::test]
    async fn a_filled_hidden_field_is_not_kept_for_replay() {
        for (state, code) in states_without_start(&Proof::Form(FormSettings::default())) {
            let fixture = Fixture::of_state(state);
            let refusal = fixture.receive(&Request::form("_gotcha=x")).await.unwrap_err();
            assert_eq!(kernel::Problem::from(refusal).code, code);
            assert!(fixture.assert_recorded(code).dead_letter.is_none());
            fixture.receive(&Request::form("name=Aida")).await.unwrap_err();
            assert!(fixture.assert_recorded(code).dead_letter.is_some());
        }
    }

    #[tokio::test]
    async fn a_submission_from_an_unlisted_site_leaves_a_row() {
        let sites = vec!["https://a.example".to_owned()];
        let fixture = settings(FormSettings { allowed_sites: sites, ..FormSettings::default() });
        let from = |site| Request::form("a=1").header(&ORIGIN, site);
        let refused = fixture.receive(&from("https://b.example")).await;
        assert!(matches!(refused, Err(WebhookRefusal::BadOrigin)), "{refused:?}");
        assert!(fixture.assert_recorded("bad_origin").dead_letter.is_none());
        fixture.receive(&from("https://a.example")).await.unwrap();
    }

    #[tokio::test]
    async fn a_submission_may_have_32_kib_and_must_be_an_object() {
        let fixture = Fixture::form();
        let sized = |bytes: usize| Request::form(&format!("a={}", "x".repeat(bytes - 2)));
        fixture.receive(&sized(form::MAX_BODY)).await.unwrap();
        fixture.store.take_accepted();
        let refused = fixture.receive(&sized(form::MAX_BODY + 1)).await;
        assert!(matches!(refused, Err(WebhookRefusal::TooLarge { limit_kib: 32 })), "{refused:?}");
        fixture.assert_nothing_stored();
        let refused = fixture.receive(&Request::json("[1]")).await;
        assert!(matches!(refused, Err(WebhookRefusal::InvalidBody(_))), "{refused:?}");
        fixture.assert_recorded("invalid_body");
    }

    #[tokio::test]
    async fn submissions_of_one_address_are_limited() {
        let mut fixture = Fixture::form();
        fixture.rate_limiter.max_submissions = 1;
        fixture.receive(&Request::form("a=1")).await.unwrap();
        let refused = fixture.receive(&Request::form("a=1")).await;
        assert!(matches!(refused, Err(WebhookRefusal::RateLimited(_))), "{refused:?}");
        let address = Some([192, 0, 2, 7].into());
        assert_eq!(fixture.rate_limiter.submissions(), [(id(40), address, 5); 2]);
        // Who sends too many takes nothing from the others.
        assert_eq!(fixture.rate_limiter.calls().len(), 1);
        assert_eq!(fixture.store.count_accepted(), 1);
    }
}

mod samples {
    use super::*;

    fn fixture(proof: Proof) -> Fixture {
        Fixture { ctx: editor_context(), ..Fixture::new(proof) }
    }

    #[tokio::test]
    async fn a_test_is_audited_and_may_be_repeated() {
        let fixture = fixture(Proof::Signed(sealed(SECRET)));
        for _ in 0..2 {
            fixture.receive(&Request::json("1").signed(SECRET, 60).sample()).await.unwrap();
        }
        let calls = fixture.store.take_accepted();
        assert_eq!(calls.len(), 2);
        for call in calls {
            assert!(call.is_sample && call.signature.is_none());
            let audit = call.audit.unwrap();
            assert_eq!((&*audit.action, audit.workspace), ("webhook.test", Some(workspace())));
            assert_eq!((audit.actor, audit.target), (editor_id().to_string(), Some(target())));
            assert_eq!(audit.detail, Some(json!({ "mode": "signed", "hint": "qws_…hint" })));
        }
    }

    fn target() -> AuditTarget {
        let hook: HookId = id(40);
        AuditTarget(hook.to_string())
    }

    #[tokio::test]
    async fn a_refused_test_is_audited_and_not_kept_for_replay() {
        for (state, code) in states_without_start(&Proof::None) {
            let fixture = Fixture { ctx: editor_context(), ..Fixture::of_state(state) };
            let refusal = fixture.receive(&Request::json("1").sample()).await.unwrap_err();
            assert_eq!(kernel::Problem::from(refusal).code, code);
            let refused = fixture.assert_recorded(code);
            assert!(refused.is_sample && refused.dead_letter.is_none());
            assert_eq!(refused.audit.unwrap().action, "webhook.test");
        }
    }

    #[tokio::test]
    async fn a_test_of_a_token_needs_no_token() {
        let digest = || TokenDigest { digest: peppers().digest("qwt_1"), hint: "qwt_…".to_owned() };
        for proof in [Proof::Token(digest()), Proof::Messenger(digest())] {
            let fixture = fixture(proof);
            fixture.receive(&Request::json("1").sample()).await.unwrap();
            let refused = fixture.receive(&Request::json("1")).await;
            assert!(matches!(refused, Err(WebhookRefusal::BadToken)), "{refused:?}");
        }
    }

    #[tokio::test]
    async fn a_test_of_a_form_passes_its_guards() {
        let fixture = fixture(Proof::Form(FormSettings::default()));
        fixture.receive(&Request::form("_gotcha=x").sample()).await.unwrap();
        assert_eq!(fixture.store.count_accepted(), 1);
        assert!(fixture.rate_limiter.submissions().is_empty());
        assert_eq!(fixture.rate_limiter.calls().len(), 1);
    }
}
