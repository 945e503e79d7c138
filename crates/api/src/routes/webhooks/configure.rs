//! Configuring a webhook.

use application::{Problem, unit};
use axum::extract::State;
use kernel::{
    authority::{AppRight, CanEdit},
    id::AutomationId,
};
use runs::webhooks::{CredentialKeys, ProofMode, WebhookWithSecret};
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    form::FormChange,
    view::{self, WebhookView},
};
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::{IfMatch, Representation, Tagged},
        error::ApiResult,
        extract::Payload,
        schemas,
    },
    state::Api,
};

/// The configuration of a webhook.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ConfigureWebhook {
    #[schema(value_type = schemas::runs::ProofMode)]
    mode: ProofMode,
    /// Maximum number of calls per minute. Default: the current limit; 60 for a new webhook, 20 for a form.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 600)]
    per_minute: Option<u16>,
    /// Settings of a public form; only for the mode `form`.
    #[serde(default)]
    form: Option<FormChange>,
    /// Must be `true` to choose the mode `none`, or to change the mode of an existing webhook.
    #[serde(default)]
    confirm: bool,
}

/// A webhook, with its secret if a new one was issued.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConfiguredWebhook {
    #[serde(flatten)]
    webhook: WebhookView,
    /// Secret or token. It is returned only here; null if no new one was issued.
    #[schema(required)]
    secret: Option<String>,
}

impl Representation for ConfiguredWebhook {
    const COMPUTED: &'static [&'static str] = view::COMPUTED;
}

impl ConfiguredWebhook {
    pub(super) fn of(api: &Api, configured: &WebhookWithSecret) -> Self {
        Self {
            webhook: WebhookView::of(api, &configured.webhook),
            secret: configured.secret.as_ref().map(|secret| secret.expose_secret().to_owned()),
        }
    }
}

/// Configure an automation's webhook
///
/// If the mode does not change, the secret stays and the response has `secret: null`. Use `rotate` to issue a new one.
#[utoipa::path(
    put, path = "/v1/automations/{id}/webhook", tag = "webhooks",
    params(("id" = kernel::id::AutomationId, Path, description = "The automation."), IfMatch),
    request_body(
        content = ConfigureWebhook,
        examples(
            ("token" = (
                summary = "Senders send a token",
                value = json!({"mode": "token", "perMinute": 120, "confirm": true})
            )),
            ("form" = (
                summary = "A public form",
                value = json!({
                    "mode": "form",
                    "confirm": true,
                    "form": {
                        "allowedSites": ["https://www.example.com"],
                        "redirect": "https://www.example.com/thanks"
                    }
                })
            ))
        )
    ),
    responses((status = 200, body = ConfiguredWebhook))
)]
pub(crate) async fn configure_webhook(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<Console, (AutomationId, AppRight<CanEdit>)>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Tagged<ConfiguredWebhook>> {
    let input: ConfigureWebhook = payload.json()?;
    let keys = CredentialKeys { vault: api.vault(), peppers: api.peppers() };
    let input = runs::webhooks::ConfigureWebhook {
        mode: input.mode,
        per_minute: input.per_minute,
        form: input.form.map(Into::into),
        confirm: input.confirm,
    };
    let configured = api
        .transaction(unit!(|tx| {
            if_match.check(WebhookView::locked(tx, &api, &right, id)).await?;
            let configured =
                runs::webhooks::configure_webhook(tx, &ctx, &right, keys, id, input.clone()).await?;
            Ok::<_, Problem>(configured)
        }))
        .await?;
    Ok(Tagged(ConfiguredWebhook::of(&api, &configured)))
}
