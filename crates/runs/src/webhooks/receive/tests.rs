//! Tests of receiving calls.

mod acceptance;
mod dead_letters;
mod forms;
mod refusal;
mod samples;

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
        FakeRateLimiter, FakeRefusedCalls, FakeWebhookStore, Freshness, app, editor_context, editor_id,
        peppers, sealed, vault, webhook_snapshot, workspace,
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
    refused_calls: FakeRefusedCalls,
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
            refused_calls: FakeRefusedCalls::default(),
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
            refused_calls: &self.refused_calls,
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

#[tokio::test]
async fn calls_that_prove_nothing_are_counted_and_not_recorded() {
    let fixture = Fixture::signed();
    for (request, code) in [
        (Request::json("{}"), "bad_signature"),
        (Request::json("{}").signed("another", 60), "bad_signature"),
        (Request::json("{}").signed(SECRET, 6_000), "stale_timestamp"),
        (Request::new("text/plain", "x"), "unsupported_media_type"),
    ] {
        fixture.receive(&request).await.unwrap_err();
        assert_eq!(fixture.refused_calls.take(), [(id(40), code)]);
    }
    assert_eq!(fixture.store.take_refused().len(), 0);
    // Neither is a call of a webhook that does not exist, nor one of the console, nor one that is recorded.
    fixture.receive_at(id(41), &Request::json("{}")).await.unwrap_err();
    fixture.receive(&Request::json("{}").sample()).await.unwrap_err();
    fixture.receive(&Request::json("{").signed(SECRET, 60)).await.unwrap_err();
    assert_eq!(fixture.refused_calls.take(), []);
    assert_eq!(fixture.store.take_refused().len(), 1);
}
