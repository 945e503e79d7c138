//! Receiving a call: every check of the specification, in an order that tells a stranger nothing.
//!
//! Apart from a rate limit, a refusal rests only on the state in the database. When a cached state would refuse a call,
//! the state is read again: another node may have rotated the secret or resumed the automation a moment ago.
//! See `docs/decisions/0004-idempotency-keys-before-replay-protection.md`.

mod decide;
mod dedup;
mod verify_proof;

use std::{net::IpAddr, time::Duration};

use chrono::TimeDelta;
use http::HeaderMap;
use kernel::{
    Context, StoreError,
    id::{DeliveryId, HookId, RunId},
    token::Peppers,
    vault::Vault,
};

use self::decide::CallDecision;
use super::{
    AcceptOutcome, NewDeadLetter, Proof, ProofMode, RateLimitExceeded, RefusedCallCounter, RefusedDelivery,
    WebhookRefusal, WebhookSnapshot, WebhookStore, body,
};

/// Time for which a key is remembered.
pub const KEY_LIFETIME: TimeDelta = TimeDelta::hours(24);
/// Time for which a signature is remembered: longer than it could be accepted again, which is twice
/// [`proof::TOLERANCE`](super::proof::TOLERANCE).
pub const SIGNATURE_LIFETIME: TimeDelta = TimeDelta::minutes(11);
/// Most decisions about one call while the state of the webhook keeps changing.
const MAX_DECISION_ATTEMPTS: usize = 4;

/// A call as it was received.
#[derive(Debug, Clone, Copy)]
pub struct WebhookCall<'a> {
    /// Webhook in the URL.
    pub hook: HookId,
    /// Headers of the request.
    pub headers: &'a HeaderMap,
    /// Complete body.
    pub body: &'a [u8],
    /// True if it is a test from the console.
    pub is_sample: bool,
}

/// Result of a call that was accepted, or that looks so to a program that hit the honeypot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedCall {
    /// Run that the call started; of a duplicate, the run of the original call.
    pub run: RunId,
    /// Id of the call; of a duplicate, that of the original call.
    pub delivery: DeliveryId,
    /// True if an earlier call had the same key.
    pub is_duplicate: bool,
    /// Response to a browser, if the webhook is a public form.
    pub form_response: Option<FormResponse>,
}

/// Response to a browser that submitted a public form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormResponse {
    /// A short page.
    Page,
    /// A redirect to this https URL.
    Redirect(String),
}

impl FormResponse {
    fn for_proof(proof: &Proof) -> Option<Self> {
        proof.form().map(|form| form.redirect.clone().map_or(Self::Page, Self::Redirect))
    }
}

/// Rate limits of webhooks. Only calls with a right proof count.
pub trait WebhookRateLimiter: Send + Sync {
    /// Counts a call against the limit of its webhook.
    ///
    /// # Errors
    /// [`RateLimitExceeded`] when the webhook has used up its `per_minute`.
    fn check_call(&self, hook: HookId, per_minute: u16) -> Result<(), RateLimitExceeded>;

    /// Counts a submission of a public form against the limit of its address.
    ///
    /// # Errors
    /// [`RateLimitExceeded`] when the address has used up its `per_minute` for this form.
    fn check_submission(
        &self,
        hook: HookId,
        address: Option<IpAddr>,
        per_minute: u16,
    ) -> Result<(), RateLimitExceeded>;
}

/// Receives calls of webhooks.
pub struct WebhookReceiver<'a> {
    /// Store of webhooks and accepted calls.
    pub store: &'a dyn WebhookStore,
    /// Rate limits of webhooks.
    pub rate_limiter: &'a dyn WebhookRateLimiter,
    /// Opens the secrets of webhooks.
    pub vault: &'a Vault,
    /// Verifies the tokens of webhooks.
    pub peppers: &'a Peppers,
    /// Counts calls that prove nothing.
    pub refused_calls: &'a dyn RefusedCallCounter,
}

