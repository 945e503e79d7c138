//! A webhook as it stands on the wire; never its secret.

use chrono::{DateTime, Utc};
use kernel::id::{AutomationId, DeliveryId, HookId, RunId};
use runs::{
    Webhook,
    webhooks::{Delivery, DeliveryOutcome, ProofMode},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::form::FormView;
use crate::state::Api;

/// The settings of a webhook.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Webhook)]
pub(crate) struct WebhookView {
    id: HookId,
    automation_id: AutomationId,
    /// Where calls are sent.
    address: String,
    mode: ProofMode,
    /// A prefix, an ellipsis and the last four characters of the secret.
    #[schema(required)]
    hint: Option<String>,
    enabled: bool,
    /// How many calls a minute it takes.
    #[schema(minimum = 1, maximum = 600)]
    per_minute: u16,
    /// What a public form asks; null in the other modes.
    #[schema(required)]
    form: Option<FormView>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    updated_at: DateTime<Utc>,
}

impl WebhookView {
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

/// What became of a call.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DeliveryStatus {
    /// It started a run.
    Accepted,
    /// It proved itself and was refused all the same.
    Refused,
}

/// One call of a webhook.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Delivery)]
pub(crate) struct DeliveryView {
    id: DeliveryId,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    received_at: DateTime<Utc>,
    status: DeliveryStatus,
    /// The run it started.
    #[schema(required)]
    run_id: Option<RunId>,
    /// Why it was refused; `honeypot` when a program filled a form's hidden field.
    #[schema(required)]
    code: Option<String>,
    /// How large its body was.
    bytes: u32,
    /// Whether it was a test from the console.
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
