//! Receiving a call: every check of the specification, in an order that tells a stranger nothing.

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
    Acceptance, DedupKey, HookDesk, HookRefusal, HookState, KeptCall, Proof, RefusedDelivery, SealedSecret,
    UsedUp, Verdict, Webhook, body, form, proof,
};
use crate::AutomationStatus;

/// How long a key is remembered.
pub const KEY_LIFETIME: TimeDelta = TimeDelta::hours(24);
/// How long a signature is remembered: past the last moment at which it could be accepted again.
pub const SIGNATURE_LIFETIME: TimeDelta = TimeDelta::minutes(11);
/// How often a decision is made anew when the webhook changes meanwhile.
const MAX_DECISIONS: usize = 4;

/// A call as it came over the wire.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The address it was sent to.
    pub hook: HookId,
    /// Its headers.
    pub headers: &'a HeaderMap,
    /// Its body, whole.
    pub body: &'a [u8],
    /// Whether it is a test from the console.
    pub sample: bool,
}

/// A call that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The run it started, or that an earlier one like it started.
    pub run: RunId,
    /// The call's id, or the earlier one's.
    pub delivery: DeliveryId,
    /// Whether there was an earlier one.
    pub repeated: bool,
    /// What a browser is shown that sent a public form.
    pub thanks: Option<Thanks>,
}

/// What a browser is shown that sent a public form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thanks {
    /// A short page.
    Page,
    /// A page of the form's owner, at this https URL.
    Redirect(String),
}

impl Thanks {
    fn of(proof: &Proof) -> Option<Self> {
        proof.form().map(|form| form.redirect.clone().map_or(Self::Page, Self::Redirect))
    }
}

/// How many calls a webhook takes; only those that proved themselves take from it.
#[async_trait]
pub trait HookLimits: Send + Sync {
    /// Takes one call from the webhook's minute, or tells how long to wait.
    fn take(&self, hook: HookId, per_minute: u16) -> Result<(), UsedUp>;

    /// Takes one submission of a public form from what an address may send it in a minute.
    fn take_submission(&self, hook: HookId, address: Option<IpAddr>, per_minute: u16) -> Result<(), UsedUp>;
}

/// What receiving needs.
pub struct Receiver<'a> {
    /// Where webhooks are looked up and calls accepted.
    pub desk: &'a dyn HookDesk,
    /// How many calls a webhook takes.
    pub limits: &'a dyn HookLimits,
    /// What opens the webhooks' secrets.
    pub vault: &'a Vault,
    /// What the webhooks' token digests are made with.
    pub peppers: &'a Peppers,
}

/// What a call proved, and by what it is known again.
#[derive(Default)]
struct Proven {
    signature: Option<proof::Signed>,
    delivery: Option<String>,
}

/// What a call is to lead to, as far as the webhook's state tells.
enum Decision {
    /// A run, unless an earlier call is the same.
    Start(Acceptance),
    /// The answer to an earlier call that is the same; where there is none, this refusal.
    Refuse(Acceptance, HookRefusal),
    /// Nothing: a program filled a form's hidden field, and is answered as usual.
    Nothing,
}