impl WebhookReceiver<'_> {
    /// Checks a call and starts its run, unless an earlier call is the same.
    ///
    /// # Errors
    /// [`WebhookRefusal`] with the reason, which is recorded if [`WebhookRefusal::delivery_code`] says so, and counted if
    /// [`WebhookRefusal::counted_code`] does.
    pub async fn receive(
        &self,
        ctx: &Context,
        call: WebhookCall<'_>,
    ) -> Result<AcceptedCall, WebhookRefusal> {
        let received = self.check_and_accept(ctx, call).await;
        if let Err(refusal) = &received
            && !call.is_sample
        {
            self.count_refusal(ctx, call.hook, refusal).await?;
        }
        received
    }

    /// Counts a refused call, if it is one that is counted and its webhook exists.
    ///
    /// # Errors
    /// [`StoreError`] if the webhook cannot be looked up.
    pub async fn count_refusal(
        &self,
        ctx: &Context,
        hook: HookId,
        refusal: &WebhookRefusal,
    ) -> Result<(), StoreError> {
        let Some(code) = refusal.counted_code() else { return Ok(()) };
        // The cached state is enough: a count is no decision.
        if let Some(state) = self.store.webhook_snapshot(hook, false).await? {
            self.refused_calls.count_refused(hook, state.webhook.workspace, code, ctx.now);
        }
        Ok(())
    }

    async fn check_and_accept(
        &self,
        ctx: &Context,
        call: WebhookCall<'_>,
    ) -> Result<AcceptedCall, WebhookRefusal> {
        if call.body.len() > body::MAX_BODY {
            return Err(WebhookRefusal::TooLarge { limit_kib: body::MAX_BODY >> 10 });
        }
        let media_type = body::media_type(call.headers, call.body)?;
        let mut state = self.store.webhook_snapshot(call.hook, false).await?;
        let mut is_fresh = false;
        let mut is_rate_counted = false;
        for _ in 0..MAX_DECISION_ATTEMPTS {
            let decision = match &state {
                Some(state) => self.decide(ctx, call, media_type, state, &mut is_rate_counted),
                None => Err(WebhookRefusal::NotFound),
            };
            let form_response =
                || state.as_ref().and_then(|state| FormResponse::for_proof(&state.webhook.proof));
            let (accept_call, refusal_unless_duplicate) = match (decision, &state) {
                (Ok(CallDecision::Start(accept_call)), _) => (Some(accept_call), None),
                (Ok(CallDecision::Refuse(accept_call, refusal)), _) if is_fresh => {
                    (Some(accept_call), Some(refusal))
                }
                (Ok(CallDecision::HoneypotHit), Some(state)) if is_fresh => {
                    let refused = self.refused_delivery(ctx, call, state, "honeypot");
                    let accepted = AcceptedCall {
                        run: ctx.new_id(),
                        delivery: refused.id,
                        is_duplicate: false,
                        form_response: form_response(),
                    };
                    self.store.record_refusal(refused).await?;
                    return Ok(accepted);
                }
                (Err(refusal), state) if is_fresh || matches!(refusal, WebhookRefusal::RateLimited(_)) => {
                    return Err(self.record_refusal(ctx, call, state.as_deref(), refusal, None).await);
                }
                (Ok(CallDecision::Refuse(..) | CallDecision::HoneypotHit) | Err(_), _) => (None, None),
            };
            if let Some(accept_call) = accept_call {
                let (run, delivery) = (accept_call.run, accept_call.delivery);
                let digest = accept_call.all_dedup_keys().next().map(|key| key.digest);
                let refusal = match self.store.accept(accept_call).await? {
                    AcceptOutcome::Accepted => {
                        return Ok(AcceptedCall {
                            run,
                            delivery,
                            is_duplicate: false,
                            form_response: form_response(),
                        });
                    }
                    AcceptOutcome::Duplicate { run, delivery } => {
                        return Ok(AcceptedCall {
                            run,
                            delivery,
                            is_duplicate: true,
                            form_response: form_response(),
                        });
                    }
                    AcceptOutcome::Replayed => Some(WebhookRefusal::Replayed),
                    AcceptOutcome::QuotaReached => Some(WebhookRefusal::QuotaReached),
                    AcceptOutcome::New => refusal_unless_duplicate,
                    AcceptOutcome::Stale => None,
                };
                if let Some(refusal) = refusal {
                    let state = state.as_deref();
                    let dead_letter =
                        state.and_then(|state| new_dead_letter(call, media_type, state, &refusal, digest));
                    return Err(self.record_refusal(ctx, call, state, refusal, dead_letter).await);
                }
            }
            state = self.store.webhook_snapshot(call.hook, true).await?;
            is_fresh = true;
        }
        Err(WebhookRefusal::RateLimited(RateLimitExceeded {
            retry_after: Duration::from_secs(1),
            limit_per_minute: None,
        }))
    }

    /// Records a refusal that is worth a row, and returns it.
    async fn record_refusal(
        &self,
        ctx: &Context,
        call: WebhookCall<'_>,
        state: Option<&WebhookSnapshot>,
        refusal: WebhookRefusal,
        dead_letter: Option<NewDeadLetter>,
    ) -> WebhookRefusal {
        let (Some(code), Some(state)) = (refusal.delivery_code(), state) else { return refusal };
        let refused = RefusedDelivery { dead_letter, ..self.refused_delivery(ctx, call, state, code) };
        match self.store.record_refusal(refused).await {
            Ok(()) => refusal,
            Err(error) => error.into(),
        }
    }

    /// Returns the record of a refused call, without a dead letter.
    fn refused_delivery(
        &self,
        ctx: &Context,
        call: WebhookCall<'_>,
        state: &WebhookSnapshot,
        code: &'static str,
    ) -> RefusedDelivery {
        RefusedDelivery {
            id: ctx.new_id(),
            hook: state.webhook.id,
            workspace: state.webhook.workspace,
            automation: state.webhook.automation,
            app: state.app,
            code,
            bytes: u32::try_from(call.body.len()).unwrap_or(u32::MAX),
            at: ctx.now,
            is_sample: call.is_sample,
            audit: call.is_sample.then(|| state.webhook.test_audit(ctx, state.app)),
            dead_letter: None,
        }
    }
}

/// Returns the dead letter of a call that was read and could not start a run, if it is kept. `digest` is that of its
/// first key, else of its signature.
fn new_dead_letter(
    call: WebhookCall<'_>,
    media_type: body::MediaType,
    state: &WebhookSnapshot,
    refusal: &WebhookRefusal,
    digest: Option<[u8; 32]>,
) -> Option<NewDeadLetter> {
    if call.is_sample || !refusal.is_replayable() {
        return None;
    }
    let is_from_code_host = state.webhook.proof.mode() == ProofMode::CodeHost;
    Some(NewDeadLetter {
        automation: state.webhook.automation,
        app: state.app,
        trigger: state.trigger,
        message: refusal.display_message().to_owned(),
        digest,
        // Parsed again, because the store took the first input: keeping a copy would cost every accepted call.
        input: body::parse(media_type, call.body, is_from_code_host).ok()?,
    })
}

#[cfg(test)]
mod tests;
