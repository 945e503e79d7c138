//! Setting a webhook up.

use application::unit;
use axum::{Json, extract::State};
use kernel::{
    authority::{AppRight, CanEdit},
    id::AutomationId,
};
use runs::webhooks::{CredentialKeys, ProofMode, WebhookWithSecret};
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{form::FormChange, view::WebhookView};
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// What the webhook is to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ConfigureWebhook {
    mode: ProofMode,
    /// How many calls a minute it takes; when not said as before, or 60, and 20 for a form.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 600)]
    per_minute: Option<u16>,
    /// What a public form asks; only with the mode `form`.
    #[serde(default)]
    form: Option<FormChange>,
    /// Needed to choose `none`, and to change the mode of a webhook that is set up.
    #[serde(default)]
    confirm: bool,
}

/// A webhook, and its secret where a new one was made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConfiguredWebhook {
    #[serde(flatten)]
    webhook: WebhookView,
    /// The secret or token, which is given only here; null where none was made.
    #[schema(required)]
    secret: Option<String>,
}

impl ConfiguredWebhook {
    pub(super) fn of(api: &Api, configured: &WebhookWithSecret) -> Self {
        Self {
            webhook: WebhookView::of(api, &configured.webhook),
            secret: configured.secret.as_ref().map(|secret| secret.expose_secret().to_owned()),
        }
    }
}

/// Set up an automation's webhook
///
/// The same mode again keeps the secret and answers with `secret: null`; `rotate` makes a new one.
#[utoipa::path(put, path = "/v1/automations/{id}/webhook", tag = "webhooks", params(("id" = kernel::id::AutomationId, Path, description = "The automation.")), request_body(content = ConfigureWebhook, examples(
    ("token" = (summary = "Senders show a token", value = json!({"mode": "token", "perMinute": 120, "confirm": true}))),
    ("form" = (summary = "A public form", value = json!({"mode": "form", "confirm": true, "form": {"allowedSites": ["https://www.example.com"], "redirect": "https://www.example.com/thanks"}})))
)), responses((status = 200, body = ConfiguredWebhook)))]
pub(crate) async fn configure_webhook(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<Console, (AutomationId, AppRight<CanEdit>)>,
    payload: Payload,
) -> ApiResult<Json<ConfiguredWebhook>> {
    let input: ConfigureWebhook = payload.json()?;
    let keys = CredentialKeys { vault: api.vault(), peppers: api.peppers() };
    let input = runs::webhooks::ConfigureWebhook {
        mode: input.mode,
        per_minute: input.per_minute,
        form: input.form.map(Into::into),
        confirm: input.confirm,
    };
    let configured = api
        .transaction(unit!(
            |tx| runs::webhooks::configure_webhook(tx, &ctx, &right, keys, id, input.clone()).await
        ))
        .await?;
    Ok(Json(ConfiguredWebhook::of(&api, &configured)))
}