impl Receiver<'_> {
    /// Receives a call.
    ///
    /// # Errors
    /// As the specification's answer table says.
    pub async fn receive(&self, ctx: &Context, call: Call<'_>) -> Result<Accepted, HookRefusal> {
        if call.body.len() > body::MAX_BODY {
            return Err(HookRefusal::TooLarge { limit_kib: body::MAX_BODY >> 10 });
        }
        let media_type = body::media_type(call.headers, call.body)?;
        let mut state = self.desk.hook(call.hook, false).await?;
        // A secret may have been rotated on another node: no refusal rests on a state that may be a moment old.
        let mut fresh = false;
        let mut counted = false;
        for _ in 0..MAX_DECISIONS {
            let decision = match &state {
                Some(state) => self.decide(ctx, call, media_type, state, &mut counted),
                None => Err(HookRefusal::NotFound),
            };
            let thanks = || state.as_ref().and_then(|state| Thanks::of(&state.webhook.proof));
            let (acceptance, otherwise) = match (decision, &state) {
                (Ok(Decision::Start(acceptance)), _) => (Some(acceptance), None),
                (Ok(Decision::Refuse(acceptance, refusal)), _) if fresh => (Some(acceptance), Some(refusal)),
                (Ok(Decision::Nothing), Some(state)) if fresh => {
                    let refused = self.refused(ctx, call, state, "honeypot");
                    let accepted =
                        Accepted { run: ctx.id(), delivery: refused.id, repeated: false, thanks: thanks() };
                    self.desk.note_refusal(refused).await?;
                    return Ok(accepted);
                }
                (Err(refusal), state) if fresh || matches!(refusal, HookRefusal::RateLimited(_)) => {
                    return Err(self.note(ctx, call, media_type, state.as_deref(), refusal).await);
                }
                (Ok(Decision::Refuse(..) | Decision::Nothing) | Err(_), _) => (None, None),
            };
            if let Some(acceptance) = acceptance {
                let (run, delivery) = (acceptance.run, acceptance.delivery);
                let refusal = match self.desk.accept(acceptance).await? {
                    Verdict::Accepted => {
                        return Ok(Accepted { run, delivery, repeated: false, thanks: thanks() });
                    }
                    Verdict::Repeated { run, delivery } => {
                        return Ok(Accepted { run, delivery, repeated: true, thanks: thanks() });
                    }
                    Verdict::Replayed => Some(HookRefusal::Replayed),
                    Verdict::QuotaReached => Some(HookRefusal::QuotaReached),
                    Verdict::New => otherwise,
                    Verdict::Stale => None,
                };
                if let Some(refusal) = refusal {
                    return Err(self.note(ctx, call, media_type, state.as_deref(), refusal).await);
                }
            }
            state = self.desk.hook(call.hook, true).await?;
            fresh = true;
        }
        Err(HookRefusal::RateLimited(UsedUp { wait: Duration::from_secs(1), limit: None }))
    }

    /// What the call is to lead to. What keeps the webhook from starting anything is told after the call's keys were
    /// read: a call that was accepted before is no less a repeat of it.
    fn decide(
        &self,
        ctx: &Context,
        call: Call<'_>,
        media_type: body::MediaType,
        state: &Arc<HookState>,
        counted: &mut bool,
    ) -> Result<Decision, HookRefusal> {
        let webhook = &state.webhook;
        let form = webhook.proof.form();
        if form.is_some() && call.body.len() > form::MAX_BODY {
            return Err(HookRefusal::TooLarge { limit_kib: form::MAX_BODY >> 10 });
        }
        let proven = self.prove(state, call, ctx.now)?;
        // First, since every refusal below leaves a row. A second decision about the same call takes nothing more.
        if !std::mem::replace(counted, true) {
            if form.is_some() && !call.sample {
                self.limits
                    .take_submission(webhook.id, ctx.address, form::PER_ADDRESS)
                    .map_err(HookRefusal::RateLimited)?;
            }
            self.limits.take(webhook.id, webhook.per_minute).map_err(HookRefusal::RateLimited)?;
        }
        if let Some(form) = form {
            form.check_origin(call.headers)?;
        }
        let read = || -> Result<_, HookRefusal> {
            let input = body::parse(media_type, call.body)?;
            let trapped = form.map(|form| form.is_trapped(&input)).transpose()?.unwrap_or_default();
            let key = proof::idempotency_key(call.headers)?;
            let keys = dedup_keys(key, &proven, webhook, &input, ctx.now);
            Ok((input, trapped && !call.sample, keys))
        };
        let obstacle = obstacle(state);
        let (input, trapped, keys) = match (read(), &obstacle) {
            (Ok(read), _) => read,
            (Err(refusal), None) => return Err(refusal),
            // What cannot be read repeats nothing.
            (Err(refusal), Some(_)) => return Err(obstacle.unwrap_or(refusal)),
        };
        if trapped {
            return obstacle.map_or(Ok(Decision::Nothing), Err);
        }
        let acceptance = Acceptance {
            hook: webhook.id,
            stamp: state.stamp,
            workspace: webhook.workspace,
            automation: webhook.automation,
            app: state.app,
            trigger: state.trigger,
            run: ctx.id(),
            delivery: ctx.id(),
            keys,
            // Two tests in one second are two tests.
            signature: proven
                .signature
                .filter(|_| !call.sample)
                .map(|signed| signature_key(&signed, ctx.now)),
            input,
            bytes: u32::try_from(call.body.len()).unwrap_or(u32::MAX),
            sample: call.sample,
            at: ctx.now,
            max_concurrency: state.max_concurrency,
            runs_per_month: state.runs_per_month,
            audit: call.sample.then(|| webhook.test_audit(ctx)),
            may_start: obstacle.is_none(),
        };
        Ok(match obstacle {
            None => Decision::Start(acceptance),
            Some(obstacle) => Decision::Refuse(acceptance, obstacle),
        })
    }

    /// Sends a sample through the webhook as its sender would: signed with its secret, where that is kept.
    ///
    /// # Errors
    /// As [`Receiver::receive`].
    pub async fn test(&self, ctx: &Context, hook: HookId, body: &[u8]) -> Result<Accepted, HookRefusal> {
        let state = self.desk.hook(hook, true).await?.ok_or(HookRefusal::NotFound)?;
        let mut headers =
            HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let proof = match &state.webhook.proof {
            Proof::Signed(secret) => {
                let time = ctx.now.timestamp().to_string();
                let value = proof::signature_header(self.open(&state, secret)?, &time, body);
                Some((proof::SIGNATURE_HEADER, value))
            }
            Proof::CodeHost(secret) => {
                let value = proof::hub_signature_header(self.open(&state, secret)?, body);
                Some((proof::HUB_SIGNATURE_HEADER, value))
            }
            Proof::Token(_) | Proof::Messenger(_) | Proof::Form(_) | Proof::None => None,
        };
        if let Some((name, value)) = proof {
            headers.insert(name, HeaderValue::try_from(value).map_err(|_| HookRefusal::Unreadable)?);
        }
        self.receive(ctx, Call { hook, headers: &headers, body, sample: true }).await
    }

    fn prove(&self, state: &HookState, call: Call<'_>, now: Timestamp) -> Result<Proven, HookRefusal> {
        match &state.webhook.proof {
            Proof::Signed(secret) => {
                let secret = self.open(state, secret)?;
                let signed = proof::check_signed(secret, call.headers, call.body, now)?;
                Ok(Proven { signature: Some(signed), delivery: None })
            }
            Proof::CodeHost(secret) => {
                proof::check_code_host(self.open(state, secret)?, call.headers, call.body)?;
                Ok(Proven { signature: None, delivery: proof::delivery_id(call.headers).map(str::to_owned) })
            }
            // Only their digest is kept: a test has no token to show.
            Proof::Token(_) | Proof::Messenger(_) if call.sample => Ok(Proven::default()),
            Proof::Token(token) => {
                proof::check_token(self.peppers, token, call.headers, &[proof::TOKEN_HEADER])?;
                Ok(Proven::default())
            }
            Proof::Messenger(token) => {
                proof::check_token(self.peppers, token, call.headers, &proof::BOT_TOKEN_HEADERS)?;
                Ok(Proven::default())
            }
            Proof::Form(_) | Proof::None => Ok(Proven::default()),
        }
    }

    fn open<'s>(&self, state: &'s HookState, secret: &SealedSecret) -> Result<&'s SecretString, HookRefusal> {
        state.opened.get(|| {
            let owner = Webhook::secret_owner(state.webhook.workspace, state.webhook.id);
            let owner: Vec<&str> = owner.iter().map(String::as_str).collect();
            self.vault.open(&owner, &secret.sealed).map_err(|_| HookRefusal::Unreadable)
        })
    }

    /// Notes a refusal where it is worth a row; hands it on.
    async fn note(
        &self,
        ctx: &Context,
        call: Call<'_>,
        media_type: body::MediaType,
        state: Option<&HookState>,
        refusal: HookRefusal,
    ) -> HookRefusal {
        let (Some(code), Some(state)) = (refusal.delivery_code(), state) else { return refusal };
        let mut refused = self.refused(ctx, call, state, code);
        if refusal.is_worth_keeping() && !call.sample {
            refused.kept = self.keep(ctx, call, media_type, state, &refusal);
        }
        match self.desk.note_refusal(refused).await {
            Ok(()) => refusal,
            Err(error) => error.into(),
        }
    }

    fn refused(
        &self,
        ctx: &Context,
        call: Call<'_>,
        state: &HookState,
        code: &'static str,
    ) -> RefusedDelivery {
        RefusedDelivery {
            id: ctx.id(),
            hook: state.webhook.id,
            workspace: state.webhook.workspace,
            automation: state.webhook.automation,
            app: state.app,
            code,
            bytes: u32::try_from(call.body.len()).unwrap_or(u32::MAX),
            at: ctx.now,
            sample: call.sample,
            audit: call.sample.then(|| state.webhook.test_audit(ctx)),
            kept: None,
        }
    }

    /// What is kept of a call that could not run; nothing when it could not be read either, or a program sent it.
    fn keep(
        &self,
        ctx: &Context,
        call: Call<'_>,
        media_type: body::MediaType,
        state: &HookState,
        refusal: &HookRefusal,
    ) -> Option<KeptCall> {
        let webhook = &state.webhook;
        let proven = self.prove(state, call, ctx.now).ok()?;
        let input = body::parse(media_type, call.body).ok()?;
        if webhook.proof.form().is_some_and(|form| form.is_trapped(&input).unwrap_or(true)) {
            return None;
        }
        let key = proof::idempotency_key(call.headers).ok()?;
        let keys = dedup_keys(key, &proven, webhook, &input, ctx.now);
        let signature = proven.signature.map(|signed| signature_key(&signed, ctx.now));
        Some(KeptCall {
            automation: webhook.automation,
            app: state.app,
            trigger: state.trigger,
            message: refusal.for_people().to_owned(),
            digest: keys.first().or(signature.as_ref()).map(|key| key.digest),
            input,
        })
    }
}

