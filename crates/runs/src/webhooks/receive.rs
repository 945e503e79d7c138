//! Receiving a call: every check of the specification, in an order that tells a stranger nothing.

mod decide;
mod dedup;
mod verify_proof;

use std::{net::IpAddr, time::Duration};

use chrono::TimeDelta;
use http::HeaderMap;
use kernel::{
    Context,
    id::{DeliveryId, HookId, RunId},
    token::Peppers,
    vault::Vault,
};

use self::decide::CallDecision;
use super::{
    AcceptOutcome, NewDeadLetter, Proof, RateLimitExceeded, RefusedDelivery, WebhookRefusal, WebhookSnapshot,
    WebhookStore, body,
};

/// How long a key is remembered.
pub const KEY_LIFETIME: TimeDelta = TimeDelta::hours(24);
/// How long a signature is remembered: past the last moment at which it could be accepted again.
pub const SIGNATURE_LIFETIME: TimeDelta = TimeDelta::minutes(11);
/// How often a decision is made anew when the webhook changes meanwhile.
const MAX_DECISION_ATTEMPTS: usize = 4;

/// A call as it came over the wire.
#[derive(Debug, Clone, Copy)]
pub struct WebhookCall<'a> {
    /// The address it was sent to.
    pub hook: HookId,
    /// Its headers.
    pub headers: &'a HeaderMap,
    /// Its body, whole.
    pub body: &'a [u8],
    /// Whether it is a test from the console.
    pub is_sample: bool,
}

/// A call that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedCall {
    /// The run it started, or that an earlier one like it started.
    pub run: RunId,
    /// The call's id, or the earlier one's.
    pub delivery: DeliveryId,
    /// Whether there was an earlier one.
    pub is_duplicate: bool,
    /// What a browser is shown that sent a public form.
    pub form_response: Option<FormResponse>,
}

/// What a browser is shown that sent a public form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormResponse {
    /// A short page.
    Page,
    /// A page of the form's owner, at this https URL.
    Redirect(String),
}

impl FormResponse {
    fn for_proof(proof: &Proof) -> Option<Self> {
        proof.form().map(|form| form.redirect.clone().map_or(Self::Page, Self::Redirect))
    }
}

/// How many calls a webhook takes; only those that proved themselves take from it.
pub trait WebhookRateLimiter: Send + Sync {
    /// Takes one call from the webhook's minute, or tells how long to wait.
    fn check_call(&self, hook: HookId, per_minute: u16) -> Result<(), RateLimitExceeded>;

    /// Takes one submission of a public form from what an address may send it in a minute.
    fn check_submission(
        &self,
        hook: HookId,
        address: Option<IpAddr>,
        per_minute: u16,
    ) -> Result<(), RateLimitExceeded>;
}

/// What receiving needs.
pub struct WebhookReceiver<'a> {
    /// Where webhooks are looked up and calls accepted.
    pub store: &'a dyn WebhookStore,
    /// How many calls a webhook takes.
    pub rate_limiter: &'a dyn WebhookRateLimiter,
    /// What opens the webhooks' secrets.
    pub vault: &'a Vault,
    /// What the webhooks' token digests are made with.
    pub peppers: &'a Peppers,
}

impl WebhookReceiver<'_> {
    /// Receives a call.
    ///
    /// # Errors
    /// As the specification's answer table says.
    pub async fn receive(
        &self,
        ctx: &Context,
        call: WebhookCall<'_>,
    ) -> Result<AcceptedCall, WebhookRefusal> {
        if call.body.len() > body::MAX_BODY {
            return Err(WebhookRefusal::TooLarge { limit_kib: body::MAX_BODY >> 10 });
        }
        let media_type = body::media_type(call.headers, call.body)?;
        let mut state = self.store.webhook_snapshot(call.hook, false).await?;
        // A secret may have been rotated on another node: no refusal rests on a state that may be a moment old.
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
                (Ok(CallDecision::Start(acceptance)), _) => (Some(acceptance), None),
                (Ok(CallDecision::Refuse(acceptance, refusal)), _) if is_fresh => {
                    (Some(acceptance), Some(refusal))
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
            if let Some(acceptance) = accept_call {
                let (run, delivery) = (acceptance.run, acceptance.delivery);
                let digest = acceptance.all_dedup_keys().next().map(|key| key.digest);
                let refusal = match self.store.accept(acceptance).await? {
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
            audit: call.is_sample.then(|| state.webhook.test_audit(ctx)),
            dead_letter: None,
        }
    }
}

/// Returns the dead letter of a call that was read and could not start a run, if it is kept. `digest` is that of its first
/// key, else of its signature.
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
    Some(NewDeadLetter {
        automation: state.webhook.automation,
        app: state.app,
        trigger: state.trigger,
        message: refusal.display_message().to_owned(),
        digest,
        // Parsed again, because the store took the first input: keeping a copy would cost every accepted call.
        input: body::parse(media_type, call.body).ok()?,
    })
}

#[cfg(test)]
mod tests;
