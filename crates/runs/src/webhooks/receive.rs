//! Receiving a call: every check of the specification, in an order that tells a stranger nothing.
//! See `docs/decisions/0004-idempotency-keys-before-replay-protection.md`.

use std::{net::IpAddr, sync::Arc, time::Duration};

use async_trait::async_trait;
use chrono::TimeDelta;
use http::{HeaderMap, HeaderValue, header::CONTENT_TYPE};
use kernel::{
    Context, Timestamp,
    id::{DeliveryId, HookId, RunId},
    token::Peppers,
    vault::Vault,
};
use secrecy::SecretString;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::{
    AcceptCall, AcceptOutcome, DedupKey, NewDeadLetter, Proof, RateLimitExceeded, RefusedDelivery,
    SealedSecret, Webhook, WebhookRefusal, WebhookSnapshot, WebhookStore, body, form, proof,
};
use crate::AutomationStatus;

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
#[async_trait]
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

/// What a call proved, and by what it is known again.
#[derive(Default)]
struct VerifiedProof {
    signature: Option<proof::VerifiedSignature>,
    delivery_id: Option<String>,
}

/// What a call is to lead to, as far as the webhook's state tells.
enum CallDecision {
    /// A run, unless an earlier call is the same.
    Start(AcceptCall),
    /// The answer to an earlier call that is the same; where there is none, this refusal.
    Refuse(AcceptCall, WebhookRefusal),
    /// Nothing: a program filled a form's hidden field, and is answered as usual.
    HoneypotHit,
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
                    return Err(self.record_refusal(ctx, call, media_type, state.as_deref(), refusal).await);
                }
                (Ok(CallDecision::Refuse(..) | CallDecision::HoneypotHit) | Err(_), _) => (None, None),
            };
            if let Some(acceptance) = accept_call {
                let (run, delivery) = (acceptance.run, acceptance.delivery);
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
                    return Err(self.record_refusal(ctx, call, media_type, state.as_deref(), refusal).await);
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

    /// What the call is to lead to. What keeps the webhook from starting anything is told after the call's keys were
    /// read: a call that was accepted before is no less a repeat of it.
    fn decide(
        &self,
        ctx: &Context,
        call: WebhookCall<'_>,
        media_type: body::MediaType,
        state: &Arc<WebhookSnapshot>,
        counted: &mut bool,
    ) -> Result<CallDecision, WebhookRefusal> {
        let webhook = &state.webhook;
        let form = webhook.proof.form();
        if form.is_some() && call.body.len() > form::MAX_BODY {
            return Err(WebhookRefusal::TooLarge { limit_kib: form::MAX_BODY >> 10 });
        }
        let verified = self.verify_proof(state, call, ctx.now)?;
        // First, since every refusal below leaves a row. A second decision about the same call takes nothing more.
        if !std::mem::replace(counted, true) {
            if form.is_some() && !call.is_sample {
                self.rate_limiter
                    .check_submission(webhook.id, ctx.client_ip, form::PER_MINUTE_PER_ADDRESS)
                    .map_err(WebhookRefusal::RateLimited)?;
            }
            self.rate_limiter
                .check_call(webhook.id, webhook.per_minute)
                .map_err(WebhookRefusal::RateLimited)?;
        }
        if let Some(form) = form {
            form.check_origin(call.headers)?;
        }
        let read = || -> Result<_, WebhookRefusal> {
            let input = body::parse(media_type, call.body)?;
            let is_honeypot_hit =
                form.map(|form| form.is_honeypot_hit(&input)).transpose()?.unwrap_or_default();
            let key = proof::idempotency_key(call.headers)?;
            let keys = dedup_keys(key, &verified, webhook, &input, ctx.now);
            Ok((input, is_honeypot_hit && !call.is_sample, keys))
        };
        let start_refusal = find_start_refusal(state);
        let (input, is_honeypot_hit, keys) = match (read(), &start_refusal) {
            (Ok(read), _) => read,
            (Err(refusal), None) => return Err(refusal),
            // What cannot be read repeats nothing.
            (Err(refusal), Some(_)) => return Err(start_refusal.unwrap_or(refusal)),
        };
        if is_honeypot_hit {
            return start_refusal.map_or(Ok(CallDecision::HoneypotHit), Err);
        }
        let acceptance = AcceptCall {
            hook: webhook.id,
            revisions: state.revisions,
            workspace: webhook.workspace,
            automation: webhook.automation,
            app: state.app,
            trigger: state.trigger,
            run: ctx.new_id(),
            delivery: ctx.new_id(),
            keys,
            // Two tests in one second are two tests.
            signature: verified
                .signature
                .filter(|_| !call.is_sample)
                .map(|signed| signature_key(&signed, ctx.now)),
            input,
            bytes: u32::try_from(call.body.len()).unwrap_or(u32::MAX),
            is_sample: call.is_sample,
            at: ctx.now,
            max_concurrency: state.max_concurrency,
            runs_per_month: state.runs_per_month,
            audit: call.is_sample.then(|| webhook.test_audit(ctx)),
            may_start: start_refusal.is_none(),
        };
        Ok(match start_refusal {
            None => CallDecision::Start(acceptance),
            Some(obstacle) => CallDecision::Refuse(acceptance, obstacle),
        })
    }

    /// Sends a sample through the webhook as its sender would: signed with its secret, where that is kept.
    ///
    /// # Errors
    /// As [`WebhookReceiver::receive`].
    pub async fn send_sample(
        &self,
        ctx: &Context,
        hook: HookId,
        body: &[u8],
    ) -> Result<AcceptedCall, WebhookRefusal> {
        let state = self.store.webhook_snapshot(hook, true).await?.ok_or(WebhookRefusal::NotFound)?;
        let mut headers =
            HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let proof = match &state.webhook.proof {
            Proof::Signed(secret) => {
                let time = ctx.now.timestamp().to_string();
                let value = proof::signature_header(self.open_secret(&state, secret)?, &time, body);
                Some((proof::SIGNATURE_HEADER, value))
            }
            Proof::CodeHost(secret) => {
                let value = proof::hub_signature_header(self.open_secret(&state, secret)?, body);
                Some((proof::HUB_SIGNATURE_HEADER, value))
            }
            Proof::Token(_) | Proof::Messenger(_) | Proof::Form(_) | Proof::None => None,
        };
        if let Some((name, value)) = proof {
            headers.insert(name, HeaderValue::try_from(value).map_err(|_| WebhookRefusal::SecretUnreadable)?);
        }
        self.receive(ctx, WebhookCall { hook, headers: &headers, body, is_sample: true }).await
    }

    fn verify_proof(
        &self,
        state: &WebhookSnapshot,
        call: WebhookCall<'_>,
        now: Timestamp,
    ) -> Result<VerifiedProof, WebhookRefusal> {
        match &state.webhook.proof {
            Proof::Signed(secret) => {
                let secret = self.open_secret(state, secret)?;
                let signed = proof::verify_signature(secret, call.headers, call.body, now)?;
                Ok(VerifiedProof { signature: Some(signed), delivery_id: None })
            }
            Proof::CodeHost(secret) => {
                proof::verify_hub_signature(self.open_secret(state, secret)?, call.headers, call.body)?;
                Ok(VerifiedProof {
                    signature: None,
                    delivery_id: proof::delivery_id(call.headers).map(str::to_owned),
                })
            }
            // Only their digest is kept: a test has no token to show.
            Proof::Token(_) | Proof::Messenger(_) if call.is_sample => Ok(VerifiedProof::default()),
            Proof::Token(token) => {
                proof::verify_token(self.peppers, token, call.headers, &[proof::TOKEN_HEADER])?;
                Ok(VerifiedProof::default())
            }
            Proof::Messenger(token) => {
                proof::verify_token(self.peppers, token, call.headers, &proof::BOT_TOKEN_HEADERS)?;
                Ok(VerifiedProof::default())
            }
            Proof::Form(_) | Proof::None => Ok(VerifiedProof::default()),
        }
    }

    fn open_secret<'s>(
        &self,
        state: &'s WebhookSnapshot,
        secret: &SealedSecret,
    ) -> Result<&'s SecretString, WebhookRefusal> {
        state.secret_cache.get_or_open(|| {
            let owner = Webhook::secret_owner(state.webhook.workspace, state.webhook.id);
            let owner: Vec<&str> = owner.iter().map(String::as_str).collect();
            self.vault.open(&owner, &secret.sealed).map_err(|_| WebhookRefusal::SecretUnreadable)
        })
    }

    /// Notes a refusal where it is worth a row; hands it on.
    async fn record_refusal(
        &self,
        ctx: &Context,
        call: WebhookCall<'_>,
        media_type: body::MediaType,
        state: Option<&WebhookSnapshot>,
        refusal: WebhookRefusal,
    ) -> WebhookRefusal {
        let (Some(code), Some(state)) = (refusal.delivery_code(), state) else { return refusal };
        let mut refused = self.refused_delivery(ctx, call, state, code);
        if refusal.is_replayable() && !call.is_sample {
            refused.dead_letter = self.new_dead_letter(ctx, call, media_type, state, &refusal);
        }
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

    /// What is kept of a call that could not run; nothing when it could not be read either, or a program sent it.
    fn new_dead_letter(
        &self,
        ctx: &Context,
        call: WebhookCall<'_>,
        media_type: body::MediaType,
        state: &WebhookSnapshot,
        refusal: &WebhookRefusal,
    ) -> Option<NewDeadLetter> {
        let webhook = &state.webhook;
        let proven = self.verify_proof(state, call, ctx.now).ok()?;
        let input = body::parse(media_type, call.body).ok()?;
        if webhook.proof.form().is_some_and(|form| form.is_honeypot_hit(&input).unwrap_or(true)) {
            return None;
        }
        let key = proof::idempotency_key(call.headers).ok()?;
        let keys = dedup_keys(key, &proven, webhook, &input, ctx.now);
        let signature = proven.signature.map(|signed| signature_key(&signed, ctx.now));
        Some(NewDeadLetter {
            automation: webhook.automation,
            app: state.app,
            trigger: state.trigger,
            message: refusal.display_message().to_owned(),
            digest: keys.first().or(signature.as_ref()).map(|key| key.digest),
            input,
        })
    }
}