/// What keeps a webhook from starting anything.
fn obstacle(state: &HookState) -> Option<HookRefusal> {
    if !state.webhook.enabled {
        Some(HookRefusal::Disabled)
    } else if state.automation_status != AutomationStatus::Active {
        Some(HookRefusal::AutomationPaused)
    } else if !state.app_is_runnable {
        Some(HookRefusal::NotRunnable)
    } else if !state.declares_trigger {
        Some(HookRefusal::TriggerNotDeclared)
    } else {
        None
    }
}

/// What makes a later call the same; a caller's own key comes first.
fn dedup_keys(
    idempotency_key: Option<&str>,
    proven: &Proven,
    webhook: &Webhook,
    input: &RawValue,
    now: Timestamp,
) -> Vec<DedupKey> {
    let key =
        |kind: &[u8], key: &[u8]| DedupKey { digest: digest(kind, key), expires_at: now + KEY_LIFETIME };
    let mut keys = Vec::new();
    if let Some(own) = idempotency_key {
        keys.push(key(b"key\0", own.as_bytes()));
    }
    if let Some(id) = &proven.delivery {
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
fn signature_key(signed: &proof::Signed, now: Timestamp) -> DedupKey {
    let mut digest = digest(b"signature\0", &signed.mac);
    digest[..8].copy_from_slice(&signed.at.timestamp().to_be_bytes());
    DedupKey { digest, expires_at: now + SIGNATURE_LIFETIME }
}

/// Different kinds never collide.
fn digest(kind: &[u8], key: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(kind).chain_update(key).finalize().into()
}
