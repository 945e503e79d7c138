//! Webhooks on the wire, without their secrets.

use application::{Problem, Tx};
use chrono::{DateTime, Utc};
use kernel::{
    authority::AppAccess,
    id::{AutomationId, DeliveryId, HookId, RunId},
};
use runs::{
    Webhook,
    webhooks::{Delivery, DeliveryOutcome, ProofMode, RefusedCalls},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::form::FormView;
use crate::{
    http::{conditional::Representation, schemas},
    state::Api,
};

/// The settings of a webhook.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Webhook)]
pub(crate) struct WebhookView {
    id: HookId,
    automation_id: AutomationId,
    /// URL for calls.
    address: String,
    #[schema(value_type = schemas::runs::ProofMode)]
    mode: ProofMode,
    /// Prefix, ellipsis and last four characters of the secret.
    #[schema(required)]
    hint: Option<String>,
    enabled: bool,
    /// Maximum number of calls per minute.
    #[schema(minimum = 1, maximum = 600)]
    per_minute: u16,
    /// Settings of a public form; null in other modes.
    #[schema(required)]
    form: Option<FormView>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    updated_at: DateTime<Utc>,
}

/// Members of a webhook's responses beside its settings: its tag is that of the settings alone.
pub(super) const COMPUTED: &[&str] = &["deliveries", "refused", "secret"];

impl Representation for WebhookView {
    const COMPUTED: &'static [&'static str] = COMPUTED;
}

impl WebhookView {
    /// Returns the webhook of an automation, both locked until the transaction ends; `None` if it has none.
    ///
    /// # Errors
    /// 404 `automation_not_found` if the automation was deleted; a [`Problem`] if the store fails.
    pub(super) async fn locked(
        tx: &mut dyn Tx,
        api: &Api,
        access: &AppAccess,
        automation: AutomationId,
    ) -> Result<Option<Self>, Problem> {
        let workspace = access.member().workspace();
        // The order of every writer: automation, then webhook.
        let found = tx.automation_for_update(workspace, automation).await?;
        if found.is_none_or(|found| found.app != access.app()) {
            return Err(Problem::not_found("automation"));
        }
        let webhook = tx.webhook_for_update(workspace, automation).await?;
        Ok(webhook.map(|webhook| Self::of(api, &webhook)))
    }

    pub(super) fn of(api: &Api, webhook: &Webhook) -> Self {
        Self {
            id: webhook.id,
            automation_id: webhook.automation,
            address: format!("{}/v1/hooks/{}", api.settings().public_url, webhook.id),
            mode: webhook.proof.mode(),
            hint: webhook.proof.hint().map(str::to_owned),
            enabled: webhook.is_enabled,
            per_minute: webhook.per_minute,
            form: webhook.proof.form().map(FormView::from),
            created_at: webhook.created_at,
            updated_at: webhook.updated_at,
        }
    }
}

/// Calls that proved nothing.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RefusedCalls)]
pub(crate) struct RefusedCallsView {
    /// Number of the calls.
    #[schema(minimum = 1)]
    calls: u64,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    last_at: DateTime<Utc>,
    /// Code of the last refusal: `bad_signature`, `bad_token`, `stale_timestamp`, `too_large` or `unsupported_media_type`.
    #[schema(example = "bad_signature")]
    code: String,
}

impl From<RefusedCalls> for RefusedCallsView {
    fn from(RefusedCalls { calls, last_at, code }: RefusedCalls) -> Self {
        Self { calls, last_at, code }
    }
}

/// Outcome of a call.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DeliveryStatus {
    /// The call started a run.
    Accepted,
    /// The call had a valid proof but was refused.
    Refused,
}

/// A call of a webhook.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Delivery)]
pub(crate) struct DeliveryView {
    id: DeliveryId,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    received_at: DateTime<Utc>,
    status: DeliveryStatus,
    /// Run that the call started.
    #[schema(required)]
    run_id: Option<RunId>,
    /// Code of the refusal; `honeypot` if a program filled in the hidden field of a form.
    #[schema(required)]
    code: Option<String>,
    /// Length of the body in bytes.
    bytes: u32,
    /// `true` if it was a test from the console.
    sample: bool,
}

impl From<Delivery> for DeliveryView {
    fn from(delivery: Delivery) -> Self {
        let (status, run_id, code) = match delivery.outcome {
            DeliveryOutcome::Accepted(run) => (DeliveryStatus::Accepted, Some(run), None),
            DeliveryOutcome::Refused(code) => (DeliveryStatus::Refused, None, Some(code)),
        };
        Self {
            id: delivery.id,
            received_at: delivery.received_at,
            status,
            run_id,
            code,
            bytes: delivery.bytes,
            sample: delivery.is_sample,
        }
    }
}