/// What keeps a webhook from starting anything.
fn find_start_refusal(state: &WebhookSnapshot) -> Option<WebhookRefusal> {
    if !state.webhook.is_enabled {
        Some(WebhookRefusal::Disabled)
    } else if state.automation_status != AutomationStatus::Active {
        Some(WebhookRefusal::AutomationPaused)
    } else if !state.is_app_runnable {
        Some(WebhookRefusal::NotRunnable)
    } else if !state.declares_trigger {
        Some(WebhookRefusal::TriggerNotDeclared)
    } else {
        None
    }
}

/// What makes a later call the same; a caller's own key comes first.
fn dedup_keys(
    idempotency_key: Option<&str>,
    proven: &VerifiedProof,
    webhook: &Webhook,
    input: &RawValue,
    now: Timestamp,
) -> Vec<DedupKey> {
    let key = |kind: &[u8], key: &[u8]| DedupKey {
        digest: dedup_digest(kind, key),
        expires_at: now + KEY_LIFETIME,
    };
    let mut keys = Vec::new();
    if let Some(own) = idempotency_key {
        keys.push(key(b"key\0", own.as_bytes()));
    }
    if let Some(id) = &proven.delivery_id {
        keys.push(key(b"delivery\0", id.as_bytes()));
    }
    if matches!(webhook.proof, Proof::Messenger(_))
        && let Some(id) = proof::update_id(input)
    {
        keys.push(key(b"update\0", &id.to_be_bytes()));
    }
    keys
}

/// A store that keeps keys in their order has those of one time side by side, and none of yesterday's between.
fn signature_key(signed: &proof::VerifiedSignature, now: Timestamp) -> DedupKey {
    let mut digest = dedup_digest(b"signature\0", &signed.mac);
    digest[..8].copy_from_slice(&signed.signed_at.timestamp().to_be_bytes());
    DedupKey { digest, expires_at: now + SIGNATURE_LIFETIME }
}

/// Different kinds never collide.
fn dedup_digest(kind: &[u8], key: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(kind).chain_update(key).finalize().into()
}
